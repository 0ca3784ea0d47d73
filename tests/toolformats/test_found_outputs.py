"""Outputs as people have published them, trimmed, quoted and wrapped: each number by hand from the text."""

from pathlib import Path
from typing import Any

import pytest

from benchweb.imports.trials import trials_of
from benchweb.toolformats.document import read_bytes, read_text
from benchweb.toolformats.readings import Reading

FOLDER = Path(__file__).parent / "outputs"
MEBI, GIBI = 2**20, 2**30
Expected = dict[str, Any]


def readings(name: str) -> list[Reading]:
    return list(read_bytes((FOLDER / name).read_bytes()))


@pytest.mark.parametrize(
    ("name", "parameters", "figures"),
    [
        (
            # Reversed: the server sends, so that its CPU is the source's.
            "iperf3_udp_reverse.txt",
            {"direction": "reverse", "message_size_bytes": 1448, "rate_bps": 800_000_000, "duration_seconds": 10},
            {
                "send_throughput_bps": 800e6,
                "throughput_bps": 919e6,
                "received_bytes": 1.07 * GIBI,
                "lost_packets": 6210,
                "total_packets": 690583,
                "loss_ratio": 6210 / 690583,
                "jitter_seconds": 10e-6,
                "source_cpu_ratio": 0.059,
                "sink_cpu_ratio": 0.163,
            },
        ),
        (
            "iperf3_sum_only.txt",
            {"direction": "reverse", "duration_seconds": 12.51},
            {
                "send_throughput_bps": 2.79e9,
                "sent_bytes": 3.33 * GIBI,
                "throughput_bps": 380e6,
                "received_bytes": 566 * MEBI,
                "lost_packets": 1506183,
                "total_packets": 1918521,
            },
        ),
        (
            # Rows of datagrams without jitter: the server sends, and its zeros say nothing of what arrived.
            "iperf3_server_sends.txt",
            {"direction": "reverse", "source_address": "192.168.2.19", "sink_address": "192.168.2.10"},
            {"send_throughput_bps": 0.47 * MEBI * 8, "sent_bytes": 5.61 * MEBI, "loss_ratio": None},
        ),
        (
            "iperf3_one_row_udp.txt",
            {"duration_seconds": 0.1},
            {"send_throughput_bps": 1.16e6, "jitter_seconds": None, "total_packets": 1, "lost_packets": 0},
        ),
        (
            "iperf3_spaces.txt",
            {"source_address": "192.168.16.240"},
            {"send_throughput_bps": 93.2e6, "lost_packets": 102, "total_packets": 996, "jitter_seconds": 93e-6},
        ),
        (
            # A mail has wrapped the side behind each row.
            "iperf3_wrapped.txt",
            {"direction": "bidirectional", "flows": 2, "duration_seconds": 10.07},
            {
                "throughput_bps": 19.1e9,
                "received_bytes": 22.3 * GIBI,
                "reverse_throughput_bps": 19.0e9,
                "reverse_retransmits": 7,
            },
        ),
        (
            "wrk_headless.txt",
            {"threads": 2, "connections": 10, "measured_seconds": 20.08},
            {
                "latency_mean_seconds": 0.52529,
                "latency_p99_seconds": 1.56,
                "requests": 377,
                "received_bytes": 4.54 * MEBI,
                "requests_per_second": 18.77,
                "received_bytes_per_second": 231.74 * 1024,
                "timeout_errors": 1,
            },
        ),
        (
            "wrk_no_url.txt",
            {"url": "/luaRedis", "threads": 2500, "connections": 20000, "duration_seconds": 30.0},
            {"requests_per_second": 35710.03, "connect_errors": 694, "timeout_errors": 4898, "requests": 1080925},
        ),
        (
            "wrk_spectrum.txt",
            {"duration_seconds": 180.0, "connections": 10000},
            {
                "latency_p99_seconds": 21.53,
                "latency_p99999_seconds": 23.05,
                "latency_max_seconds": 23.38,
                "received_bytes": 9.55 * GIBI,
                "requests_per_second": 97018.79,
            },
        ),
        (
            # With --full-rtt all are of the round trip, percentiles too.
            "sockperf_rtt.txt",
            {"duration_seconds": 199.548, "protocol": "TCP", "peer": "10.12.0.4"},
            {
                "latency_mean_seconds": 1892.600e-6,
                "latency_stddev_seconds": 422.741e-6,
                "latency_max_seconds": 11541.068e-6,
                "latency_p99999_seconds": 11533.498e-6,
                "latency_min_seconds": 1743e-6,
                "half_round_trip_p50_seconds": None,
                "received_messages": 105413,
            },
        ),
        (
            "sockperf_tp.txt",
            {"message_size_bytes": 32768, "duration_seconds": 10.0},
            {"messages_per_second": 155961, "throughput_bps": 4873.781 * MEBI * 8, "sent_messages": 1559669},
        ),
        (
            "ping_busybox.txt",
            {"payload_bytes": 56, "count": 2, "probe_interval_seconds": 1.0},
            {"latency_min_seconds": 204e-6, "latency_mean_seconds": 801e-6, "latency_max_seconds": 1398e-6},
        ),
        (
            "ping_wait.txt",
            {"payload_bytes": 56, "count": 1},
            {"latency_mean_seconds": 6.212e-3, "loss_ratio": 0.0, "latency_mdev_seconds": 0.0},
        ),
        (
            "netperf_rr_csv.txt",
            {},
            {
                "transactions_per_second": 3313.49,
                "latency_p50_seconds": 295e-6,
                "latency_p99_seconds": 406e-6,
                "latency_stddev_seconds": 214.64e-6,
            },
        ),
        (
            "netperf_values_alone.txt",
            {},
            {"latency_p50_seconds": 42e-6, "latency_p90_seconds": 50e-6, "latency_p99_seconds": 99e-6},
        ),
        (
            # Quoted by mails, its banner wrapped.
            "netperf_quoted.txt",
            {"peer": "127.0.0.1", "message_size_bytes": 1024, "source_socket_buffer_bytes": 4608},
            {
                "sent_packets": 50024301,
                "received_packets": 46133211,
                "lost_packets": 3891090,
                "send_throughput_bps": 6829.98e6,
                "throughput_bps": 6298.72e6,
            },
        ),
    ],
)
def test_a_published_output_is_read_whole(name: str, parameters: Expected, figures: Expected) -> None:
    [reading] = readings(name)
    assert not reading.error
    assert parameters.items() <= reading.parameters.items()
    found = {metric: reading.value(metric) for metric in figures}
    assert found == {metric: value if value is None else pytest.approx(value) for metric, value in figures.items()}


def test_two_summaries_with_a_sentence_between_are_two_tests() -> None:
    before, after = readings("iperf3_two_bidir.txt")
    assert [(each.value("throughput_bps"), each.value("reverse_throughput_bps")) for each in (before, after)] == [
        (156e6, 777e6),
        (855e6, 736e6),
    ]
    assert [each.value("retransmits") for each in (before, after)] == [734, 273]


def test_netperf_with_a_cpu_gone_wrong_and_keys_echoed_into_its_table() -> None:
    stream, datagrams = readings("netperf_udp_cpu.txt")
    # -f M is bytes by 2^20; a share of CPU below zero is none.
    assert stream.value("throughput_bps") == pytest.approx(140.06 * MEBI * 8)
    assert stream.value("source_cpu_ratio") is None
    assert datagrams.value("throughput_bps") == pytest.approx(82.0 * MEBI * 8)
    assert (datagrams.value("sent_packets"), datagrams.value("received_packets")) == (13132, 13132)
    assert datagrams.parameters["message_size_bytes"] == 65507


def test_qperf_s_default_sizes_are_told_by_its_rates() -> None:
    stream, datagrams, latency = readings("qperf_v.txt")
    # 4.19 MB/s in 63.7 messages a second are 64 KiB each; 2.23 MB/s in 68 are 32 KiB.
    assert (stream.value("throughput_bps"), stream.parameters["message_size_bytes"]) == (4.19e6 * 8, 65536)
    assert (datagrams.value("throughput_bps"), datagrams.parameters["message_size_bytes"]) == (2.23e6 * 8, 32768)
    assert datagrams.parameters["duration_seconds"] == 30
    assert latency.value("half_round_trip_mean_seconds") == pytest.approx(7.39e-3)
    [cut] = read_text("tcp_lat:\n    latency        =  7.39 ms\n    msg_rate       =   13")
    assert cut.value("messages_per_second") == 13


def test_sar_without_averages_gives_the_mean_of_its_rows() -> None:
    ethernet, loopback = readings("sar_without_average.txt")
    assert ethernet.value("nic_rx_packets_per_second") == (18763 + 19763) / 2
    assert ethernet.value("nic_rx_bytes_per_second") == pytest.approx((20686.42 + 21999.10) / 2 * 1024)
    assert loopback.value("nic_tx_packets_per_second") == 17
    assert ethernet.figures[0].is_derived
    [old, other] = readings("sar_old.txt")
    assert (old.value("nic_rx_bytes_per_second"), other.value("nic_tx_bytes_per_second")) == (4072.73, 1234.34)


def test_sadf_and_stream_as_published() -> None:
    vlan, bond = readings("sadf.json")
    assert bond.value("nic_rx_bytes_per_second") == pytest.approx(2150.32 * 1024)
    assert vlan.value("nic_tx_packets_per_second") == 0.10
    copy, scale, add, triad = trials_of(read_bytes((FOLDER / "stream.txt").read_bytes()))[0]
    assert (copy.params["cores"], copy.params["array_bytes"]) == (18, 80_000_000)
    assert [each.metrics["memory_bytes_per_second"] for each in (scale, add, triad)] == [
        90908.8e6,
        72310.4e6,
        72859.9e6,
    ]


def test_fio_s_pattern_is_its_option_or_what_its_job_is_named() -> None:
    [mixed] = trials_of(read_bytes((FOLDER / "fio_readwrite.json").read_bytes()))[0]
    assert mixed.params == {
        "tool": "fio",
        "pattern": "rw",
        "block_size_bytes": 524288,
        "file_size_bytes": 5000 * MEBI,
        "depth": 1,
        "jobs": 1,
        "direct": False,
        "duration_seconds": pytest.approx(16.637),
    }
    assert mixed.metrics["iops"] == pytest.approx(299.633362 + 301.436558)
    assert mixed.metrics["write_bytes_per_second"] == 154335 * 1024
    [named] = trials_of(read_bytes((FOLDER / "fio_trimmed.json").read_bytes()))[0]
    # Nothing else is told: no depth that its figures would contradict.
    assert (named.params["pattern"], named.params["depth"], named.flags) == ("randread", None, [])
    assert named.metrics["iops"] == 285866.5


def test_wrk_s_duration_without_a_digit_is_no_test_s_begin() -> None:
    assert not list(read_text("Running .s test @ http://10.0.0.2/\n"))


def test_perftest_gives_a_result_for_each_size() -> None:
    small, large = trials_of(read_bytes((FOLDER / "perftest.txt").read_bytes()))[0]
    assert small.kind == "own.perftest"
    assert small.params == {
        "tool": "perftest",
        "test": "ib_write_bw",
        "flows": 1,
        "connection_type": "RC",
        "link_type": "Ethernet",
        "mtu_bytes": 4096,
        "message_size_bytes": 2,
    }
    assert small.metrics["throughput_bps"] == pytest.approx(3.88 * MEBI * 8)
    # A peak of 0.00 wasn't looked for.
    assert large.metrics == {
        "throughput_bps": pytest.approx(2757.93 * MEBI * 8),
        "messages_per_second": pytest.approx(44127),
    }
    assert small.document["remarks"] == [
        "Conflicting CPU frequency values detected: 1496.133000 != 1529.788000. CPU Frequency is not max."
    ]


def test_perftest_s_latency_is_half_of_the_round_trip_except_of_reads() -> None:
    [read] = readings("perftest_lat.txt")
    assert (read.test, read.kind) == ("ib_read_lat", None)
    assert read.value("latency_mean_seconds") == pytest.approx(1.8e-6)
    assert read.value("latency_p999_seconds") == pytest.approx(6.12e-6)
    head = "#bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
    row = "2       1000           1.85           28.40          2.05             2.11\n"
    [sent] = read_text(f"Send Latency Test\n{head}{row}").readings
    assert sent.value("half_round_trip_mean_seconds") == pytest.approx(2.11e-6)
    [told] = read_text(f"$ ib_write_lat 10.0.0.2\n{head}{row}").readings
    assert told.test == "ib_write_lat"
    assert told.value("half_round_trip_p50_seconds") == pytest.approx(2.05e-6)
    # Nothing tells whether it is half of the trip.
    [untold] = read_text(head + row).readings
    assert (untold.figures, "add title or command" in untold.error) == ([], True)


def test_perftest_in_both_directions_cut_off_and_refused() -> None:
    rows = (
        "#bytes  #iterations  BW peak[Gb/sec]  BW average[Gb/sec]  MsgRate[Mpps]\n8388608 5000 197.10 196.92 0.002934\n"
    )
    [both] = read_text(f"Send Bidirectional BW Test\n{rows}").readings
    assert both.test == "ib_send_bw_both"
    assert both.value("throughput_bps") == pytest.approx(196.92e9)
    [failed] = read_text(f"RDMA_Write BW Test\n{rows}Failed status 12: wr_id 0 syndrom 0x81\n").readings
    assert failed.error == "Failed status 12: wr_id 0 syndrom 0x81"
    [cut] = read_text(f"RDMA_Write BW Test\n{rows.splitlines()[0]}\n").readings
    assert cut.error == "The test has no summary: it was cut off."
    [refused] = read_text(" Couldn't connect to 10.0.0.2:18515\nUnable to init the socket connection\n").readings
    assert (refused.tool, refused.error) == ("perftest", "Couldn't connect to 10.0.0.2:18515")
