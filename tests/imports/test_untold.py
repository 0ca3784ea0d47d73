"""What an imported text doesn't tell is unknown: never the catalog's default, and never joined with its figures."""

import json
from typing import Any

import pytest
from django.test import Client

from benchweb.charts.main_figures import figures_of_runs
from benchweb.imports.trials import ImportedTrial, trials_of
from benchweb.results.models import Series
from benchweb.results.run_summaries import sum_up
from benchweb.runs.models import Run
from benchweb.toolformats.document import read_text
from tests.api.conftest import ApiClient
from tests.factories import make_pair

IPERF3_UDP = """\
Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 50000 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Total Datagrams
[  5]   0.00-1.00   sec  1.19 MBytes  10.0 Mbits/sec  864
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-10.00  sec  11.9 MBytes  10.0 Mbits/sec  0.000 ms  0/8632 (0%)  sender
[  5]   0.00-10.00  sec  11.9 MBytes  9.97 Mbits/sec  0.012 ms  3/8632 (0.035%)  receiver

iperf Done.
"""
IPERF3_TCP = """\
Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 50000 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  1.15 GBytes   990 Mbits/sec    0             sender
[  5]   0.00-10.00  sec  1.15 GBytes   988 Mbits/sec                  receiver
"""
IPERF2_TCP = """\
------------------------------------------------------------
Client connecting to 10.0.0.2, TCP port 5001
TCP window size: 85.0 KByte (default)
------------------------------------------------------------
[  3] local 10.0.0.1 port 50000 connected with 10.0.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec
"""
NETPERF = "$ netperf -H 10.0.0.2 -t UDP_STREAM -v 0 -P 0\n957.21\n"
NETPERF_RR = "$ netperf -H 10.0.0.2 -t TCP_RR -v 0 -P 0\n28428.60\n"
PING = """\
PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.045 ms

--- 10.0.0.2 ping statistics ---
20 packets transmitted, 20 received, 0% packet loss, time {took}ms
rtt min/avg/max/mdev = 0.040/0.045/0.050/0.002 ms
"""
WRK = """\
Running 10s test @ http://10.0.0.2/
  2 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  22464657 requests in 10.00s, 17.76GB read
Requests/sec: 748868.53
Transfer/sec:    606.33MB
"""
FIO_TEXT = """\
j: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=8
fio-3.36
Starting 1 process

j: (groupid=0, jobs=1): err= 0: pid=1: Thu Jan  1 00:00:00 2026
  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(39.1MiB/10001msec)
    clat (usec): min=10, max=99, avg=20.00, stdev=1.00
     lat (usec): min=10, max=99, avg=21.00, stdev=1.00
"""
STREAM = (
    "Function    Best Rate MB/s  Avg time     Min time     Max time\nCopy:  11866.7  0.134832  0.134831  0.134834\n"
)


def one(text: str) -> ImportedTrial:
    [trial] = trials_of(read_text(text))[0]
    return trial


def told(text: str) -> dict[str, Any]:
    trial = one(text)
    return {name: value for name, value in trial.params.items() if name != "duration_seconds"}


@pytest.mark.parametrize(
    ("text", "params"),
    [
        # iperf3 takes the size of a datagram from the path's segment size, and prints neither it nor the rate.
        (IPERF3_UDP, {"tool": "iperf3", "flows": 1, "message_size_bytes": None, "rate_bps": None}),
        (IPERF3_TCP, {"tool": "iperf3", "flows": 1, "message_size_bytes": 131072}),
        # 8 KB in its old versions, 128 KB in its new ones.
        (IPERF2_TCP, {"tool": "iperf2", "flows": 1, "message_size_bytes": None}),
        (NETPERF, {"tool": "netperf", "message_size_bytes": None}),
        (NETPERF_RR, {"tool": "netperf"}),
        (PING.format(took=19456), {"tool": "ping", "payload_bytes": 56, "count": 20, "probe_interval_seconds": 1.0}),
        (PING.format(took=3846), {"tool": "ping", "payload_bytes": 56, "count": 20, "probe_interval_seconds": None}),
        (
            WRK,
            {"tool": "wrk", "url": "http://10.0.0.2/", "threads": 2, "connections": 10, "response_size_bytes": None},
        ),
        (
            WRK.replace(
                "  Thread Stats",
                "  Thread calibration: mean lat.: 1.00ms, rate sampling interval: 10ms\n  Thread Stats",
            ),
            {
                "tool": "wrk2",
                "url": "http://10.0.0.2/",
                "threads": 2,
                "connections": 10,
                "rate_rps": None,
                "response_size_bytes": None,
            },
        ),
        (
            FIO_TEXT,
            {
                "tool": "fio",
                "pattern": "randread",
                "block_size_bytes": 4096,
                "depth": 8,
                "jobs": 1,
                "direct": None,
                "file_size_bytes": None,
            },
        ),
        (STREAM, {"tool": "stream", "kernel": "copy", "cores": None, "array_bytes": None}),
    ],
)
def test_a_text_gives_what_it_tells_what_its_tool_does_for_certain_and_else_unknown(
    text: str, params: dict[str, Any]
) -> None:
    assert told(text) == params


def test_an_unknown_size_is_a_series_of_its_own_beside_the_default_s(api: ApiClient, signed_in: Client) -> None:
    pair = make_pair()
    for text in (IPERF3_UDP, f"iperf 3.16\nUDP block size 1400\n{IPERF3_UDP}"):
        run = api.post("/imports", {"pair": pair.pk, "text": text, "at": "2024-01-01T00:00:00Z"})
        assert run.status_code == 201, run.json()
    while sum_up():
        pass
    series = Series.objects.filter(pair=pair, metric="throughput_bps")
    identities = sorted((each.identity for each in series), key=len)
    # 1,400 bytes are the catalog's default, which an identity leaves out.
    assert identities == [
        {"tool": "iperf3", "rate_bps": None},
        {"tool": "iperf3", "rate_bps": None, "message_size_bytes": None},
    ]
    history = f"/history?pair={pair.pk}&kind=udp_stream&over=all"
    page = signed_in.get(history).content.decode()
    assert "Message size unknown" in page
    drawn = {value: _labels(signed_in, pair.pk, f"&p.message_size_bytes={value}") for value in ("unknown", "1400")}
    assert (len(drawn["unknown"]), len(drawn["1400"])) == (1, 1)
    [sizes] = [
        chart
        for chart in signed_in.get(f"{history.replace('?', '/charts.json?')}&view=sizes").json()["charts"]
        if chart["id"] == "sizes-throughput"
    ]
    assert [point["x"] for line in sizes["series"] for point in line["points"]] == [1400]
    assert "1 imported test has no known message size and isn't drawn." in sizes["subtitle"]


def _labels(client: Client, pair: int, query: str) -> list[str]:
    charts = client.get(f"/history/charts.json?pair={pair}&kind=udp_stream&over=all{query}").json()["charts"]
    return [line["label"] for line in charts[0]["series"]]


def test_pages_and_exports_of_a_run_say_unknown(api: ApiClient, signed_in: Client) -> None:
    pair = make_pair()
    statistics = PING.format(took=19456).partition("\n\n")[2]
    body = {"pair": pair.pk, "text": f"{IPERF3_UDP}\n{NETPERF}\n{statistics}\n{WRK}", "at": "2024-01-01T00:00:00Z"}
    run = api.post("/imports", body).json()["run"]
    while sum_up():
        pass
    for address in (
        f"/runs/{run}",
        f"/runs/{run}/charts.json",
        f"/compare?runs={run}",
        "/matrix?kind=udp_stream",
        f"/hosts/{pair.source.host_id}",
        f"/pairs/{pair.pk}",
        "/runs",
        "/",
    ):
        answer = signed_in.get(address)
        assert answer.status_code == 200, address
    for form in ("txt", "md", "iperf3.json", "csv"):
        assert api.get(f"/runs/{run}/results.{form}").status_code == 200, form
    assert (
        "message size unknown" in signed_in.get(f"/runs/{run}/trials/1").content.decode().replace("\xa0", " ").lower()
    )
    assert figures_of_runs([run])[run].setting == "unknown"
    # By the default's size it has no figure.
    assert figures_of_runs([run], size_bytes=1400) == {}
    trial = Run.objects.get(pk=run).trials.get(index=1)
    assert json.loads(json.dumps(trial.params))["message_size_bytes"] is None
