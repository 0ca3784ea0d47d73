"""Texts that know what they name, and the same texts without names."""

import copy
import pickle
import re
from datetime import UTC, datetime

import orjson
import pytest
from django.utils import translation
from pytest_django import Settings

from benchweb.catalog.reasons import Reason
from benchweb.documents.document import Document, DocumentSection, DocumentTable, MeasuredValue, Moment, PlacedId, RowId
from benchweb.documents.hidden import LEFT_OUT, hidden, hidden_reason, host_pseudonym, tagged
from benchweb.documents.references import (
    Label,
    environment_ref,
    free_text,
    host_ref,
    joined_label,
    reason_label,
    reason_naming,
    run_ref,
    worded,
)

HOST = host_ref(7, "alpha")


def without_names(cell: object) -> object:
    """Return a cell as a hidden document has it."""
    section = DocumentSection("key", "", tables=[DocumentTable("", ["column"], [[cell]])])  # type: ignore[list-item]
    return hidden(Document("", [], [section], datetime.now(UTC))).tables[0].rows[0][0]


def test_a_pseudonym_is_the_same_every_time_and_another_for_another_host() -> None:
    assert re.fullmatch(r"host-[a-z2-7]{5}", host_pseudonym(1))
    assert (tagged("host", "1"), host_pseudonym(1) == host_pseudonym(2)) == (host_pseudonym(1), False)


def test_a_pseudonym_depends_on_the_secret_key(settings: Settings) -> None:
    before = tagged("address", "192.0.2.1")
    settings.SECRET_KEY = "another-key-of-the-same-length-as-it-should-be"  # pragma: allowlist secret
    assert tagged("address", "192.0.2.1") != before


@pytest.mark.parametrize(
    ("label", "text", "nameless"),
    [
        (HOST, "alpha", host_pseudonym(7)),
        ("from " + HOST + ", now", "from alpha, now", f"from {host_pseudonym(7)}, now"),
        (worded("from %(host)s", host=HOST), "from alpha", f"from {host_pseudonym(7)}"),
        (worded("{host} is away: {why}", host=HOST, why=free_text("gone to alpha")), "alpha is away: gone to alpha",
         f"{host_pseudonym(7)} is away: {LEFT_OUT}"),
        (joined_label(["", environment_ref("lab"), "4 KiB"]), "lab · 4 KiB", f"{tagged('environment', 'lab')} · 4 KiB"),
        (worded("Run %(id)s", id=run_ref(3)), "Run 3", f"Run {tagged('run', '3')}"),
        (joined_label([]), "", ""),
    ],
    # Each process of the tests has a key of its own, and other pseudonyms.
    ids=["host", "between words", "translated", "free text", "joined", "run", "nothing"],
)  # fmt: skip
def test_a_label_reads_as_its_text_and_hides_what_it_names(label: Label, text: str, nameless: str) -> None:
    assert (label, str(label), orjson.loads(orjson.dumps(label))) == (text, text, text)
    assert without_names(label) == nameless
    assert without_names(pickle.loads(pickle.dumps(copy.deepcopy(label)))) == nameless


def test_a_reason_is_said_again_without_its_texts_in_the_readers_language() -> None:
    reason = Reason("trials_failed", failed=1, total=12)
    assert without_names(reason_label(reason)) == str(reason)
    assert without_names(reason_label("the engine of alpha is away")) == LEFT_OUT
    assert hidden_reason("") == ""
    with translation.override("zh-hans"):
        said = without_names(reason)
        assert isinstance(said, str) and re.search(r"[\u4e00-\u9fff]", said)


def test_figures_and_times_stay_and_ids_go() -> None:
    value, moment = MeasuredValue(9.4e9, "bit/s", 3, 9.3e9, 9.5e9), Moment(datetime(2026, 11, 20, 2, tzinfo=UTC))
    assert (without_names(value), without_names(moment), without_names(12)) == (value, moment, 12)
    assert without_names(RowId(12)) is None
    assert str(moment) == "2026-11-20 02:00 UTC"


def test_a_reason_that_knows_what_its_names_are_keeps_their_pseudonyms() -> None:
    said = Reason("host_unreachable", host="alpha", since="12:30 UTC")
    label = reason_label(said, {"alpha": HOST})
    assert str(label) == str(said)
    assert without_names(label) == f"host {host_pseudonym(7)} has given no valid answer since 12:30 UTC"
    assert without_names(reason_label(said, {"beta": HOST})) == "host … has given no valid answer since 12:30 UTC"
    naming = reason_naming(said, {"alpha": HOST})
    assert without_names(pickle.loads(pickle.dumps(naming))) == without_names(label)
    assert without_names(reason_naming("gone to alpha", {"alpha": HOST})) == LEFT_OUT


def test_a_number_among_several_is_its_place_where_names_are_hidden() -> None:
    assert (PlacedId(4711, 2), without_names(PlacedId(4711, 2)), without_names(RowId(4711))) == (4711, 2, None)
