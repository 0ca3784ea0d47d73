"""Exports of big runs and of their shares: no more is held at a time than a part, and a part is a statement's rows."""

import json
import tracemalloc
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchweb.charts.run.export import run_csv, run_json
from benchweb.hosts.models import Facts
from benchweb.results.models import Result
from benchweb.runs.models import Run, State
from benchweb.runs.selectors import run_detail
from benchweb.sharing.models import SharePart
from benchweb.sharing.selectors import share_parts
from benchweb.sharing.services import share_create
from tests.factories import make_run

pytestmark = pytest.mark.django_db

TRIALS = 160
# Of one document: 6.4 MB of them in all, as text.
DOCUMENT_BYTES = 40_000
CORES = [1] * (1 + DOCUMENT_BYTES // len("1, "))
HELD_BYTES = 3 * 1024 * 1024


@pytest.fixture
def big() -> Run:
    run = make_run(repetitions=TRIALS)
    facts = Facts.objects.create(
        endpoint=run.pair.source, digest="d", document={"kernel": "6.1"}, first_seen_at="2030-01-01T00:00Z",
        last_seen_at="2030-01-01T00:00Z",
    )  # fmt: skip
    run.trials.update(state=State.FINISHED)
    for trial in run.trials.all():
        # Figures, which a share without names has too.
        document = {"intervals": [], "largest_payload_bytes": trial.index, "cpu_per_core": {"source": CORES}}
        Result.objects.create(
            trial=trial, metrics={"throughput_bps": 1.5}, document=document, source_facts=facts, sink_facts=facts
        )
    found = run_detail(run.pk)
    assert found is not None
    return found


def gone_through(parts: Iterator[str]) -> tuple[int, int]:
    """Take all parts, one after the other; return their length together and the most memory that was held."""
    tracemalloc.start()
    try:
        length = sum(len(part) for part in parts)
        return length, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_json_of_a_big_run_is_never_held_whole(big: Run) -> None:
    length, held = gone_through(run_json(big))
    assert length > TRIALS * DOCUMENT_BYTES
    assert held < HELD_BYTES
    document = json.loads("".join(run_json(big)))
    assert [trial["result"]["largest_payload_bytes"] for trial in document["trials"]] == list(range(1, TRIALS + 1))
    (facts,) = document["facts"].values()
    assert facts == {"kernel": "6.1"}


@pytest.mark.parametrize("anonymise", [False, True])
def test_a_share_of_a_big_run_is_made_and_read_in_parts(big: Run, anonymise: bool) -> None:
    tracemalloc.start()
    share, _token = share_create(run=big, user=None, anonymise=anonymise)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The page's own trials are held: their documents are not.
    assert held < 2 * HELD_BYTES
    length, held = gone_through(share_parts(share, SharePart.Export.JSON))
    assert length > TRIALS * DOCUMENT_BYTES
    assert held < HELD_BYTES
    document = json.loads("".join(share_parts(share, SharePart.Export.JSON)))
    assert len(document["trials"]) == TRIALS
    assert len("".join(share_parts(share, SharePart.Export.CSV)).splitlines()) == TRIALS + 1


def test_a_share_that_is_revoked_while_it_is_read_breaks_off(big: Run) -> None:
    share, _token = share_create(run=big, user=None)
    parts = share_parts(share, SharePart.Export.JSON)
    next(parts)
    SharePart.objects.all().delete()
    with pytest.raises(SharePart.DoesNotExist):
        next(parts)


def test_no_statement_of_an_export_reads_all_documents(big: Run) -> None:
    for exported in (run_json, run_csv):
        with CaptureQueriesContext(connection) as captured:
            list(exported(big))
        statements = [each["sql"] for each in captured if "results_result" in each["sql"]]
        assert statements
        assert all("LIMIT" in sql or " IN (" in sql for sql in statements)
