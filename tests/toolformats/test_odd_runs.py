"""Real tools run in odd ways, killed, cut, grepped, refused: what is right was worked out by hand from each text."""

from pathlib import Path

import pytest

from benchweb.toolformats.document import read_bytes, read_text
from benchweb.toolformats.readings import Reading

FOLDER = Path(__file__).parent / "odd"
KIBI, MEBI, GIBI = 2**10, 2**20, 2**30
LEFT = "The other end left: the summary isn't of its time."
CUT = "The test has no summary: it was cut off."


def readings(name: str) -> list[Reading]:
    return list(read_bytes((FOLDER / name).read_bytes()))


# What holds of the whole; None is a figure that nothing in the text tells.
FIGURES: dict[str, dict[str, float | None]] = {
    "iperf3_p4_no_sum.txt": {
        "send_throughput_bps": (3.04 + 3.65 + 2.80 + 2.77) * 1e9,
        "throughput_bps": (3.03 + 3.63 + 2.79 + 2.75) * 1e9,
        "retransmits": 14 + 4 + 17 + 20,
        "received_bytes": (727 + 874 + 670 + 662) * MEBI,
    },
    "iperf3_p4_tail.txt": {"throughput_bps": 12.2e9, "received_bytes": 2.86 * GIBI, "send_throughput_bps": None},
    "iperf3_R.txt": {"throughput_bps": 21.4e9, "send_throughput_bps": 21.4e9, "retransmits": 23},
    "iperf3_R.json": {"throughput_bps": 18897337347.867523, "sent_bytes": 4725145600, "retransmits": 24},
    "iperf3_bidir_p2.txt": {
        "send_throughput_bps": 7.95e9,
        "throughput_bps": 7.84e9,
        "reverse_send_throughput_bps": 6.08e9,
        "reverse_throughput_bps": 5.97e9,
        "reverse_retransmits": 42,
    },
    "iperf3_u.txt": {
        "throughput_bps": 5.11e6, "sent_packets": 39, "received_packets": 39, "loss_ratio": 0,
        "jitter_seconds": 9e-6, "packets_per_second": 19.5,
    },
    "iperf3_uR.json": {"throughput_bps": 5111613.75867717, "loss_ratio": 0, "source_cpu_ratio": 0.019250189472},
    "iperf3_u_p2.txt": {
        "send_throughput_bps": 31.1e9, "throughput_bps": 9.90e9, "sent_packets": 118560, "lost_packets": 80770,
        "loss_ratio": 80770 / 118560, "packets_per_second": 118560 - 80770,
    },
    "iperf3_OV.txt": {"throughput_bps": 19.9e9, "source_cpu_ratio": 0.245, "sink_cpu_ratio": 0.247, "retransmits": 4},
    "iperf3_n1k.txt": {"send_throughput_bps": 589e6, "sent_bytes": 128 * KIBI},
    "iperf3_stamps.txt": {"send_throughput_bps": 13.5e9, "throughput_bps": 13.4e9},
    "iperf2_i.txt": {"throughput_bps": 31.5e9},
    "iperf2_p3_no_sum.txt": {"throughput_bps": (12.4 + 15.8 + 14.2) * 1e9},
    "iperf2_y_p2.csv": {"throughput_bps": 34127895668 + 19999589183, "received_bytes": 4279894076 + 2507538492},
    "iperf2_u.txt": {
        "send_throughput_bps": 5.25e6, "throughput_bps": 5.25e6, "jitter_seconds": 2e-6, "received_packets": 895,
    },
    "iperf2_server_u.txt": {"throughput_bps": 5.25e6, "send_throughput_bps": None, "lost_packets": 0},
    "iperf2_R.txt": {"throughput_bps": 33.2e9, "received_bytes": 7.72 * GIBI},
    # The sum is of both directions.
    "iperf2_full.txt": {"throughput_bps": 17.6e9, "reverse_throughput_bps": 15.2e9},
    "iperf2_e.txt": {"throughput_bps": 31.4e9},
    "iperf2_fK.txt": {"throughput_bps": 1245562 * 1024 * 8},
    "ping_D.txt": {"latency_mean_seconds": 33e-6, "loss_ratio": 0},
    "ping_f.txt": {"latency_mean_seconds": 2e-6, "sent_probes": 200},
    "ping_s8.txt": {"latency_mean_seconds": None, "loss_ratio": 0, "sent_probes": 2},
    "ping_lost.txt": {"latency_mean_seconds": None, "loss_ratio": 1},
    "ping_tail2.txt": {"latency_mean_seconds": 43e-6, "sent_probes": 3, "lost_probes": 0},
    "ping_busybox.txt": {"latency_mean_seconds": 65e-6, "latency_max_seconds": 73e-6},
    "fping.txt": {
        "sent_probes": 3, "loss_ratio": 0, "latency_min_seconds": 29e-6, "latency_mean_seconds": 40e-6,
        "latency_max_seconds": 46e-6,
    },
    "mtr.txt": {"sent_probes": 2, "loss_ratio": 0, "latency_mean_seconds": 1e-4, "latency_mdev_seconds": 0},
    "wrk.txt": {"requests_per_second": 1083.54, "requests": 1088, "latency_mean_seconds": 2.27e-3},
    "fio_psync.txt": {"iops": 20400, "latency_mean_seconds": 48.21e-6},
    "fio_psync.json": {"iops": 24651.348651, "latency_mean_seconds": 39884.769128e-9},
    "fio_w2.txt": {"iops": 24800, "bytes_per_second": 3099 * MEBI},
    "fio_aio.txt": {"iops": 42500, "latency_mean_seconds": 93.19e-6},
    "sysbench_cpu.txt": {"events_per_second": 709.24, "latency_p95_seconds": 7.98e-3},
    "sysbench_memory_read.txt": {"memory_bytes_per_second": 6808.75 * MEBI, "latency_mean_seconds": None},
    "nuttcp.txt": {
        "throughput_bps": 15112.2735e6, "received_bytes": 1801.6225 * MEBI, "retransmits": 0, "source_cpu_ratio": 0.21,
        "sink_cpu_ratio": 0.42, "connect_seconds": 0.12e-3, "rtt_seconds": None,
    },
    "sockperf_tp.txt": {"messages_per_second": 191108, "throughput_bps": 182.255 * MEBI * 8},
    "sar_grep_lo.txt": {"nic_rx_packets_per_second": 31616.67, "nic_rx_bytes_per_second": 953169.74 * KIBI},
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_an_odd_run_has_the_figures_of_its_text(name: str) -> None:
    [reading] = readings(name)
    assert reading.error == ""
    found = {metric: reading.value(metric) for metric in FIGURES[name]}
    assert found == {metric: None if value is None else pytest.approx(value) for metric, value in FIGURES[name].items()}


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("iperf3_R.json", {"direction": "reverse", "sink_socket_buffer_bytes": 131072}),
        ("iperf3_OV.txt", {"warmup_seconds": 1, "duration_seconds": 2, "maximum_segment_bytes": 32768}),
        ("iperf2_R.txt", {"direction": "reverse", "sink_socket_buffer_bytes": 16 * KIBI}),
        ("iperf2_full.txt", {"direction": "bidirectional", "flows": 1}),
        ("iperf2_e.txt", {"message_size_bytes": 131072}),
        ("fio_psync.txt", {"depth": 1}),
        ("fio_psync.json", {"depth": 1}),
        ("fio_aio.txt", {"depth": 4}),
        ("fio_w2.txt", {"depth": 1, "jobs": 2}),
        ("sysbench_memory_read.txt", {"operation": "read", "threads": 2, "block_size_bytes": 4096}),
    ],
)
def test_an_odd_run_has_the_settings_of_its_text(name: str, parameters: dict[str, object]) -> None:
    [reading] = readings(name)
    assert parameters.items() <= reading.parameters.items()


def test_what_mtr_did_not_reach_and_fping_lost() -> None:
    head = "HOST: node-a                      Loss%   Snt   Last   Avg  Best  Wrst StDev\n"
    hop = "  1.|-- 10.0.0.254                 0.0%    10    0.3   0.4   0.2   0.9   0.2\n"
    [unreached] = read_text(
        f"{head}{hop}  2.|-- ???                       100.0    10    0.0   0.0   0.0   0.0   0.0\n"
    )
    assert (unreached.figures, "not reached" in unreached.error) == ([], True)
    [reached] = read_text(f"{head}{hop}  2.|-- 10.0.1.2                  10.0%    10    1.3   1.4   1.2   1.9   0.2\n")
    assert reached.parameters["peer"] == "10.0.1.2"
    assert reached.value("loss_ratio") == pytest.approx(0.1)
    assert reached.value("latency_mean_seconds") == pytest.approx(1.4e-3)
    lost, whole = read_text(
        "10.0.0.9 : [0], timed out (NaN avg, 100% loss)\n\n10.0.0.9 : xmt/rcv/%loss = 4/0/100%\n"
        "10.0.0.2 : xmt/rcv/%loss = 4/3/25%, min/avg/max = 0.10/0.20/0.40\n"
    )
    assert (lost.value("loss_ratio"), lost.value("latency_mean_seconds")) == (1, None)
    assert whole.value("loss_ratio") == 0.25
    assert whole.value("latency_max_seconds") == pytest.approx(4e-4)


@pytest.mark.parametrize(("start", "hops"), [("Start: 2026-11-30T08:35:48+0000\n", 12), ("", 12), ("", 4)])
def test_hops_of_mtr_are_no_numbered_list(start: str, hops: int) -> None:
    rows = [
        f"{hop:>3}.|-- 10.0.{hop}.1                 0.0%    10    {hop}.3   {hop}.4   {hop}.2   {hop}.9   0.2\n"
        for hop in range(1, hops + 1)
    ]
    head = "HOST: node-a                      Loss%   Snt   Last   Avg  Best  Wrst StDev\n"
    [reading] = read_text(f"{start}{head}{''.join(rows)}")
    assert (reading.tool, reading.parameters["peer"]) == ("mtr", f"10.0.{hops}.1")
    assert reading.value("latency_mean_seconds") == pytest.approx((hops + 0.4) * 1e-3)


def test_a_tail_tells_neither_its_flows_nor_its_direction() -> None:
    [reading] = readings("iperf3_p4_tail.txt")
    assert ("flows" in reading.parameters, reading.untold) == (False, ("direction", "flows"))


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("ping_D.txt", "2026-11-30 08:35:30.397339+00:00"),
        ("iperf3_OV.txt", "2026-11-30 08:31:30+00:00"),
        ("mtr.txt", "2026-11-30 08:35:48+00:00"),
        ("iperf2_e.txt", "2026-11-30 08:34:05+00:00"),
        # fio prints when it ended, 08:36:47, after 1,001 ms.
        ("fio_aio.txt", "2026-11-30 08:36:45.999000+00:00"),
        # Its timestamp_ms is 1796027798350, the read's runtime 1001.
        ("fio_psync.json", "2026-11-30 08:36:37.349000+00:00"),
    ],
)
def test_a_date_in_the_text_is_taken(name: str, moment: str) -> None:
    [reading] = readings(name)
    assert str(reading.began_at) == moment


def test_where_fio_says_when_a_job_began_that_is_taken() -> None:
    text = (FOLDER / "fio_psync.json").read_text(encoding="utf-8")
    [reading] = read_text(text.replace('"job_runtime" :', '"job_start" : 1796027790123, "job_runtime" :'))
    assert str(reading.began_at) == "2026-11-30 08:36:30.123000+00:00"


@pytest.mark.parametrize(
    ("name", "error", "figures"),
    [
        # Written to a file, iperf3's complaint stands before the test that it ended.
        ("iperf3_int.txt", "the client has terminated", {"send_throughput_bps": 13.1e9, "throughput_bps": None}),
        ("iperf3_c_int_pty.txt", "the client has terminated", {"send_throughput_bps": 22.1e9, "throughput_bps": None}),
        (
            "iperf3_int.json",
            "interrupt - the client has terminated",
            {"send_throughput_bps": 16762903261.315536, "throughput_bps": None},
        ),
        ("iperf3_u_int.txt", "the client has terminated", {"loss_ratio": None, "sent_packets": 31}),
        ("iperf3_kill.txt", CUT, {}),
        # 5.02 GBytes of 2 seconds beside "0.00-1.00": the printed rate is of no time that passed.
        ("iperf3_c_server_gone.txt", "the server has terminated", {"send_throughput_bps": None}),
        ("iperf3_s_int_pty.txt", "the server has terminated", {}),
        ("iperf3_refused.txt", "unable to connect to server: Connection refused", {}),
        ("iperf3_refused.json", "unable to connect to server: Connection refused", {}),
        ("iperf2_cut_second.txt", CUT, {"throughput_bps": None}),
        ("iperf2_refused.txt", "tcp connect failed: Connection refused", {}),
        ("iperf2_u_nobody.txt", "read failed: Connection refused", {"send_throughput_bps": 1.06e6}),
        ("ping_unknown.txt", "nowhere.invalid: Name or service not known", {}),
        ("ping_kill.txt", "The output has no statistics: the ping was cut off.", {}),
        (
            "wrk_404.txt",
            "All 1,272 responses were errors, other than 2xx and 3xx: their rate measures nothing.",
            {"failed_responses": 1272},
        ),
        (
            "wrk_int.txt",
            "The test ended after 1.5 of 9 seconds: it was interrupted.",
            {"requests_per_second": 996.40},
        ),
        ("wrk_refused.txt", "unable to connect to 127.0.0.1:5359 Connection refused", {}),
        ("fio_int.txt", "terminating on signal 2", {"iops": 21800}),
        (
            "fio_full.txt",
            "fio ended the job with error 28: file:io_u.c:1876, func=io_u error, error=No space left on device.",
            {},
        ),
        (
            "sysbench_bad.txt",
            "FATAL: Cannot find benchmark 'memori': no such built-in test, file or module",
            {},
        ),
        ("sysbench_int.txt", CUT, {}),
        ("qperf_refused.txt", "127.0.0.1: failed to connect", {}),
        ("sockperf_refused.txt", "ERROR: Can`t connect socket (errno=111 Connection refused)", {}),
        ("mbw_cut.txt", "mbw's AVG line is missing: the output was cut off, or left it out by -a.", {}),
    ],
)
def test_an_odd_run_that_failed_says_why(name: str, error: str, figures: dict[str, float | None]) -> None:
    [reading] = readings(name)
    assert reading.error == error
    assert {metric: reading.value(metric) for metric in figures} == figures


def test_a_log_of_iperf3_s_server_tells_which_of_its_tests_were_left() -> None:
    """Its complaints stand where its errors were written; a second head between intervals is of the test itself."""
    read = readings("iperf3_server.txt")
    assert len(read) == 15
    whole = {index: reading.value("throughput_bps") for index, reading in enumerate(read, 1) if not reading.error}
    assert whole == {
        1: 12.2e9,
        2: None,
        3: None,
        4: 7.84e9,
        5: 8.25e9,
        6: 5.11e6,
        7: None,
        8: 9.90e9,
        9: 19.9e9,
        14: 322e6,
        15: 13.4e9,
    }
    assert [read[index].parameters.get("direction") for index in (1, 2, 6)] == ["reverse"] * 3
    assert read[1].value("send_throughput_bps") == 21.4e9
    assert [read[index].value("throughput_bps") for index in (9, 10, 11, 12)] == [None] * 4
    first, second = readings("iperf3_s_c_int_pty.txt")
    assert (first.error, second.error, second.value("throughput_bps")) == ("the client has terminated", "", 25.1e9)


def test_a_log_of_iperf_2_s_server_is_a_reading_for_each_test() -> None:
    read = readings("iperf2_server.txt")
    assert [(each.parameters["flows"], each.value("throughput_bps")) for each in read] == [
        (1, 31.7e9),
        (3, 42.5e9),
        (1, 10.9e9),
        (2, 54.1e9),
        (1, 33.0e9),
        (1, 17.6e9),
        (1, 31.7e9),
        (1, 10.3e9),
        (1, 15.4e9),
    ]
    assert read[5].value("reverse_throughput_bps") == 15.2e9
    assert {each.parameters.get("is_server") for each in read} == {True}


def test_memory_and_latency_by_several_readings() -> None:
    assert {each.test: each.value("memory_bytes_per_second") for each in readings("mbw_avg.txt")} == pytest.approx(
        {"MEMCPY": 1783.591 * MEBI, "DUMB": 2191.481 * MEBI, "MCBLOCK": 3746.488 * MEBI}
    )
    assert all(each.error and not each.figures for each in readings("mbw_a.txt"))
    bandwidth, latency, datagrams = readings("qperf.txt")
    assert bandwidth.value("throughput_bps") == pytest.approx(1.84e9 * 8)
    assert latency.value("half_round_trip_mean_seconds") == pytest.approx(9.45e-6)
    assert (datagrams.value("send_throughput_bps"), datagrams.value("throughput_bps")) == pytest.approx(
        (4.39e9 * 8, 547e6 * 8)
    )


@pytest.mark.parametrize(
    ("date", "clock", "moment"),
    [
        ("04/12/26", "10:00:01", None),
        ("04/12/2026", "10:00:01", None),
        ("04/12/26", "10:00:01 AM", "2026-04-12 10:00:01+00:00"),
        ("11/30/26", "10:00:01", "2026-11-30 10:00:01+00:00"),
        ("30/11/26", "10:00:01", "2026-11-30 10:00:01+00:00"),
        ("04/04/26", "10:00:01", "2026-04-04 10:00:01+00:00"),
        ("2026-04-12", "10:00:01", "2026-04-12 10:00:01+00:00"),
    ],
)
def test_a_date_of_sar_s_that_can_be_read_two_ways_is_not_known(date: str, clock: str, moment: str | None) -> None:
    head = "IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil"
    row = "eth0      1.00      1.00      1.00      1.00      0.00      0.00      0.00      0.01"
    [reading] = read_text(f"Linux 6.1.0 (node-a) \t{date} \t_x86_64_\t(2 CPU)\n\n{clock} {head}\n{clock} {row}\n")
    assert (str(reading.began_at) if reading.began_at else None) == moment
    is_said = f"The date {date} may have its day or its month first: it isn't known." in reading.remarks
    assert is_said is (moment is None)


def test_sar_of_cpus_and_interfaces_at_once() -> None:
    read = {each.parameters["interface"]: each for each in readings("sar_u_dev.txt")}
    assert set(read) == {"lo", "ifb0", "ifb1", "eth0"}
    assert read["lo"].value("nic_rx_packets_per_second") == 31616.67
    assert read["eth0"].value("nic_tx_bytes_per_second") == pytest.approx(1.74 * KIBI)
    assert len(read["lo"].intervals) == 3
    assert str(read["lo"].began_at) == "2026-11-30 08:37:09+00:00"
    assert len(readings("sadf.json")) == 4


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("sar_u.txt", "Of sar's tables only that of -n DEV is read."),
        ("sar_u_grep.txt", "Of sar's tables only that of -n DEV is read."),
        ("sar_edev.txt", "Of sar's tables only that of -n DEV is read."),
        ("sadf_d.txt", "Outputs of sadf -d aren't read."),
        ("fio_minimal.txt", "Outputs of fio --minimal aren't read."),
        ("vmstat.txt", "Outputs of vmstat aren't read."),
        ("iostat.txt", "Outputs of iostat aren't read."),
    ],
)
def test_an_output_that_is_not_read_says_so(name: str, reason: str) -> None:
    document = read_bytes((FOLDER / name).read_bytes())
    assert document.readings == ()
    assert reason in {each.reason for each in document.unread}


def test_what_was_read_leaves_no_line_that_is_told() -> None:
    told = {
        path.name: [each.text for each in read_bytes(path.read_bytes()).unread]
        for path in sorted(FOLDER.iterdir())
        if path.name in FIGURES
    }
    assert {name: lines for name, lines in told.items() if lines} == {}
