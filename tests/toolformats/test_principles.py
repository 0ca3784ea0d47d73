"""Kinds of faults that imports must not have: of each several texts, with what is right worked out by hand."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from benchweb.imports.trials import error_of, trials_of
from benchweb.toolformats.document import read_text
from benchweb.toolformats.readings import Reading

BANNER = "MIGRATED {test} TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\n"
UDP_HEAD = "Socket  Message  Elapsed      Messages\nSize    Size     Time         Okay Errors   Throughput\n"
HEAD = "[ ID] Interval           Transfer     Bitrate         Retr\n"
DATAGRAM_HEAD = "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
CONNECTING = "Connecting to host 10.0.0.2, port 5201\n"
RULE = "- - - - - - - - - - - - - - - - - - - - - - - - -\n"
GIBI, MEBI = 2**30, 2**20


def one(text: str) -> Reading:
    [reading] = read_text(text)
    return reading


def figures(reading: Reading) -> dict[str, float]:
    """Return the figures of the whole."""
    return {figure.metric: figure.value for figure in reading.figures if not figure.part}


# --- 1. An error in the text outranks its figures. ---
IPERF3_ROWS = (
    "[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201\n"
    "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
    "[  5]   0.00-1.00   sec  1.15 GBytes  9.88 Gbits/sec    0   1.25 MBytes\n"
)
ERRORS: dict[str, tuple[str, str, dict[str, float]]] = {
    "iperf3 interrupted": (
        CONNECTING + IPERF3_ROWS + "^C" + RULE + HEAD
        + "[  5]   0.00-1.53   sec  1.76 GBytes  9.88 Gbits/sec    0             sender\n"
        + "[  5]   0.00-1.53   sec  0.00 Bytes  0.00 bits/sec                  receiver\n"
        + "iperf3: interrupt - the client has terminated\n",
        "the client has terminated",
        {"send_throughput_bps": 9.88e9, "sent_bytes": 1.76 * GIBI, "retransmits": 0},
    ),
    "iperf3 whose server went": (
        CONNECTING + IPERF3_ROWS + "iperf3: error - control socket has closed unexpectedly\n",
        "control socket has closed unexpectedly",
        {},
    ),
    "iperf3 in JSON": (
        json.dumps(
            {
                "start": {"version": "iperf 3.12", "test_start": {"protocol": "TCP", "num_streams": 1}},
                "intervals": [],
                "end": {
                    "sum_sent": {"bits_per_second": 9e9, "bytes": 2e9, "retransmits": 3},
                    "sum_received": {"bits_per_second": 0, "bytes": 0},
                },
                "error": "interrupt - the client has terminated",
            }
        ),
        "interrupt - the client has terminated",
        {"send_throughput_bps": 9e9, "sent_bytes": 2e9, "retransmits": 3},
    ),
    "STREAM that failed its validation": (
        "STREAM version $Revision: 5.10 $\nArray size = 10000000 (elements), Offset = 0 (elements)\n"
        "Function    Best Rate MB/s  Avg time     Min time     Max time\n"
        "Copy:           11866.7     0.135     0.134     0.136\nScale:          11866.7     0.135     0.134     0.136\n"
        "-------------------------------------------------------------\n"
        "Failed Validation on array a[], AvgRelAbsErr > epsilon (1.000000e-13)\n",
        "STREAM's results didn't validate.",
        {},
    ),
    "wrk interrupted": (
        "Running 30s test @ http://10.0.0.2/\n  2 threads and 10 connections\n"
        "^C  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   635.91us    0.89ms  12.92ms   93.69%\n"
        "    Req/Sec    56.20k     8.07k   62.00k    86.54%\n  339284 requests in 3.02s, 40.00MB read\n"
        "Requests/sec: 112345.03\nTransfer/sec:     13.24MB\n",
        "The test ended after 3.02 of 30 seconds: it was interrupted.",
        {
            "requests_per_second": 112345.03, "requests": 339284, "received_bytes": 40 * MEBI,
            "latency_mean_seconds": 635.91e-6,
        },
    ),
    "fio interrupted": (
        "j: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=4\n"
        "fio-3.33\nStarting 1 process\n^Cbs: 1 (f=1): [r(1)][30.0%][r=61.2MiB/s][r=15.7k IOPS][eta 00m:07s]\n"
        "fio: terminating on signal 2\n\nj: (groupid=0, jobs=1): err= 0: pid=7: Thu Jan  1 00:00:00 2026\n"
        "  read: IOPS=15.6k, BW=60.9MiB/s (63.9MB/s)(183MiB/3000msec)\n"
        "     lat (usec): min=10, max=99, avg=255.00, stdev=1.00\n",
        "terminating on signal 2",
        {"iops": 15600, "bytes_per_second": 60.9 * MEBI},
    ),
    "a full disk": (
        "fio: pid=7, err=28/file:io_u.c:1889, func=io_u error, error=No space left on device\n\n"
        "j: (groupid=0, jobs=1): err=28 (file:io_u.c:1889, func=io_u error): pid=7: Thu Jan  1 00:00:00 2026\n"
        "  write: IOPS=900, BW=3600KiB/s (3686kB/s)(10.0MiB/2912msec)\n",
        "fio ended the job with error 28: file:io_u.c:1889, func=io_u error.",
        {"iops": 900},
    ),
    "netperf killed by its shell": (
        BANNER.format(test="TCP STREAM")
        + "131072  16384  16384    10.00    9410.12\n\nSegmentation fault (core dumped)\n",
        "Segmentation fault (core dumped)",
        {"throughput_bps": 9410.12e6},
    ),
    "iperf 2 whose server never answered": (
        "Client connecting to 10.0.0.2, UDP port 5001\nSending 1470 byte datagrams\n"
        "[  3] local 10.0.0.1 port 50000 connected with 10.0.0.2 port 5001\n"
        "[ ID] Interval       Transfer     Bandwidth\n[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec\n"
        "[  3] Sent 893 datagrams\n[  3] WARNING: did not receive ack of last datagram after 10 tries.\n",
        "WARNING: did not receive ack of last datagram after 10 tries.",
        {"send_throughput_bps": 1.05e6},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_outranks_the_figures_beside_it(name: str) -> None:
    text, error, expected = ERRORS[name]
    document = read_text(text)
    [reading] = document
    assert reading.error == error
    found = figures(reading)
    assert {metric: found.get(metric) for metric in expected} == pytest.approx(expected)
    assert found.get("throughput_bps") != 0
    trials, unusable = trials_of(document)
    assert all(trial.error == error_of(reading) for trial in trials)
    assert error in error_of(reading)
    assert bool(trials) or [each.reason for each in unusable] == [error_of(reading)]


@pytest.mark.parametrize(
    ("line", "tool", "words"),
    [
        ("iperf3: error - unable to connect to server: Connection refused", "iperf3", "unable to connect to server"),
        ("connect failed: Connection refused", "iperf2", "connect failed"),
        ("netperf: send_omni: connect_data_socket failed: No route to host", "netperf", "No route to host"),
        (
            "establish control: are you sure there is a netserver listening on 10.0.0.2 at port 12865?",
            "netperf",
            "sure",
        ),
        ("unable to connect to 10.0.0.2:8080 Connection refused", "wrk", "Connection refused"),
        ("ping: connect: Network is unreachable", "ping", "Network is unreachable"),
        ("ping: nowhere.example: Name or service not known", "ping", "not known"),
        ("FATAL: Cannot find benchmark 'memori': no such built-in test, file or module", "sysbench", "Cannot find"),
    ],
)
def test_a_test_that_never_began_says_why(line: str, tool: str, words: str) -> None:
    reading = one(f"$ the command\n{line}\n")
    assert (reading.tool, reading.figures) == (tool, [])
    assert words in reading.error


@pytest.mark.parametrize(
    "text",
    [
        "ping: 0.4 ms on average.\n",
        "We were unable to connect to the second site, so that its rows are missing.\n",
        "netperf: 941 Mbit/s\n",
        "The disk failed to reach its rate.\n",
        "AB: the second run failed.\n",
    ],
)
def test_prose_about_trouble_is_no_failed_test(text: str) -> None:
    assert read_text(text).readings == ()


def test_a_server_that_was_stopped_while_it_waited_has_failed_no_test() -> None:
    text = (
        "Server listening on 5201\nAccepted connection from 10.0.0.1, port 40000\n"
        "[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 40001\n"
        "[ ID] Interval           Transfer     Bitrate\n"
        "[  5]   0.00-10.00  sec  11.5 GBytes  9.88 Gbits/sec                  receiver\n"
        "-----------------------------------------------------------\nServer listening on 5201\n"
        "-----------------------------------------------------------\n^Ciperf3: interrupt - the server has terminated\n"
    )
    reading = one(text)
    assert (reading.error, reading.value("throughput_bps")) == ("", 9.88e9)


WHOLE = BANNER.format(test="TCP STREAM") + "131072  16384  16384    10.00    9410.12\n\n"
SERVED = (
    "-----------------------------------------------------------\n"
    "Server listening on 5201 (test #1)\n"
    "-----------------------------------------------------------\n"
    "Accepted connection from 10.0.0.1, port 50000\n"
    "[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 40000\n"
    "[ ID] Interval           Transfer     Bitrate\n"
    "[  5]   0.00-1.00   sec  1.15 GBytes  9.88 Gbits/sec                  \n"
    + RULE
    + "[ ID] Interval           Transfer     Bitrate\n"
    "[  5]   0.00-1.00   sec  1.15 GBytes  9.88 Gbits/sec                  receiver\n"
)


@pytest.mark.parametrize(
    "line",
    [
        "bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8): No such file or directory",
        "bash: cannot set terminal process group (-1): Inappropriate ioctl for device",
        "sudo: unable to resolve host node-a: Name or service not known",
        "ssh: Warning: Permanently added '10.0.0.2' (ED25519) to the list of known hosts.",
        "ssh: connect to host 10.0.0.3 port 22: Connection refused",
        "bash: perf: command not found",
        'kubectl: Defaulted container "a" out of: a, b',
        "Killed",
        "run.sh: line 3: 4711 Killed                  netperf -H 10.0.0.3",
    ],
)
def test_what_a_shell_says_before_the_next_test_fails_no_result(line: str) -> None:
    assert [each.error for each in read_text(f"{WHOLE}{line}\n{WHOLE}")] == ["", ""]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("run.sh: line 3: 4711 Terminated              iperf3 -s -D", ""),
        ("run.sh: line 3: 4711 Terminated              /usr/bin/iperf3 --server", ""),
        ("run.sh: line 3: 4711 Killed                  ping -i 0.2 10.0.0.2", ""),
        ("run.sh: line 3: 4711 Killed                  /usr/bin/iperf3 -c 10.0.0.2", "line"),
        ("run.sh: line 3: 4711 Killed                  ip netns exec a iperf3 -c server -P 4", "line"),
        ("zsh: killed     iperf3 -c 10.0.0.2", "zsh: killed     iperf3 -c 10.0.0.2"),
        ("zsh: killed     wrk http://10.0.0.2/", ""),
        ("timeout: the monitored command dumped core", "the monitored command dumped core"),
        ("command terminated with exit code 1", "command terminated with exit code 1"),
    ],
)
def test_a_killed_command_is_of_its_own_tool_s_result(line: str, error: str) -> None:
    row = "[  5]   0.00-10.00  sec  11.5 GBytes  9.88 Gbits/sec    0             sender\n"
    reading = one(f"{CONNECTING}{RULE}{HEAD}{row}\n{line}\n")
    assert reading.error == (line if error == "line" else error)


def test_a_command_that_was_killed_in_its_test_leaves_it_without_a_result() -> None:
    for line in ("Killed", "bash: line 1: 4711 Killed    iperf3 -c 10.0.0.2", "bash: warning: nothing"):
        assert one(f"{CONNECTING}{IPERF3_ROWS}{line}\n").error == "The test has no summary: it was cut off."


def test_an_error_in_a_server_s_log_is_given_back_to_none_of_its_tests() -> None:
    error = "iperf3: error - unable to receive control message: Connection reset by peer\n"
    for text in (SERVED + error + SERVED, SERVED + "-----\nSome words.\n" + error, SERVED + SERVED + "$ ls\n" + error):
        assert {each.error for each in read_text(text) if each.figures} == {""}


# --- 2. A part is not the whole. ---
FLOWS = "".join(
    f"[ {number:>2}]   0.00-10.00  sec  8.75 GBytes  {rate} Gbits/sec  {retransmits}             {side}\n"
    for number, rate in ((5, "7.52"), (7, "7.53"), (9, "7.54"), (11, "7.51"))
    for side, retransmits in (("sender", "3"), ("receiver", ""))
)


def test_flows_without_their_sum_are_added_up() -> None:
    reading = one(FLOWS)
    assert reading.parameters["flows"] == 4
    assert reading.value("throughput_bps") == pytest.approx(30.1e9)
    assert reading.value("received_bytes") == pytest.approx(4 * 8.75 * GIBI)
    assert reading.value("retransmits") == 12
    assert reading.value("throughput_bps", "9") == 7.54e9


def test_some_flows_of_several_are_no_whole() -> None:
    starting = "Starting Test: protocol: TCP, 4 streams, 131072 byte blocks, omitting 0 seconds, 10 second test\n"
    reading = one(CONNECTING + starting + HEAD + "\n".join(FLOWS.splitlines()[:4]) + "\n")
    assert figures(reading) == {}
    assert reading.error == "Rows of 2 of 4 flows stand here without their sum: the whole isn't known."


def test_the_first_interval_of_iperf_2_is_not_its_total() -> None:
    head = (
        "Client connecting to 10.0.0.2, TCP port 5001\n[  1] local 10.0.0.1 port 5 connected with 10.0.0.2 port 5001\n"
    )
    for row in ("0.0000-1.0000 sec  1.10 GBytes  9.41 Gbits/sec", "0.0- 1.0 sec  1.10 GBytes  9.41 Gbits/sec"):
        reading = one(f"{head}[  1] {row}\n")
        assert (figures(reading), reading.error) == ({}, "The test has no summary: it was cut off.")
    whole = one(f"{head}[  1] 0.0000-1.0000 sec  1.10 GBytes  9.41 Gbits/sec\n"
                "[  1] 0.0000-1.0021 sec  1.10 GBytes  9.40 Gbits/sec\n")  # fmt: skip
    assert (whole.value("throughput_bps"), whole.error) == (9.40e9, "")


def test_flows_of_iperf_2_without_their_sum_are_added_up() -> None:
    reading = one(
        "[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec\n[  4]  0.0-10.0 sec  1.00 GBytes   859 Mbits/sec\n"
    )
    assert reading.value("throughput_bps") == pytest.approx(1.8e9)


def test_a_doubled_row_of_datagrams_is_not_what_arrived() -> None:
    row = "212992    1472   10.00      4865201      0    5729.04\n"
    reading = one(BANNER.format(test="UDP STREAM") + UDP_HEAD + row + row)
    assert reading.value("send_throughput_bps") == pytest.approx(5729.04e6)
    assert reading.value("throughput_bps") is None
    assert "The line of what was received is missing." in reading.remarks


# --- 3. Nothing known is nothing stored. ---
def test_a_bound_is_no_latency() -> None:
    reading = one(
        "Pinging 10.0.0.2 with 32 bytes of data:\nReply from 10.0.0.2: bytes=32 time<1ms TTL=64\n\n"
        "Ping statistics for 10.0.0.2:\n    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),\n"
        "Approximate round trip times in milli-seconds:\n    Minimum = 0ms, Maximum = 0ms, Average = 0ms\n"
    )
    assert figures(reading) == {"sent_probes": 4, "received_probes": 4, "lost_probes": 0, "loss_ratio": 0}
    assert "latency_mean_seconds of 0ms is left out: it is below what the tool can tell." in reading.remarks


def test_a_rate_of_nothing_beside_packets_is_unknown() -> None:
    sar = one(
        "10:00:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n"
        "Average:         eth0  70000.00     50.00      0.00      5.00      0.00      0.00      0.00      0.01\n"
    )
    assert sar.value("nic_rx_bytes_per_second") is None
    assert sar.value("nic_tx_bytes_per_second") == 5120
    netperf = one(
        BANNER.format(test="UDP STREAM") + "Socket  Message  Elapsed      Messages\nbytes   bytes    secs            #"
        "      #   10^9bits/sec\n212992       1   10.00        70000      0       0.00\n"
        "212992           10.00        70000              0.00\n"
    )
    assert (netperf.value("throughput_bps"), netperf.value("received_packets")) == (None, 70000)


def test_what_the_receiver_never_told_is_unknown() -> None:
    sender = "[  5]   0.00-10.00  sec  11.9 MBytes  10.0 Mbits/sec  0.000 ms  0/8632 (0%)  sender\n"
    reading = one(CONNECTING + RULE + DATAGRAM_HEAD + sender)
    assert figures(reading) == pytest.approx(
        {
            "send_throughput_bps": 10e6,
            "sent_bytes": 11.9 * MEBI,
            "sent_packets": 8632,
            "send_packets_per_second": 863.2,
        }
    )
    silent = "[  5]   0.00-10.00  sec  0.00 Bytes  0.00 bits/sec  0.000 ms  0/0 (0%)  receiver\n"
    assert figures(one(CONNECTING + RULE + DATAGRAM_HEAD + sender + silent)) == figures(reading)
    lost = "[  5]   0.00-10.00  sec  0.00 Bytes  0.00 bits/sec  0.000 ms  8632/8632 (100%)  receiver\n"
    assert one(CONNECTING + RULE + DATAGRAM_HEAD + sender + lost).value("loss_ratio") == 1


def test_one_datagram_has_no_jitter() -> None:
    row = "[  5]   0.00-10.00  sec  1.41 KBytes  1.16 Kbits/sec  28487.952 ms  0/1 (0%)  receiver\n"
    reading = one(CONNECTING + RULE + DATAGRAM_HEAD + row)
    assert reading.value("jitter_seconds") is None
    assert (reading.value("lost_packets"), reading.value("received_packets")) == (0, 1)


def test_a_wrapped_counter_is_no_count() -> None:
    row = "[  5]   0.00-10.00  sec  11.5 GBytes  9.88 Gbits/sec  4294967294             sender\n"
    reading = one(CONNECTING + RULE + HEAD + row)
    assert (reading.value("retransmits"), reading.value("send_throughput_bps")) == (None, 9.88e9)
    document = {
        "start": {"version": "iperf 3.9", "test_start": {"protocol": "TCP", "num_streams": 1}},
        "end": {"sum_sent": {"bits_per_second": 1e9, "bytes": 1e9, "retransmits": 4294967294}},
    }
    assert one(json.dumps(document)).value("retransmits") is None


def test_a_loss_of_none_that_only_the_sender_tells_is_unknown() -> None:
    sent = {"bits_per_second": 1e6, "bytes": 1.25e6, "packets": 863, "lost_packets": 0, "jitter_ms": 0}
    end: dict[str, Any] = {
        "sum": sent,
        "sum_sent": sent,
        "sum_received": {"bits_per_second": 0, "bytes": 0, "packets": 0},
    }
    start = {"version": "iperf 3.12", "test_start": {"protocol": "UDP", "num_streams": 1}}
    reading = one(json.dumps({"start": start, "end": end, "error": "interrupt - the client has terminated"}))
    assert (reading.value("loss_ratio"), reading.value("throughput_bps")) == (None, None)
    assert reading.value("send_throughput_bps") == 1e6


@pytest.mark.parametrize("number", ["1e 5", "1e999", "1e5"])
@pytest.mark.parametrize(
    "text",
    [
        "Running 1s test @ http://10.0.0.2/\n  2 threads and 1 connections\n  5 requests in {}s, 1.0MB read\n",
        "sockperf: [Total Run] RunTime={} sec; SentMessages=1; ReceivedMessages=1\n",
        "tcp_bw:\n    bw  =  1 GB/sec\n    time = {} sec\n",
        "Starting 2 threads running profile:x ...   0.00 seconds\nTotal  1GB /  {}(s) =  1Gb/s  7op/s\n",
        "0\tMethod: MEMCPY\tElapsed: 0.1\tMiB: {}\tCopy: 2699.511 MiB/s\n",
        BANNER.format(test="TCP STREAM") + "Interim result: 1.0 10^6bits/s over {} seconds ending at 1.1\n",
        "Server Hostname: a\nTime taken for tests: {} seconds\nComplete requests: 5\n",
        "Summary:\n  Total:\t{} secs\n  Slowest:\t1.0 secs\n  Requests/sec:\t1.0\n",
        "  112.5 MB /   {} sec =  944.2457 Mbps 1 %TX 2 %RX 0 retrans\n",
        "nuttcp-t: 112.5 MB in {} real seconds = 1.0 KB/sec = 944.2457 Mbps\n",
        "NTTTCP for Linux 1.4.0\n13:20:26 INFO: test duration :{} seconds\n13:20:26 INFO: throughput :94.89Gbps\n",
        "Bytes(MEG)    realtime(s) Avg Frame Size Throughput(MB/s)\n1.0 {} 1459.983 1130.887\n",
        '<ntttcps version="5.40">\n<realtime metric="s">{}</realtime>\n</ntttcps>\n',
        "Send BW Test\n #bytes #iterations BW average[MB/sec] MsgRate[Mpps]\n {} 1000 2757.93 0.044127\n",
    ],
)
def test_a_number_beyond_any_or_without_its_sign_is_no_crash(text: str, number: str) -> None:
    for reading in read_text(text.format(number)):
        assert all(isinstance(value, str) or value < 1e30 for value in reading.parameters.values())


# --- 4. A thing is what its head says. ---
def test_shares_of_cpu_are_no_packets() -> None:
    row = "10:00:02 AM     all      1.00      0.00      2.00      0.10      0.00     96.90\n"
    for head in (
        "10:00:01 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n",
        "Linux 6.1.0 (a)  11/30/2026 _x86_64_ (4 CPU)\n\n"
        "10:00:01 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n",
        "",
    ):
        document = read_text(
            head + row + "Average:        all      1.00      0.00      2.00      0.10      0.00     96.90\n"
        )
        assert document.readings == ()
        assert not head or "Of sar's tables only that of -n DEV is read." in [each.reason for each in document.unread]
    disk = "10:00:02 AM  dev8-0  1.00  2.00  3.00  4.00  5.00  6.00  7.00\n"
    assert read_text(disk).readings == ()


def test_sar_of_cpus_and_interfaces_gives_the_interfaces() -> None:
    [reading] = read_text(
        "Linux 6.1.0 (a)  11/30/2026 _x86_64_ (4 CPU)\n\n"
        "10:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
        "10:00:02        all      1.00      0.00      2.00      0.10      0.00     96.90\n\n"
        "10:00:01      IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n"
        "10:00:02       eth0    100.00     50.00     10.00      5.00      0.00      0.00      0.00      0.01\n\n"
        "10:00:02        CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
        "10:00:03        all      1.00      0.00      2.00      0.10      0.00     96.90\n\n"
        "10:00:02      IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n"
        "10:00:03       eth0    300.00     50.00     30.00      5.00      0.00      0.00      0.00      0.01\n"
    )
    assert (reading.parameters["interface"], reading.value("nic_rx_packets_per_second")) == ("eth0", 200)
    assert str(reading.began_at) == "2026-11-30 10:00:02+00:00"


def test_a_row_of_requests_without_its_banner_could_be_three_tests() -> None:
    row = "16384  131072 1        1       10.00    28428.60\n16384  131072\n"
    document = read_text(row)
    [reading] = document
    assert (reading.kind, "TCP_CRR" in reading.error) == (None, True)
    named = one("$ netperf -H 10.0.0.2 -t TCP_CRR -P 0\n" + row)
    assert (named.kind, named.value("transactions_per_second"), named.error) == ("tcp_crr", 28428.60, "")


def test_a_rate_in_the_unit_that_its_command_asked_for() -> None:
    assert one("$ netperf -H 10.0.0.2 -v 0 -P 0 -f g\n9.41\n").value("throughput_bps") == pytest.approx(9.41e9)
    assert one("$ netperf -H 10.0.0.2 -v 0 -P 0 -f K\n2048\n").value("throughput_bps") == 2048 * 1024 * 8


def test_a_rate_without_a_unit_is_not_guessed() -> None:
    unnamed = one("THROUGHPUT=20950.23\nELAPSED_TIME=10.00\n")
    assert unnamed.figures == []
    assert unnamed.remarks == ["THROUGHPUT of 20950.23 has no unit here: left out."]
    named = one(BANNER.format(test="TCP REQUEST/RESPONSE") + "THROUGHPUT=20950.23\nELAPSED_TIME=10.00\n")
    assert figures(named) == {"transactions_per_second": 20950.23}


def test_a_banner_over_another_tests_row_is_no_result() -> None:
    reading = one(BANNER.format(test="TCP REQUEST/RESPONSE") + "131072  16384  16384    10.00    9410.12  \n\n")
    assert figures(reading) == {}
    assert "columns" in reading.error


def test_a_document_tells_the_addresses_and_buffers_of_its_own_end() -> None:
    def read(start: dict[str, Any], *, reverse: int) -> Reading:
        begin = {
            "version": "iperf 3.12",
            "connected": [{"local_host": "10.0.0.1", "remote_host": "10.0.0.2"}],
            "sndbuf_actual": 16384,
            "rcvbuf_actual": 131072,
            "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": reverse},
        }
        return one(json.dumps({"start": begin | start, "end": {"sum_sent": {"bits_per_second": 1e9}}}))

    client = read({"connecting_to": {"host": "10.0.0.2"}}, reverse=0)
    assert (client.parameters["source_address"], client.parameters["source_socket_buffer_bytes"]) == ("10.0.0.1", 16384)
    assert "sink_socket_buffer_bytes" not in client.parameters
    reverse = read({"connecting_to": {"host": "10.0.0.2"}}, reverse=1)
    assert (reverse.parameters["source_address"], reverse.parameters["sink_address"]) == ("10.0.0.2", "10.0.0.1")
    assert reverse.parameters["sink_socket_buffer_bytes"] == 131072
    server = read({"accepted_connection": {"host": "10.0.0.1"}}, reverse=0)
    assert server.parameters["sink_address"] == "10.0.0.1"


# --- 5. Figures that deny each other are said, and figures that don't are not accused. ---
def test_a_synchronous_engine_has_one_operation_in_flight() -> None:
    text = (
        "j: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=32\n"
        "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\nfio-3.36\n"
        "j: (groupid=0, jobs=1): err= 0: pid=1: Thu Jan  1 00:00:00 2026\n"
        "  read: IOPS=10.0k, BW=39.1MiB/s (41.0MB/s)(391MiB/10001msec)\n"
        "     lat (usec): min=10, max=199, avg=80.00, stdev=1.00\n"
    )
    reading = one(text)
    # 10,000 a second of 80 µs are 0.8 at a time: the core computes the rest.
    assert (reading.parameters["depth"], [each for each in reading.remarks if "in flight" in each]) == (1, [])
    assert "1.6 in flight, but the depth is 1" in one(text.replace("avg=80.00", "avg=160.00")).remarks[0]


def test_a_percentage_that_is_not_its_fraction_is_said() -> None:
    row = "[  5]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.006 ms  90/900 (1%)  receiver\n"
    reading = one(CONNECTING + RULE + DATAGRAM_HEAD + row)
    assert reading.value("loss_ratio") == 0.1
    assert "1 % is printed beside 90/900, which is 10 %: the counts are taken." in reading.remarks


def test_a_second_that_no_interface_carries_is_left_out() -> None:
    reading = one(
        "10:00:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n"
        "Average:         eth0  70000.00     50.00  268435456.00  5.00      0.00      0.00      0.00      0.01\n"
    )
    assert reading.value("nic_rx_bytes_per_second") is None
    assert any("no interface carries as much" in remark for remark in reading.remarks)


# --- 6. Silence is a defect. ---
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("64 Bytes von 10.0.0.2: icmp_seq=1 TTL=64 Zeit=0.045 ms", "ping in this language isn't read"),
        ("    Pakete: Gesendet = 4, Empfangen = 4, Verloren = 0", "ping in this language isn't read"),
        ("Respuesta desde 10.0.0.2: bytes=32 tiempo<1m TTL=64", "ping in this language isn't read"),
        (
            "nuttcp-r: megabytes=1024.0000 real_seconds=10.00 rate_KBps=104857.60 rate_Mbps=858.9935",
            "nuttcp -v -fparse",
        ),
        ("Requests per second:    9543.21 [#/sec] (mean)", "No test begins here"),
        ("procs -----------memory---------- ---swap-- -----io----", "Outputs of vmstat aren't read."),
        ("09:00:01 AM       tps      rtps      wtps   bread/s   bwrtn/s", "Of sar's tables only that of -n DEV"),
        ("Average latency: 1.23 ms", "No test begins here"),
        ("node-a  9.41 Gbit/s  0.045 ms  0.01 %", "No test begins here"),
        ("[  5]   1.00-2.00   sec  garbled", "No test begins here"),
        ('{"something": {"else": 1}}', "This JSON is no result of a tool that is read."),
        ('{"start": {"version": "iperf 3.12"', "A JSON document begins here and doesn't end"),
    ],
)
def test_a_line_of_a_tool_that_is_not_read_is_told_with_why(line: str, reason: str) -> None:
    document = read_text(f"Some words.\n{line}\n")
    assert document.readings == ()
    assert [(each.line, reason in each.reason) for each in document.unread] == [(2, True)]


@pytest.mark.parametrize(
    "line",
    [
        "The throughput was 9.4 Gbit/s.",
        "| zone | 9.4 Gbit/s |",
        "$ iperf3 -c 10.0.0.2 -t 10 -b 10M",
        "We ran it 3 times, 60 s each, on 2 hosts.",
        "# 4. Results of 2019",
    ],
)
def test_what_a_person_wrote_is_not_told(line: str) -> None:
    assert read_text(f"{line}\n").unread == ()


# --- 9. A failed answer is not a rate. ---
def test_a_rate_of_errors_measures_nothing() -> None:
    text = (
        "Running 1s test @ http://10.0.0.2/\n  2 threads and 10 connections\n"
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   635.91us    0.89ms  12.92ms   93.69%\n"
        "    Req/Sec    56.20k     8.07k   62.00k    86.54%\n  135071 requests in 1.10s, 40.00MB read\n"
        "  Non-2xx or 3xx responses: {failed}\nRequests/sec: 122791.82\nTransfer/sec:     36.36MB\n"
    )
    [failed] = trials_of(read_text(text.format(failed=135071)))[0]
    assert failed.error == "All 135,071 responses were errors, other than 2xx and 3xx: their rate measures nothing."
    [some] = trials_of(read_text(text.format(failed=20000)))[0]
    assert (some.error, some.flags) == ("", ["responses_failed"])
    [few] = trials_of(read_text(text.format(failed=20)))[0]
    assert (few.error, few.flags) == ("", [])


# --- Documents within documents. ---
def test_results_within_other_programs_documents_are_read() -> None:
    document = {
        "start": {"version": "iperf 3.12", "test_start": {"protocol": "TCP", "num_streams": 1}},
        "end": {"sum_sent": {"bits_per_second": 8e9}, "sum_received": {"bits_per_second": 7e9, "bytes": 1}},
    }
    listed = read_text(json.dumps([document, document], indent=2))
    assert [each.value("throughput_bps") for each in listed] == [7e9, 7e9]
    ansible = {
        "changed": True,
        "rc": 0,
        "stdout": BANNER.format(test="TCP STREAM") + "131072 16384 16384 10.00 9410.12\n",
    }
    assert one(json.dumps(ansible)).value("throughput_bps") == pytest.approx(9410.12e6)
    nested = {"results": [{"item": "a", "stdout": json.dumps(document)}]}
    assert one(json.dumps(nested)).value("send_throughput_bps") == 8e9


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda text: json.dumps({"stdout": text, "stdout_lines": text.splitlines()}),
        lambda text: "node-a | CHANGED => " + json.dumps({"rc": 0, "stdout": text}, indent=4),
        lambda text: 'ok: [node-a] => {\n    "result.stdout_lines": ' + json.dumps(text.splitlines(), indent=8) + "\n}",
        lambda text: json.dumps([text]),
        lambda text: json.dumps({"runs": [{"result-full": [{"succeeded": True, "diags": text}]}]}),
        lambda text: json.dumps({"payload": json.dumps({"client": {"printed": text}})}),
        # By a terminal (`ssh -tt`), whose lines end otherwise.
        lambda text: json.dumps({"stdout": text.replace("\n", "\r\n"), "stdout_lines": text.splitlines()}),
        lambda text: json.dumps({"result": {"diags": text}, "diags": text}),
    ],
)
def test_what_a_tool_printed_is_found_wherever_a_document_keeps_it(wrapped: Callable[[str], str]) -> None:
    text = BANNER.format(test="TCP STREAM") + "131072 16384 16384 10.00 9410.12\n"
    assert one(wrapped(text)).value("throughput_bps") == pytest.approx(9410.12e6)
    two = json.loads(json.dumps([text, text.replace("9410.12", "9420.00")]))
    assert [round(each.value("throughput_bps") or 0) for each in read_text(json.dumps(two))] == [9410120000, 9420000000]


@pytest.mark.parametrize(
    "told",
    [
        lambda result: [{"host": "a", **result}, {"host": "b", **result}],
        lambda result: {"hosts": {"a": result, "b": result}},
        lambda result: [result["stdout"], result["stdout"]],
    ],
)
def test_what_two_hosts_printed_alike_are_two_results(told: Callable[[dict[str, str]], object]) -> None:
    text = BANNER.format(test="TCP STREAM") + "131072 16384 16384 10.00 9410.12\n"
    document = read_text(json.dumps(told({"stdout": text})))
    assert [reading.value("throughput_bps") for reading in document] == [pytest.approx(9410.12e6)] * 2


def test_samples_of_perfkitbenchmarker_are_results_in_a_list_and_one_a_line() -> None:
    sample = {
        "metric": "TCP_STREAM_Throughput",
        "value": 9410.12,
        "unit": "Mbits/sec",
        "test": "netperf",
        "timestamp": 1758362400.25,
        "metadata": {"ip_type": "internal", "netperf_version": "2.7.0"},
    }
    took = sample | {"metric": "End to End Runtime", "value": 61.2, "unit": "seconds"}
    for text in (json.dumps([sample, took]), json.dumps(sample) + "\n" + json.dumps(took) + "\n"):
        reading = one(text)
        assert (reading.tool, reading.test, reading.kind) == ("netperf", "TCP_STREAM_Throughput", None)
        assert reading.value("throughput_bps") == 9410.12e6
        assert (reading.parameters, str(reading.began_at)) == (
            {"ip_type": "internal"},
            "2025-09-20 10:00:00.250000+00:00",
        )


PLAIN = CONNECTING + RULE + HEAD + "[  5]   0.00-10.00  sec  11.5 GBytes  9.88 Gbits/sec    0             sender\n"


@pytest.mark.parametrize(
    ("prefix", "at"),
    [
        ("2026-11-30T10:00:00.123456789Z ", "2026-11-30 10:00:00+00:00"),
        ("2026-11-30T10:00:00.123456789Z stdout F ", "2026-11-30 10:00:00+00:00"),
        ("Nov 30 10:00:00 node-a iperf3[4711]: ", "None"),
        ("1758362400.25 ", "2025-09-20 10:00:00.250000+00:00"),
        ("client-1  | ", "None"),
        ("- ", "None"),
        ("Nov 30 10:00:00 ", "None"),
        ("<13>1 2026-11-30T10:00:00.5Z node-a iperf3 4711 - - ", "2026-11-30 10:00:00+00:00"),
        ("2026-11-30T10:00:00+0000 node-a iperf3[4711]: ", "2026-11-30 10:00:00+00:00"),
        ("2026-11-30 10:00:00,123 - bench - INFO - ", "2026-11-30 10:00:00+00:00"),
        ("2026-11-30T10:00:00.123456Z 01O ", "2026-11-30 10:00:00+00:00"),
        ("[2026-11-30T10:00:00.123Z] ", "2026-11-30 10:00:00+00:00"),
        ("[10:00:00] ", "None"),
        ("1758362400250 ", "2025-09-20 10:00:00.250000+00:00"),
        ("[1758362400.25] ", "2025-09-20 10:00:00.250000+00:00"),
        # A name, then a time.
        ("bench-client-1  | 2026-11-30T10:00:00Z ", "2026-11-30 10:00:00+00:00"),
        ("client  | ", "None"),
        ("[pod/iperf3-x7/client] 2026-11-30T10:00:00Z ", "2026-11-30 10:00:00+00:00"),
        ("[node-a] out: ", "None"),
        ("node-a: ", "None"),
    ],
)
def test_what_stands_before_each_line_is_taken_off(prefix: str, at: str) -> None:
    reading = one("".join(f"{prefix}{line}\n" for line in PLAIN.splitlines()))
    assert (reading.value("send_throughput_bps"), str(reading.began_at)) == (9.88e9, at)


@pytest.mark.parametrize("hours", [(10, 10, 10, 10), (10, 11, 12, 13)])
def test_times_of_sars_own_rows_are_no_prefix(hours: tuple[int, ...]) -> None:
    rows = [f"{hour}:23:0{index} PM eth0 {index}.00 2.00 3.00 4.00 0.00 0.00 0.00" for index, hour in enumerate(hours)]
    for text in ("\n".join(rows), "```\n" + "\n".join(rows) + "\n```\n"):
        assert [each.at for each in one(text).intervals] == [f"{hour}:23:0{n} PM" for n, hour in enumerate(hours)]
    numbered = "\n".join(f"{number}:{row}" for number, row in enumerate(rows, 1))
    assert len(one(numbered).intervals) == len(rows)


def test_a_log_in_a_fenced_block_of_a_report_is_read_by_itself() -> None:
    prose = "".join(f"Some words of a person, {number} of them.\n" for number in range(40))
    log = "".join(f"Nov 30 10:00:00 node-a iperf3[4711]: {line}\n" for line in PLAIN.splitlines())
    stamped = "".join(f"2026-11-30T10:00:00Z {line}\n" for line in PLAIN.splitlines())
    first, second, third = read_text(f"{prose}```\n{log}```\n{prose}```text\n{stamped}```\n{prose}```\n{PLAIN}```\n")
    assert [each.value("send_throughput_bps") for each in (first, second, third)] == [9.88e9] * 3
    assert [str(each.began_at) for each in (first, second, third)] == ["None", "2026-11-30 10:00:00+00:00", "None"]
    assert second.lines.first == 40 + 2 + len(PLAIN.splitlines()) + 40 + 2


def test_a_stamp_of_an_empty_line_has_no_blank_behind_it() -> None:
    text = BANNER.format(test="TCP STREAM") + "\n131072 16384 16384 10.00 9410.12\n"
    stamped = "".join(f"2026-11-30T10:00:00Z {line}".rstrip() + "\n" for line in text.splitlines())
    assert one(stamped).value("throughput_bps") == pytest.approx(9410.12e6)


def test_two_words_of_a_tool_behind_a_stamp_are_no_program() -> None:
    for stamp in ("2026-11-30 10:00:00,123 INFO ", "Nov 30 10:00:00 "):
        lines = [
            "Running 1s test @ http://10.0.0.1/",
            "  2 threads and 10 connections",
            "  1000 requests in 1.00s, 4.00MB read",
        ]
        reading = one("".join(f"{stamp}{line}\n" for line in [*lines, "Requests/sec:   1000.00"]))
        assert reading.value("requests_per_second") == 1000.0


@pytest.mark.parametrize(
    "logged",
    [
        {"log": "{}\n", "stream": "stdout", "time": "2026-11-30T10:00:00.5Z"},
        {"@timestamp": "2026-11-30T10:00:00Z", "message": "{}"},
    ],
)
def test_a_logger_s_document_for_each_line_is_the_line(logged: dict[str, str]) -> None:
    name = "log" if "log" in logged else "message"
    lines = [json.dumps(logged | {name: logged[name].format(line)}) for line in PLAIN.splitlines()]
    reading = one("\n".join(lines))
    assert (reading.value("send_throughput_bps"), str(reading.began_at)) == (9.88e9, "2026-11-30 10:00:00+00:00")


def test_numbers_before_each_line_are_taken_off() -> None:
    for form in ("{}:{}\n", "{}. {}\n", "({}) {}\n", "     {}\t{}\n"):
        text = "".join(form.format(number, line) for number, line in enumerate(PLAIN.splitlines(), 1))
        assert one(text).value("send_throughput_bps") == 9.88e9
