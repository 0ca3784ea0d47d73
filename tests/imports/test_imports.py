"""Imports through the API, the command and the charts, on PostgreSQL."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from benchweb.charts.main_figures import figures_of_runs
from benchweb.imports.models import Import
from benchweb.notifications.models import Delivery
from benchweb.notifications.services import RuleValues, rule_create
from benchweb.regressions.judgements import give_waiting, judge_all
from benchweb.regressions.models import Alert, RunJudgement
from benchweb.results.models import Point, Series
from benchweb.results.run_summaries import sum_up
from benchweb.runs.models import Run, Trial
from tests.api.conftest import ApiClient
from tests.factories import make_channel, make_pair
from tests.nights import DAY
from tests.regressions.judged import level

pytestmark = pytest.mark.django_db
PUBLISHED = Path(__file__).parents[1] / "toolformats" / "published"
SIZES = (PUBLISHED / "netperf_sizes.md").read_text()
AT = "2023-09-20T10:00:00Z"
NETPERF = """MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

131072  16384  16384    10.00    9410.12
"""


def test_a_published_report_becomes_a_run(api: ApiClient) -> None:
    pair = make_pair()
    made = api.post("/imports", {"pair": pair.pk, "text": SIZES, "at": AT, "file_name": "report.md"})
    assert made.status_code == 201
    run = Run.objects.get(pk=made.json()["run"])
    assert (run.state, run.trials.count()) == ("finished", 28)
    streams = Series.objects.filter(pair=pair, kind="tcp_stream", metric="throughput_bps").order_by("id")
    assert {series.identity["tool"] for series in streams} == {"netperf"}
    points = dict(Point.objects.filter(series__in=streams).values_list("series__identity__message_size_bytes", "value"))
    assert points[1] == pytest.approx(0.31e6)
    assert points[65536] == pytest.approx(738.58e6)
    # 16,384 bytes are the default, which an identity leaves out.
    assert points[None] == pytest.approx(802.42e6)
    document = run.trials.get(index=1).result.document
    assert "MIGRATED TCP STREAM TEST" in document["raw"]
    assert document["figures"][0]["text"] == "0.31"
    assert api.get(f"/imports/{made.json()['id']}").json()["tools"] == ["netperf"]
    assert Import.objects.get().text == SIZES


def test_the_same_text_twice_adds_nothing_and_says_so(api: ApiClient) -> None:
    pair, other = make_pair(), make_pair(environment="elsewhere")
    body = {"pair": pair.pk, "text": SIZES, "at": AT}
    first = api.post("/imports", body).json()
    again = api.post("/imports", body)
    assert again.status_code == 409
    assert f"run {first['run']}" in again.json()["detail"]
    assert Import.objects.count() == 1
    assert api.post("/imports", body | {"pair": other.pk}).status_code == 201


def test_a_dry_run_tells_all_and_writes_nothing(api: ApiClient) -> None:
    text = (PUBLISHED / "four_tools.md").read_text() + "\nRequests/sec:  1.0\n"
    found = api.post("/imports?dry_run=true", {"pair": make_pair().pk, "text": text}).json()
    assert found["importable"] == 10
    assert [reading["tool"] for reading in found["readings"] if not reading["kind"]] == ["sar", "sar"]
    assert not any(reading["reason"] for reading in found["readings"])
    assert found["unread"][0]["text"] == "Requests/sec:  1.0"
    assert not Run.objects.exists()


def test_what_no_test_measures_becomes_a_kind_of_its_tool(api: ApiClient, signed_in: Client) -> None:
    pair = make_pair()
    text = (PUBLISHED / "server_baseline.md").read_text()
    made = api.post("/imports", {"pair": pair.pk, "text": text, "at": AT, "file_name": "baseline.md"})
    assert made.status_code == 201
    run = made.json()["run"]
    kinds = Counter(Run.objects.get(pk=run).trials.values_list("kind", flat=True))
    assert kinds == {"disk_io": 14, "memory_bandwidth": 14, "own.netperf": 9, "own.ping": 2}
    while sum_up():
        pass
    for address in (
        f"/runs/{run}",
        f"/history?pair={pair.pk}&kind=own.netperf&over=all",
        "/matrix?kind=own.ping",
        "/runs",
    ):
        assert signed_in.get(address).status_code == 200, address


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"text": "The throughput was 9.4 Gbit/s."}, "Nothing in this text"),
        ({"at": "2100-01-01T00:00:00Z"}, "in the future"),
        ({"text": "a\0b"}, "NUL character"),
    ],
)
def test_what_cant_be_imported_is_refused_with_nothing_written(
    api: ApiClient, change: dict[str, str], words: str
) -> None:
    refused = api.post("/imports", {"pair": make_pair().pk, "text": SIZES, "at": AT} | change)
    assert refused.status_code == 422
    assert words in refused.json()["detail"]
    assert not Run.objects.exists()


def test_no_change_is_looked_for_unless_asked(api: ApiClient) -> None:
    pair = make_pair()
    quiet = api.post("/imports", {"pair": pair.pk, "text": SIZES}).json()["run"]
    judged = api.post("/imports", {"pair": pair.pk, "text": SIZES + "\n", "is_judged": True}).json()["run"]
    while sum_up():
        pass
    give_waiting()
    waiting = RunJudgement.objects.filter(judged_at=None)
    assert set(waiting.values_list("run", flat=True)) == {judged}
    assert quiet != judged


def test_years_of_imported_runs_are_judged_when_asked_for_and_nobody_is_told(api: ApiClient) -> None:
    pair = make_pair()
    rule_create(RuleValues("all", make_channel()))
    stream = "[  5]   0.00-10.00  sec  10.9 GBytes  {rate:.4f} Gbits/sec                  receiver\n"
    first = datetime(2019, 9, 20, 2, tzinfo=UTC)
    for number in range(26):
        rate = level(number, 0.8 if number >= 20 else 1.0) / 1e8
        at = (first + number * DAY).isoformat()
        body = {"pair": pair.pk, "text": stream.format(rate=rate) + "\n" * number, "at": at, "is_judged": True}
        assert api.post("/imports", body).status_code == 201
    while sum_up():
        pass
    give_waiting()
    waiting = list(RunJudgement.objects.filter(judged_at=None).order_by("run").values_list("run", flat=True))
    assert len(waiting) == 26
    assert judge_all(waiting) == 26
    alert = Alert.objects.get()
    assert (alert.kind, alert.state, alert.begun_at) == ("change", "open", first + 20 * DAY)
    assert Delivery.objects.count() == 0


def test_the_command_judges_when_asked_to(capsys: pytest.CaptureFixture[str]) -> None:
    pair = make_pair()
    arguments = (str(PUBLISHED / "four_tools.md"), "--pair", str(pair.pk), "--at", "2019-09-20")
    call_command("import_results", *arguments, "--judge")
    assert RunJudgement.objects.get().judged_at is None
    while sum_up():
        pass
    give_waiting()
    assert RunJudgement.objects.get().tries == 1


def test_pages_show_imported_beside_measured(api: ApiClient, signed_in: Client) -> None:
    pair = make_pair()
    run = api.post("/imports", {"pair": pair.pk, "text": SIZES, "at": AT}).json()["run"]
    while sum_up():
        pass
    for address in (
        f"/runs/{run}",
        f"/runs/{run}/charts.json",
        f"/history?pair={pair.pk}&kind=tcp_stream&over=all",
        f"/history?pair={pair.pk}&kind=tcp_stream&view=sizes&over=all",
        f"/history/charts.json?pair={pair.pk}&kind=tcp_stream&p.tool=netperf&over=all",
        f"/compare?runs={run}",
        "/matrix?kind=tcp_stream",
        f"/plans/{Run.objects.get(pk=run).plan_version.plan_id}",
        "/runs",
        "/",
    ):
        response = signed_in.get(address)
        assert response.status_code == 200, address
    page = signed_in.get(f"/runs/{run}").content.decode()
    assert "Imported results of netperf" in page
    trial = Run.objects.get(pk=run).trials.get(index=1)
    assert signed_in.get(f"/runs/{run}/trials/{trial.index}").status_code == 200
    assert "netperf" in signed_in.get(f"/history?pair={pair.pk}&kind=tcp_stream&over=all").content.decode()


def test_run_again_measures_the_same_by_the_engine(api: ApiClient, signed_in: Client) -> None:
    pair = make_pair()
    imported = api.post("/imports", {"pair": pair.pk, "text": SIZES, "at": AT, "file_name": "report.md"}).json()["run"]
    while sum_up():
        pass
    # The middle size of the first kind, as of a measured run.
    assert figures_of_runs([imported])[imported].median == pytest.approx(172.2e6)
    signed_in.post(f"/runs/{imported}/again")
    again = Run.objects.exclude(pk=imported).get()
    assert again.trials.count() == 28
    assert not any("tool" in trial.params for trial in again.trials.all())
    assert {trial.kind for trial in again.trials.all()} == {"tcp_stream", "udp_stream", "tcp_rr", "tcp_crr", "udp_rr"}
    # Its plan is in no list.
    assert "report.md" not in signed_in.get("/plans").content.decode()


def test_what_the_catalog_does_not_take_stands_in_the_document_alone(api: ApiClient) -> None:
    banner = "MIGRATED TCP STREAM TEST from 0.0.0.0 port 0 AF_INET to 10.0.0.2 () port 0 AF_INET"
    text = f"{banner}\n131072 16384 999999999 10.00 9.5\n"
    run = api.post("/imports", {"pair": make_pair().pk, "text": text}).json()["run"]
    trial = Run.objects.get(pk=run).trials.get()
    assert trial.params["message_size_bytes"] is None
    assert trial.result.document["parameters"]["message_size_bytes"] == 999999999


def test_the_command_imports_files_and_tells_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = make_pair()
    call_command("import_results", str(PUBLISHED / "four_tools.md"), "--pair", str(pair.pk), "--at", "2019-09-20")
    printed = capsys.readouterr().out
    assert "4 of iperf3, 3 of netperf, 2 of sar, 1 of wrk results" in printed
    assert "left out" not in printed
    assert Import.objects.get().run.started_at.year == 2019  # type: ignore[union-attr]
    with pytest.raises(CommandError, match="1 of 1 files"):
        call_command("import_results", str(PUBLISHED / "four_tools.md"), "--pair", str(pair.pk))
    with pytest.raises(CommandError, match="no pair 99999"):
        call_command("import_results", "x", "--pair", "99999")


@pytest.mark.parametrize(
    "text",
    [
        '# benchweb settings: {"duration_seconds": NaN, "tool": "a\\u0000b"}\n' + NETPERF,
        '# benchweb settings: {"message_size_bytes": 1e999, "tool": "' + "x" * 30 + '"}\n' + NETPERF,
        '{"metric": "TCP_RR\\u0000", "value": 1, "unit": "us", "test": "netperf", "metadata": {"ip_type": "a\\u0000"}}',
    ],
)
def test_what_a_text_says_that_can_t_be_stored_is_left_out(api: ApiClient, text: str) -> None:
    answer = api.post("/imports", {"pair": make_pair().pk, "text": text})
    assert answer.status_code == 201, answer.content
    [trial] = Trial.objects.all()
    assert "\\u0000" not in json.dumps(trial.params)
