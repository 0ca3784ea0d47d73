"""The page that imports: preview, refusals beside their field, two files and pasted text at once."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from benchweb.accounts.services import token_create
from benchweb.common.exchange import ExchangeEnd
from benchweb.hosts.endpoints.services import endpoint_create
from benchweb.hosts.services import pair_create
from benchweb.imports.models import Import
from benchweb.regressions.models import RunJudgement
from benchweb.results.models import Result
from tests.factories import make_endpoint, make_environment, make_pair

pytestmark = pytest.mark.django_db
PUBLISHED = Path(__file__).parents[2] / "toolformats" / "published"
NETPERF = (PUBLISHED / "netperf_sizes.md").read_bytes()
IPERF3 = """[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  10.9 GBytes  9.39 Gbits/sec   12             sender
[  5]   0.00-10.04  sec  10.9 GBytes  9.35 Gbits/sec                  receiver
"""


def test_a_preview_says_what_was_found_and_what_was_not_understood(signed_in: Client) -> None:
    text = (PUBLISHED / "four_tools.md").read_text() + "\nRequests/sec:  1.0\n"
    page = signed_in.post("/imports/preview", {"text": text}).content.decode()
    assert "10 results to import" in page
    assert "taken as those of `sar -n DEV`" in page
    assert "Requests/sec:  1.0" in page
    assert "14.8 Gbits/sec" in page
    assert not Import.objects.exists()


def test_a_preview_shows_every_figure_that_is_stored_with_its_line(signed_in: Client) -> None:
    page = signed_in.post("/imports/preview", {"text": IPERF3}).content.decode()
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))
    for words in (
        "Throughput, sent: 9.39 Gbit/s 9.39 Gbits/sec, line 2",
        "Throughput, received: 9.35 Gbit/s 9.35 Gbits/sec, line 3",
        "Retransmits: 12 segments 12, line 2",
    ):
        assert words in plain
    signed_in.post("/imports", {"text": IPERF3, "pair": make_pair().pk})
    stored = Result.objects.get().metrics
    assert page.count("data-value") == len(stored)
    # Where it came from, as it stands.
    assert "<pre" in page and "0.00-10.04  sec  10.9 GBytes  9.35 Gbits/sec" in page
    sizes = signed_in.post("/imports/preview", {"uploads": [SimpleUploadedFile("sizes.md", NETPERF)]})
    assert "131072, line" in sizes.content.decode()


def test_files_after_one_that_took_too_long_are_named_and_not_read(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchweb.toolformats.plain_text.MOST_SECONDS", 0.05)
    files = [SimpleUploadedFile("long.txt", b"[\n" * 2_000_000), SimpleUploadedFile("sizes.txt", NETPERF)]
    page = signed_in.post("/imports/preview", {"uploads": files}).content.decode()
    assert "The text takes too long to read" in page
    assert "The files before this one took too long to read" in page


def test_pairs_of_the_same_hosts_are_told_apart_by_mode_and_address(signed_in: Client) -> None:
    source, sink = make_endpoint(host_name="node-a"), make_endpoint(host_name="node-b", data_address="10.0.0.2")
    pod = endpoint_create(
        host=sink.host, control_address="127.0.0.1:2", network_mode="terway", name="pod", same_machine=True
    )
    make_pair(source=source, sink=sink, environment="lab")
    make_pair(source=source, sink=pod, environment="rack")
    pair_create(source=source, sink=None, environment=make_environment("alone"))
    page = signed_in.get("/imports").content.decode()
    for name in (
        "node-a (host, 127.0.0.1:1) → node-b (host, 10.0.0.2) · lab",
        "node-a (host, 127.0.0.1:1) → node-b (pod, terway, 127.0.0.1:2) · rack",
        "node-a (host, 127.0.0.1:1) · alone",
    ):
        assert f">{name}</option>" in page


def test_changes_are_looked_for_where_the_form_asks_for_it(signed_in: Client) -> None:
    pair = make_pair()
    for text, more in ((IPERF3, {}), (IPERF3 + "\n", {"is_judged": "on"})):
        signed_in.post("/imports", {"text": text, "pair": pair.pk, "at": "2024-05-01T03:00"} | more)
    rows = RunJudgement.objects.order_by("run_id")
    assert [(row.judged_at is None, row.is_told) for row in rows] == [(False, True), (True, False)]


def test_files_and_pasted_text_become_a_run_each(signed_in: Client) -> None:
    pair = make_pair()
    files = [SimpleUploadedFile("sizes.txt", NETPERF), SimpleUploadedFile("again.txt", NETPERF)]
    response = signed_in.post(
        "/imports", {"uploads": files, "text": IPERF3, "pair": pair.pk, "at": "2024-05-01T03:00"}, follow=True
    )
    page = response.content.decode()
    assert "sizes.txt is imported as run" in page
    assert "again.txt: This text is imported already" in page
    assert sorted(Import.objects.values_list("file_name", flat=True)) == ["", "sizes.txt"]
    assert {row.run.started_at.year for row in Import.objects.select_related("run") if row.run.started_at} == {2024}
    runs = list(Import.objects.order_by("pk").values_list("run_id", flat=True))
    assert f"/reports/new?runs={runs[0]},{runs[1]}" in page
    assert f"/history?pair={pair.pk}&amp;kind=tcp_stream&amp;view=sizes&amp;over=all" in page


def test_a_script_that_sends_one_file_after_the_other_is_told_what_became_of_each(signed_in: Client) -> None:
    pair = make_pair()

    def send(**fields: Any) -> tuple[int, Any]:
        answer = signed_in.post("/imports", {"pair": pair.pk} | fields, headers={"Accept": "application/json"})
        return answer.status_code, answer.json() if answer.status_code != 400 else None

    status, told = send(uploads=[SimpleUploadedFile("sizes.txt", NETPERF)])
    made = Import.objects.get()
    assert (status, told) == (201, {"run": made.run_id, "said": f"sizes.txt is imported as run {made.run_id}."})
    status, told = send(uploads=[SimpleUploadedFile("again.txt", NETPERF)])
    assert (status, told["run"]) == (422, None)
    assert "again.txt: This text is imported already" in told["said"]
    assert send(uploads=[SimpleUploadedFile("sizes.txt", NETPERF)], pair="") == (400, None)
    # Nothing of it waits for the next page.
    assert "is imported as run" not in signed_in.get("/imports").content.decode()


def test_one_text_leads_to_its_run(signed_in: Client) -> None:
    pair = make_pair()
    response = signed_in.post("/imports", {"text": IPERF3, "pair": pair.pk})
    made = Import.objects.get()
    assert response.headers["Location"] == f"/runs/{made.run_id}"
    assert made.created_by is not None
    run = signed_in.get(f"/runs/{made.run_id}").content.decode()
    assert "Imported results of iperf3 from pasted text, by ada" in run


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "Choose a file or paste text."),
        ({"text": IPERF3}, "This field is required."),
        ({"text": "nothing of a tool", "pair": "own"}, "Nothing in this text can be imported"),
        ({"text": IPERF3, "pair": "own", "at": "yesterday"}, "Enter a valid date/time."),
        ({"text": IPERF3, "pair": "own", "at": "2100-01-01T00:00"}, "is in the future"),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_lost(signed_in: Client, fields: dict[str, str], words: str) -> None:
    own = {"pair": str(make_pair().pk)} if fields.get("pair") == "own" else {}
    page = signed_in.post("/imports", {**fields, **own}).content.decode()
    assert words in page
    assert "9.39 Gbits/sec" in page or "text" not in fields or fields["text"] != IPERF3
    assert not Import.objects.exists()


def test_a_file_that_is_no_text_is_told_of(signed_in: Client) -> None:
    binary = SimpleUploadedFile("a.out", b"\x7fELF\0\0")
    assert "no text: it holds zero bytes" in signed_in.post("/imports/preview", {"uploads": [binary]}).content.decode()


def test_a_preview_stops_when_its_reader_leaves_and_an_import_goes_to_its_end(
    ada: User, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_left = ExchangeEnd()
    has_left.set()
    monkeypatch.setattr("benchweb.common.exchange.ended_event", lambda _: has_left)
    text, pair = NETPERF.decode(), make_pair()
    _, token = token_create(user=ada, name="t")

    def called(path: str) -> int:
        body, headers = {"pair": pair.pk, "text": text}, {"Authorization": f"Bearer {token}"}
        return signed_in.post(path, body, content_type="application/json", headers=headers).status_code

    assert signed_in.post("/imports/preview", {"text": text}).status_code == 503
    assert called("/api/v1/imports?dry_run=true") == 503
    assert called("/api/v1/imports") == 201
