"""Outputs of real tools and oddities of theirs, one by one."""

import gzip
import json
from pathlib import Path

import pytest

from benchweb.toolformats.document import read_bytes, read_text
from benchweb.toolformats.plain_text import MAX_BYTES
from benchweb.toolformats.readings import Reading, ToolFormatError

FOLDER = Path(__file__).parent / "outputs"


def one(name: str) -> Reading:
    [reading] = read_bytes((FOLDER / name).read_bytes())
    return reading


def one_of(text: str) -> Reading:
    [reading] = read_text(text)
    return reading


def test_netperf_with_cpu_and_verbose() -> None:
    stream = one("netperf_cpu.txt")
    assert stream.value("throughput_bps") == pytest.approx(11149.18e6)
    assert stream.value("source_cpu_ratio") == 1.0
    assert stream.value("sink_cpu_ratio") == 1.0
    request = one("netperf_rr_verbose.txt")
    assert request.value("transactions_per_second") == 28428.60
    assert request.value("latency_mean_seconds") == pytest.approx(35.176e-6)


def test_netperf_omni_in_its_three_forms() -> None:
    columns = one("netperf_omni_columns.txt")
    assert columns.value("throughput_bps") == pytest.approx(8367.92e6)
    assert columns.parameters["message_size_bytes"] == 16384
    csv = one("netperf_omni_csv.txt")
    assert (csv.kind, csv.value("transactions_per_second")) == ("tcp_rr", 27459.13)
    assert csv.value("latency_p99_seconds") == pytest.approx(614e-6)
    keys = one("netperf_omni_keys.txt")
    assert (keys.test, keys.value("transactions_per_second")) == ("TCP_CRR", 4020.81)


def test_netperf_without_banner_is_told_by_its_shape() -> None:
    stream = one_of("131072  16384     64    60.01      19.29\n")
    assert stream.test == "TCP_STREAM"
    assert stream.value("throughput_bps") == pytest.approx(19.29e6)
    assert "No banner" in stream.remarks[0]
    datagrams = one_of(
        "212992      64   60.00      864814      0       7.38\n212992           60.00      466202              3.98\n"
    )
    assert (datagrams.test, datagrams.value("received_packets")) == ("UDP_STREAM", 466202)
    alone = one_of("$ netperf -H 10.0.0.2 -t TCP_RR -v 0 -P 0\n28428.60\n")
    assert (alone.test, alone.value("transactions_per_second")) == ("TCP_RR", 28428.60)


def test_netperf_in_bytes_by_powers_of_two() -> None:
    text = (
        "MIGRATED TCP MAERTS TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\n"
        "Recv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\n"
        "bytes  bytes   bytes    secs.    MBytes  /sec\n\n131072  16384  16384    10.00     1246.24\n"
    )
    reading = one_of(text)
    assert reading.value("throughput_bps") == pytest.approx(1246.24 * 2**20 * 8)
    assert reading.parameters["direction"] == "reverse"


def test_a_banner_without_a_table_was_cut_off() -> None:
    reading = one_of("MIGRATED TCP STREAM TEST from 0.0.0.0 port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\n")
    assert (reading.figures, "cut off" in reading.error) == ([], True)


def test_iperf3_in_both_directions() -> None:
    reading = one("iperf3_bidir.txt")
    assert (reading.version, reading.parameters["flows"], reading.parameters["direction"]) == (
        "3.12",
        2,
        "bidirectional",
    )
    assert reading.value("throughput_bps") == reading.value("reverse_throughput_bps") == 10.5e6
    assert reading.value("throughput_bps", "5") == 5.24e6
    assert len(reading.intervals) == 12


def test_iperf3_s_own_default_is_taken_where_no_size_of_a_write_is_printed() -> None:
    row = "[  5]   0.00-10.00  sec  17.3 GBytes  14.9 Gbits/sec  170             sender\n"
    head = "[ ID] Interval           Transfer     Bitrate         Retr\n"
    connecting = "Connecting to host 192.0.2.9, port 5201\n"
    silent = one_of(f"{connecting}- - - - -\n{head}{row}")
    assert silent.parameters["message_size_bytes"] == 131072
    assert silent.remarks == ["The size of a write isn't printed: iperf3's default of 128 KiB is taken."]
    starting = "Starting Test: protocol: TCP, 1 streams, 4096 byte blocks, omitting 0 seconds, 10 second test\n"
    told = one_of(f"{connecting}{starting}- - - - -\n{head}{row}")
    assert (told.parameters["message_size_bytes"], told.remarks) == (4096, [])


def test_iperf3_s_datagrams_have_a_size_only_where_it_is_printed() -> None:
    row = "[  5]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.006 ms  0/906 (0%)  receiver\n"
    head = "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
    connecting = "Connecting to host 192.0.2.9, port 5201\n"
    silent = one_of(f"{connecting}- - - - -\n{head}{row}")
    assert "message_size_bytes" not in silent.parameters
    assert silent.remarks == ["The size of datagrams isn't printed: it isn't known."]
    told = one_of(f"{connecting}Setting UDP block size to 1448\n- - - - -\n{head}{row}")
    assert (told.parameters["message_size_bytes"], told.remarks) == (1448, [])


def test_iperf3_json_of_datagrams_and_of_errors() -> None:
    reading = one("iperf3_udp.json")
    assert (reading.kind, reading.parameters["flows"], reading.value("total_packets")) == ("udp_stream", 2, 78)
    assert reading.value("throughput_bps") == 10222460.861922603
    failed = one_of('{"start": {"version": "iperf 3.9"}, "error": "unable to connect to server: Connection refused"}')
    assert failed.error == "unable to connect to server: Connection refused"
    assert failed.figures == []


def test_iperf3_json_that_is_none() -> None:
    """`nan`, an exponent without its sign, text before and behind, the document twice."""
    document = (
        '{"start": {"version": "iperf 3.1.3"}, "intervals": [], "end": {"sum_sent": {"bits_per_second": 5.9e 06},'
        ' "sum_received": {"bits_per_second": nan}}}'
    )
    readings = read_text(f"warning: something\n{document}\niperf3: error - it ended\n{document}\n").readings
    assert [each.value("send_throughput_bps") for each in readings if each.figures] == [5.9e6, 5.9e6]
    assert all(each.value("throughput_bps") is None for each in readings)


def test_iperf3_as_a_stream_of_events() -> None:
    events = [
        {"event": "start", "data": {"version": "iperf 3.17", "test_start": {"protocol": "TCP", "num_streams": 1}}},
        {"event": "interval", "data": {"sum": {"start": 0, "end": 1, "bits_per_second": 8e9, "bytes": 1e9}}},
        {"event": "end", "data": {"sum_sent": {"bits_per_second": 8e9}, "sum_received": {"bits_per_second": 7.9e9}}},
    ]
    reading = one_of("\n".join(json.dumps(event) for event in events))
    assert (reading.value("throughput_bps"), len(reading.intervals)) == (7.9e9, 1)


def test_iperf3_counters_below_zero_are_no_numbers() -> None:
    document = {"start": {"version": "iperf 3.0"}, "end": {"sum_sent": {"bits_per_second": -1.0, "bytes": -5}}}
    assert one_of(json.dumps(document)).figures == []


def test_iperf2_with_flows_and_datagrams() -> None:
    flows = one("iperf2.txt")
    assert (flows.parameters["flows"], flows.value("throughput_bps"), flows.value("throughput_bps", "1")) == (
        2,
        11.0e6,
        5.47e6,
    )
    datagrams = one("iperf2_udp.txt")
    assert datagrams.value("send_throughput_bps") == 1.01e6
    assert datagrams.value("jitter_seconds") == pytest.approx(2e-6)
    assert datagrams.value("total_packets") == 174


def test_wrk_with_latencies_and_wrk2() -> None:
    reading = one("wrk.txt")
    assert reading.value("latency_p99_seconds") == pytest.approx(24.67e-3)
    assert reading.value("failed_responses") == 2100
    text = (
        "Running 30s test @ http://10.0.0.2/\n  2 threads and 100 connections\n"
        "  Thread calibration: mean lat.: 9747us, rate sampling interval: 21ms\n"
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     1.50m     2.00s     2.08m    58.00%\n"
        "    Req/Sec     -nan      -nan     0.00      0.00%\n"
        "  Latency Distribution (HdrHistogram - Recorded Latency)\n"
        " 50.000%    6.67us\n 99.900%    1.20s\n100.000%    2.08m\n"
        "  60018 requests in 30.00s, 19.81MB read\nRequests/sec:   2000.28\nTransfer/sec:    676.18KB\n"
    )
    second = one_of(text)
    assert second.tool == "wrk2"
    assert second.value("latency_mean_seconds") == 90
    assert second.value("latency_p50_seconds") == pytest.approx(6.67e-6)
    assert second.value("latency_p999_seconds") == 1.2
    assert second.value("thread_requests_per_second_mean") is None
    assert second.error == ""


PINGS = {
    "busybox": (
        "PING 10.0.0.2 (10.0.0.2): 56 data bytes\n64 bytes from 10.0.0.2: seq=0 ttl=64 time=0.029 ms\n\n"
        "--- 10.0.0.2 ping statistics ---\n2 packets transmitted, 2 packets received, 0% packet loss\n"
        "round-trip min/avg/max = 0.029/0.064/0.099 ms\n",
        (2, 0, 0.064e-3),
    ),
    "duplicates and errors": (
        "PING host (10.0.0.9) 56(84) bytes of data.\n64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=1.00 ms\n"
        "64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=2.00 ms (DUP!)\n"
        "From 10.0.0.1 icmp_seq=2 Destination Host Unreachable\n\n"
        "--- host ping statistics ---\n3 packets transmitted, 1 received, +1 duplicates, +1 errors, "
        "66.6667% packet loss, time 2003ms\n"
        "rtt min/avg/max/mdev = 1.000/1.500/2.000/0.500 ms, pipe 3\n",
        (3, 2, 1.5e-3),
    ),
    "windows": (
        "Pinging 10.0.0.2 with 32 bytes of data:\nReply from 10.0.0.2: bytes=32 time<1ms TTL=64\n\n"
        "Ping statistics for 10.0.0.2:\n    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\n"
        "Approximate round trip times in milli-seconds:\n    Minimum = 0ms, Maximum = 4ms, Average = 2ms\n",
        (4, 1, 2e-3),
    ),
}


@pytest.mark.parametrize("name", PINGS)
def test_ping_of_many_systems(name: str) -> None:
    text, (sent, lost, mean) = PINGS[name]
    reading = one_of(text)
    assert reading.value("sent_probes") == sent
    assert reading.value("lost_probes") == lost
    assert reading.value("latency_mean_seconds") == pytest.approx(mean)
    assert len(reading.intervals) == (0 if name == "windows" else 1)


def test_ping_in_chinese_in_its_own_encoding() -> None:
    text = (
        "正在 Ping 10.0.0.2 具有 32 字节的数据:\r\n来自 10.0.0.2 的回复: 字节=32 时间=3ms TTL=64\r\n\r\n"
        "10.0.0.2 的 Ping 统计信息:\r\n    数据包: 已发送 = 4，已接收 = 4，丢失 = 0 (0% 丢失)，\r\n"
        "往返行程的估计时间(以毫秒为单位):\r\n    最短 = 1ms，最长 = 5ms，平均 = 3ms\r\n"
    )
    [reading] = read_bytes(text.encode("gb18030"))
    assert reading.value("sent_probes") == 4
    assert reading.value("latency_max_seconds") == pytest.approx(5e-3)


def test_a_ping_without_answers_has_no_latency() -> None:
    reading = one_of(
        "PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\n\n--- 10.0.0.9 ping statistics ---\n"
        "5 packets transmitted, 0 received, 100% packet loss, time 4099ms\n"
    )
    assert reading.value("loss_ratio") == 1.0
    assert reading.value("latency_mean_seconds") is None


def test_fio_as_text_and_what_breaks_littles_law() -> None:
    reading = one("fio_randread.txt")
    assert (reading.value("iops"), reading.parameters["depth"], reading.parameters["block_size_bytes"]) == (
        15500,
        4,
        4096,
    )
    assert reading.value("latency_mean_seconds") == pytest.approx(256.68e-6)
    assert reading.value("completion_latency_p99_seconds") == pytest.approx(2638e-6)
    assert reading.remarks == ["The time is the host's own, without its zone: taken as UTC."]
    older = (
        "job: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=32\nfio-2.2.8\n"
        "job: (groupid=0, jobs=1): err= 0: pid=1: Fri Sep 20 10:00:00 2019\n"
        "  read : io=246MB, bw=419.9KB/s, iops=104, runt=600010msec\n"
        "     lat (msec): min=1, max=90, avg=19.00, stdev= 2.00\n"
    )
    broken = one_of(older)
    assert (broken.version, broken.value("iops")) == ("2.2.8", 104)
    assert broken.value("bytes_per_second") == pytest.approx(419.9 * 1024)
    assert "Little's law: 104 IOPS × 19,000 µs = 1.976 in flight, but the depth is 32" in broken.remarks[0]
    for garbled in ("9" * 14, "9" * 20):
        assert one_of(older.replace("600010msec", f"{garbled}msec")).began_at is None


def test_fio_json_in_microseconds_and_nanoseconds() -> None:
    def document(key: str, mean: float) -> str:
        job = {"jobname": "j", "read": {"total_ios": 9, "iops": 100.0, "bw": 400, key: {"max": 9 * mean, "mean": mean}}}
        return json.dumps({"fio version": "fio-3.1", "global options": {"iodepth": "1", "rw": "read"}, "jobs": [job]})

    assert one_of(document("lat", 10_000.0)).value("latency_mean_seconds") == 0.01
    assert one_of(document("lat_ns", 10_000_000.0)).value("latency_mean_seconds") == 0.01
    assert one_of(document("lat_ns", 10_000_000.0)).value("bytes_per_second") == 409_600


def test_memory_tools() -> None:
    copies = {reading.test: reading for reading in read_bytes((FOLDER / "mbw.txt").read_bytes())}
    assert copies["MEMCPY"].value("memory_bytes_per_second") == pytest.approx(2699.511 * 2**20)
    assert len(copies["DUMB"].intervals) == 2
    assert one("sysbench_memory.txt").value("memory_bytes_per_second") == pytest.approx(2144.77 * 2**20)
    old = one_of(
        "sysbench 0.4.12:  multi-threaded system evaluation benchmark\nNumber of threads: 32\n"
        "Operations performed: 13107200 (3456789.01 ops/sec)\n102400.00 MB transferred (27006.16 MB/sec)\n"
    )
    assert (old.value("operations_per_second"), old.parameters["threads"]) == (3456789.01, 32)
    stream = one_of(
        "STREAM version $Revision: 5.10 $\nArray size = 100000000 (elements), Offset = 0 (elements)\n"
        "Function    Best Rate MB/s  Avg time     Min time     Max time\n"
        "Copy:           11866.7     0.135     0.134     0.136\nTriad:          13210.9     0.182     0.181     0.184\n"
        "-------------\nSolution Validates: avg error less than 1.000000e-13 on all three arrays\n"
    )
    assert stream.value("memory_bytes_per_second", "triad") == 13210.9e6
    assert stream.parameters["array_elements"] == 100_000_000


def test_half_round_trips_keep_their_name() -> None:
    reading = one("sockperf.txt")
    assert reading.value("half_round_trip_mean_seconds") == pytest.approx(17.010e-6)
    assert reading.value("latency_mean_seconds") is None
    bandwidth, latency, datagrams = read_bytes((FOLDER / "qperf.txt").read_bytes())
    assert bandwidth.value("throughput_bps") == 658e6 * 8
    assert latency.value("half_round_trip_mean_seconds") == pytest.approx(12.9e-6)
    assert datagrams.value("send_throughput_bps") == pytest.approx(1.64e9 * 8)


def test_flent_with_missing_samples_and_numbers_as_text() -> None:
    document = {
        "version": 4,
        "metadata": {"NAME": "rrul", "HOST": "10.0.0.2", "TIME": "2019-09-20T10:00:00Z", "LENGTH": 60},
        "x_values": [0.0, 0.2, 0.4],
        "results": {
            "Ping (ms) ICMP": [10.0, None, "20.0"],
            "TCP upload::1": [90.0, 100.0, 110.0],
            "none": [None, None, None],
        },
    }
    [reading] = read_bytes(gzip.compress(json.dumps(document).encode()))
    assert reading.value("latency_mean_seconds", "Ping (ms) ICMP") == pytest.approx(0.015)
    assert reading.value("throughput_bps", "TCP upload::1") == pytest.approx(100e6)
    assert "Ping (ms) ICMP: 1 of 3 samples are missing." in reading.remarks
    assert reading.began_at is not None


def test_sar_by_both_clocks_with_heads() -> None:
    reading = one_of(
        "Linux 5.10.0 (host) 09/20/19 _x86_64_ (4 CPU)\n\n"
        "18:06:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n"
        "18:06:02         eth0    100.00     50.00     10.00      5.00      0.00      0.00      0.00      0.01\n"
        "Average:         eth0    100.00     50.00     10.00      5.00      0.00      0.00      0.00      0.01\n"
    )
    assert reading.value("nic_rx_bytes_per_second") == 10240
    assert reading.value("nic_use_ratio") == pytest.approx(0.0001)
    assert reading.intervals[0].at == "18:06:02"


def test_sadf_json() -> None:
    device = {"iface": "eth0", "rxpck": 100.0, "txpck": 50.0, "rxkB": 10.0, "txkB": 5.0}
    statistic = {"timestamp": {"date": "2019-09-20", "time": "10:00:00"}, "network": {"net-dev": [device]}}
    reading = one_of(json.dumps({"sysstat": {"hosts": [{"nodename": "a", "statistics": [statistic]}]}}))
    assert list(reading.intervals[0].figures)[2].value == 10240
    assert reading.value("nic_rx_bytes_per_second") == 10240


def test_html_and_quotes_and_a_terminals_colours() -> None:
    row = "131072  16384     64    60.01      19.29"
    page = f"<html><body><p>As measured:</p><pre>{row}</pre><script>{row}</script></body></html>"
    assert len(read_text(page).readings) == 1
    assert one_of(f"> {row}\n").value("throughput_bps") == pytest.approx(19.29e6)
    assert one_of(f"\x1b[32m{row}\x1b[0m\r\n").value("throughput_bps") == pytest.approx(19.29e6)


def test_prose_is_nothing_and_a_stray_row_is_told() -> None:
    read = read_text("The throughput was 9.4 Gbit/s.\n\nRequests/sec:  17456.94\n")
    assert read.readings == ()
    assert [(each.line, each.text) for each in read.unread] == [(3, "Requests/sec:  17456.94")]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"x" * (MAX_BYTES + 1), "at most 5,242,880 are read"),
        (b"\x7fELF\0\0\0", "no text"),
        (gzip.compress(b"0" * 50_000_000), "more than is read at once"),
        (gzip.compress(b"hello there" * 99)[:-20], "cut off"),
        (b"\x1f\x8b\x08garbage that is no gzip", "damaged"),
    ],
    ids=("too large", "binary", "swells", "cut off", "damaged"),
)
def test_what_cant_be_read_is_refused_in_words(content: bytes, words: str) -> None:
    with pytest.raises(ToolFormatError, match=words):
        read_bytes(content)


@pytest.mark.parametrize("line", ["{", "[", '{"a":[', '{"a":"}', "<p><a ", '<p><a b="', "^C", "\x1b["])
def test_a_small_file_that_swells_to_hours_of_work_is_refused(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchweb.toolformats.plain_text.MOST_SECONDS", 0.05)
    content = gzip.compress(f"{line}\n".encode() * (6_000_000 // (len(line) + 1)))
    assert len(content) < 40_000
    with pytest.raises(ToolFormatError, match="takes too long to read"):
        read_bytes(content)


def test_what_follows_an_open_comment_is_read_as_it_stands() -> None:
    page = f"<pre>{(FOLDER / 'uperf.txt').read_text()}"
    [plain] = read_text(page).readings
    [after] = read_text("<p>" + "<!--" * 100_000 + "\n" + page).readings
    assert after.figures == plain.figures


def test_uperf_s_summary_by_host_its_interfaces_and_the_course_of_its_transactions() -> None:
    reading = one("uperf.txt")
    assert (reading.tool, reading.test, reading.kind, reading.error) == ("uperf", "iperf", None, "")
    assert reading.parameters == {"flows": 2500, "duration_seconds": 32.26, "peer": "172.16.100.221"}
    whole = {figure.metric: figure.value for figure in reading.figures if not figure.part}
    assert whole == {
        "transferred_bytes": pytest.approx(3.37 * 2**30),
        "throughput_bps": pytest.approx(897.71e6),
        "operations_per_second": 14223,
        "operations": 462736,
        "errors": 0,
    }
    assert reading.value("throughput_bps", "slave") == pytest.approx(847.45e6)
    assert reading.value("operations", "slave") == 437584
    assert reading.value("nic_tx_bytes_per_second", "eth0") == pytest.approx(923.23e6 / 8)
    assert reading.value("nic_rx_packets_per_second", "bond1") == 44
    assert reading.value("nic_tx_bytes_per_second", "eth1") == pytest.approx(97.70 / 8)
    assert [(each.part, each.end_seconds, list(each.figures)[1].value) for each in reading.intervals] == [
        ("Txn1", 1.01, 0),
        ("Txn2", 30.25, pytest.approx(957.36e6)),
    ]


def test_uperf_s_raw_counts_confirm_its_units() -> None:
    reading = one("uperf_raw.txt")
    assert str(reading.began_at) == "2022-02-07 17:23:15.992888+00:00"
    assert reading.value("throughput_bps") == pytest.approx(20.15e9)
    printed = reading.value("transferred_bytes")
    # What -R counts is what the summary rounds to 74.46GB.
    assert printed == pytest.approx(79955230720, rel=1e-4)
    last = reading.intervals[-1]
    assert (last.part, next(iter(last.figures)).value) == ("Txn2", 79955230720)
    assert last.end_seconds == pytest.approx(29.635, abs=1e-3)
    cut = one_of(
        "Starting 2 threads running profile:x ...   0.00 seconds\nTxn1  1.23GB /  1.02(s) =  10.30Gb/s  78563op/s\n"
    )
    assert "cut off" in cut.error
