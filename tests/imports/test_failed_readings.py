"""What failed elsewhere fails here: preview, dry run, import and command tell one reason, and no series has it."""

from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from benchweb.results.models import Point, Series
from benchweb.runs.models import Run
from tests.api.conftest import ApiClient
from tests.factories import make_pair

pytestmark = pytest.mark.django_db
AT = "2026-09-20T10:00:00Z"
GOOD = "[  5]   0.00-10.00  sec  10.9 GBytes  9.36 Gbits/sec                  receiver\n"
REFUSED = "iperf3: error - unable to connect to server: Connection refused\n"
INTERRUPTED = """\
Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  1.15 GBytes  9.88 Gbits/sec    0   1.25 MBytes
^C- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-1.53   sec  1.76 GBytes  9.88 Gbits/sec    0             sender
[  5]   0.00-1.53   sec  0.00 Bytes  0.00 bits/sec                  receiver
iperf3: interrupt - the client has terminated
"""
STREAM = """\
STREAM version $Revision: 5.10 $
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           11866.7     0.135     0.134     0.136
-------------------------------------------------------------
Failed Validation on array a[], AvgRelAbsErr > epsilon (1.000000e-13)
"""
WHY_INTERRUPTED = "iperf3 says: the client has terminated"


@pytest.mark.parametrize(
    ("text", "reason"), [(INTERRUPTED, WHY_INTERRUPTED), (STREAM, "STREAM's results didn't validate.")]
)
def test_one_reason_is_told_everywhere_and_no_series_has_the_figures(
    text: str, reason: str, api: ApiClient, signed_in: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = make_pair()
    preview = signed_in.post("/imports/preview", {"text": text}).content.decode()
    assert reason in preview.replace("&#x27;", "'")
    found = api.post("/imports?dry_run=true", {"pair": pair.pk, "text": text}).json()
    assert {(each["state"], each["reason"]) for each in found["readings"]} == {("failed", reason)}
    assert found["readings"][0]["reason_code"]
    file = tmp_path / "out.txt"
    file.write_text(text)
    call_command("import_results", str(file), "--pair", str(pair.pk), "--dry-run")
    assert f"failed, in no series: {reason}" in capsys.readouterr().out
    made = api.post("/imports", {"pair": pair.pk, "text": text, "at": AT})
    assert made.status_code == 201
    run = Run.objects.get(pk=made.json()["run"])
    assert (run.state, str(run.why)) == ("failed", f"1 of 1 trials failed: {reason}")
    trial = run.trials.get()
    assert (trial.state, str(trial.why)) == ("failed", reason)
    assert trial.result.metrics
    assert not Series.objects.filter(pair=pair).exists()
    assert reason in signed_in.get(f"/runs/{run.pk}").content.decode().replace("&#x27;", "'")


def test_a_test_that_never_began_is_a_failed_trial_among_the_others(api: ApiClient) -> None:
    pair = make_pair()
    made = api.post("/imports", {"pair": pair.pk, "text": f"{GOOD}\n\n\n\n\n{REFUSED}", "at": AT})
    run = Run.objects.get(pk=made.json()["run"])
    assert [(each.state, str(each.why)) for each in run.trials.order_by("index")] == [
        ("finished", ""),
        ("failed", "iperf3 says: unable to connect to server: Connection refused"),
    ]
    assert set(Point.objects.filter(run=run).values_list("trial__state", flat=True)) == {"finished"}
    # "Run again" measures what was measured.
    assert len(run.plan_version.steps) == 1


def test_a_text_of_failures_alone_is_refused_with_what_they_said(api: ApiClient) -> None:
    refused = api.post("/imports", {"pair": make_pair().pk, "text": REFUSED, "at": AT})
    assert refused.status_code == 422
    assert "unable to connect to server: Connection refused" in refused.json()["detail"]
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("64 Bytes von 10.0.0.2: icmp_seq=1 TTL=64 Zeit=0.045 ms\n", "run it with LC_ALL=C"),
        ("Hello there.\n", "It begins with “Hello there.”; read are netperf, iperf 2, iperf3"),
    ],
)
def test_nothing_read_is_said_with_why(text: str, words: str, api: ApiClient, signed_in: Client) -> None:
    refused = api.post("/imports", {"pair": make_pair().pk, "text": text, "at": AT})
    assert words in refused.json()["detail"]
    assert words in signed_in.post("/imports/preview", {"text": text}).content.decode()


def test_a_result_of_an_unknown_date_says_so(api: ApiClient) -> None:
    pair = make_pair()
    run = Run.objects.get(pk=api.post("/imports", {"pair": pair.pk, "text": GOOD}).json()["run"])
    assert run.state == "finished"
    assert "When it was measured isn't known" in run.why
    dated = (
        "PING a (10.0.0.2) 56(84) bytes of data.\n[1758362400.5] 64 bytes from a: icmp_seq=1 ttl=64 time=0.04 ms\n\n"
    )
    dated += "--- a ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
    dated += "rtt min/avg/max/mdev = 0.040/0.040/0.040/0.000 ms\n"
    told = Run.objects.get(pk=api.post("/imports", {"pair": pair.pk, "text": dated}).json()["run"])
    assert (told.why, str(told.started_at)) == ("", "2025-09-20 10:00:00.500000+00:00")
