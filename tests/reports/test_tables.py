"""Each template's tables stand as their published report prints them; expected values are written by hand."""

import re
from typing import Any

import pytest

from benchweb.documents.document import DocumentTable
from benchweb.hosts.models import Endpoint, Pair
from benchweb.reports.content import report_document
from benchweb.reports.models import Report
from benchweb.runs.models import Run
from tests.factories import make_endpoint, make_environment, make_pair
from tests.reports.scene import PUBLISHED, finished_run, imported_run, make_report

pytestmark = pytest.mark.django_db


def results(report: Report) -> list[DocumentTable]:
    """Return the tables of a report's results."""
    [section] = [each for each in report_document(report).sections if each.key == "results"]
    return list(section.tables)


def test_message_sizes_have_netperfs_columns_and_udps_pairs_of_lines() -> None:
    report = make_report(imported_run("netperf_sizes.md"))
    stream, udp, rr, crr, udp_rr = results(report)
    assert stream.columns[:3] == ["Recv Socket Size bytes", "Send Socket Size bytes", "Send Message Size bytes"]
    assert stream.rows[0] == ["131072", "16384", "1", "60.00", "0.31"]
    assert stream.rows[-1] == ["131072", "16384", "65536", "60.02", "738.58"]
    assert len(stream.rows) == 13
    assert udp.rows[:2] == [
        ["212992", "1", "60.00", "880003", "0", "0.12"],
        ["212992", "", "60.00", "390643", "", "0.05"],
    ]
    assert len(udp.rows) == 24
    assert rr.rows == [
        ["16384", "131072", "1", "1", "10.01", "2041.68"],
        ["16384", "131072", "", "", "", ""],
    ]
    assert [table.rows[0][-1] for table in (crr, udp_rr)] == ["726.03", "1890.80"]
    assert "n = 1 per row." in stream.notes
    # Tests of 60.00 to 60.04 s are one line.
    charts = [each for section in report_document(report).sections for each in section.charts]
    assert [(line.label, len(line.points)) for line in charts[0].series] == [("Throughput, received", 13)]


def test_test_methods_have_transfer_jitter_sars_seconds_and_wrks_threads() -> None:
    tables = results(make_report(imported_run("four_tools.md"), template="methods"))
    by_start: dict[str, list[DocumentTable]] = {}
    for table in tables:
        by_start.setdefault(table.title.split(" ·")[0].split(" -t")[0], []).append(table)
    server, client = by_start["iperf3 TCP"]
    assert server.rows[0][:3] == ["0.00-1.00 sec", "1.14 GBytes", "9.80 Gbits/sec"]
    assert client.rows[1][:5] == ["1.00-2.00 sec", "1.71 GBytes", "14.7 Gbits/sec", "29", "1.11 MBytes"]
    assert client.rows[-2:] == [
        ["0.00-10.00 sec", "17.3 GBytes", "14.9 Gbits/sec", "170", "", "sender"],
        ["0.00-10.00 sec", "17.3 GBytes", "14.9 Gbits/sec", "", "", "receiver"],
    ]
    assert by_start["iperf3 UDP"][0].rows[0][:5] == ["0.00-1.00 sec", "116 KBytes", "950 Kbits/sec", "3.666 ms", "0/82"]
    [udp] = by_start["UDP_STREAM"]
    assert ["212992", "1", "20.00", "9295295", "0", "3.72"] in udp.rows
    sar = by_start["sar -n DEV"][-1]
    assert sar.rows[0] == ["10:23:06 PM", "enp65s0f0", "394128.00", "15.00", "23099.12", "4.99"]
    assert sar.rows[-1] == ["Average:", "enp65s0f0", "394321.04", "11.04", "23108.27", "3.92"]
    [wrk] = by_start["wrk"]
    assert wrk.rows[:2] == [
        ["Latency", "2.91ms", "15.42ms", "953.75ms", "95.58%"],
        ["Req/Sec", "31.68k", "16.56k", "66.90k", "69.64%"],
    ]
    assert [row[1] for row in wrk.rows[2:]] == ["17456.94", "4.13MB"]
    assert wrk.notes == ["Socket errors: connect 8983, read 0, write 0, timeout 0"]


def test_a_server_baseline_has_its_own_labels_units_and_numbers() -> None:
    memory, disk, network = results(make_report(imported_run("server_baseline.md"), template="baseline"))
    assert memory.columns == ["Item", "Mean", "Median", "n"]
    assert memory.rows[0] == ["mbw 单核 - 固定大小拷贝(MiB/s)", "5585.34", "5585.34", "1"]
    # Each row of the report with its own words and digits, in its order.
    lines = (PUBLISHED / "server_baseline.md").read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")[:2]] for line in lines if re.match(r"\|.*\d", line)]
    assert len(cells) == 93
    assert [row[:2] for table in (memory, disk, network) for row in table.rows] == cells


def test_an_engines_baseline_names_tests_by_labels_and_units() -> None:
    step = {"kind": "disk_io", "params": {"pattern": "randread", "block_size_bytes": 4096, "depth": 32}}
    run = finished_run(make_pair(), [step], {"iops": 120.0}, {"iops": 130.0}, {"iops": 140.0}, repetitions=3)
    [disk] = results(make_report(run, template="baseline"))
    label = "Disk input and output, queue depth 32, pattern randread, block size 4 KiB - Operations per second"
    assert disk.rows == [[f"{label} (operations/s)", "130", "130", "3"]]


def modes_pair(source: str, sink: str, zone: Any) -> Pair:
    pair = make_pair(source=make_endpoint(network_mode=source), sink=make_endpoint(network_mode=sink))
    pair.environment = zone
    pair.save()
    return pair


def test_network_modes_stand_in_the_authors_order_for_each_zone() -> None:
    steps: list[dict[str, Any]] = [{"kind": "tcp_stream", "params": {}}, {"kind": "tcp_rr", "params": {}}]
    runs: list[Run] = []
    for zone in (make_environment("same zone"), make_environment("two zones")):
        for index, (source, sink) in enumerate([("host", "terway"), ("terway", "host"), ("terway", "terway-eni")]):
            rates = [{"throughput_bps": (16.3 + index + n) * 1e9} for n in (0, 0, 3)]
            latencies = [{"latency_mean_seconds": 34.1e-6, "transactions_per_second": 29_000.0}] * 3
            runs.append(finished_run(modes_pair(source, sink, zone), steps, *rates, *latencies, repetitions=3))
    values: dict[str, Any] = {"template": "modes", "modes": ["terway-eni", "terway", "host"]}
    tables = results(make_report(*runs, statistic="median", **values))
    assert [table.title for table in tables][:3] == [
        "Throughput (Gbits/sec) · same zone",
        "Packet rate (K) · same zone",
        "Latency (ms) · same zone",
    ]
    assert len(tables) == 6
    assert tables[0].columns == ["from ↓ to →", "terway-eni", "terway", "host"]
    assert tables[0].rows == [
        ["terway-eni", "—", "—", "—"],
        ["terway", "18.30", "—", "17.30"],
        ["host", "—", "16.30", "—"],
    ]
    assert (tables[1].rows[2][2], tables[2].rows[2][2]) == ("29.0", "0.034")
    mean = results(make_report(*runs, statistic="mean", **values))
    assert mean[0].rows[2][2] == "17.30"


def test_an_engines_run_has_the_same_columns_with_mean_or_median() -> None:
    intervals = [
        {"start_seconds": second, "end_seconds": second + 1, "metrics": {"throughput_bps": 8e9, "retransmits": 2}}
        for second in range(2)
    ]
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": 64, "duration_seconds": 2}}]
    rates = [{"throughput_bps": value, "send_throughput_bps": value, "retransmits": 4.0} for value in (1e9, 1e9, 4e9)]
    run = finished_run(make_pair(), steps, *rates, repetitions=3, intervals=intervals)
    [table] = results(make_report(run, template="methods", statistic="median"))
    assert table.rows == [
        ["0.00-1.00 sec", "954 MBytes", "8.00 Gbits/sec", "2", "—", ""],
        ["1.00-2.00 sec", "954 MBytes", "8.00 Gbits/sec", "2", "—", ""],
        ["0.00-2.00 sec", "238 MBytes", "1.00 Gbits/sec", "4", "", "sender"],
        ["0.00-2.00 sec", "238 MBytes", "1.00 Gbits/sec", "", "", "receiver"],
    ]
    [sizes] = results(make_report(run, statistic="mean"))
    assert sizes.rows == [["—", "—", "64", "2.00", "2000.00"]]
    assert "n = 3 per row." in sizes.notes


def test_the_five_indicators_of_a_path_are_dashes_where_nothing_was_measured() -> None:
    pair = make_pair()
    steps: list[dict[str, Any]] = [{"kind": "tcp_stream", "params": {}}, {"kind": "ping", "params": {}}]
    stream = {"throughput_bps": 235.5e6, "payload_ceiling_bps": 942e6}
    whole = finished_run(pair, steps, stream, {"latency_mean_seconds": 0.0421, "loss_ratio": 0.015})
    part = finished_run(pair, steps[:1], {"throughput_bps": 100e6})
    [table] = results(make_report(whole, part, template="wan"))
    assert [row[1:] for row in table.rows] == [
        ["98.50%", "42.100", "25.00%", "235.50", "942.00"],
        ["—", "—", "—", "100.00", "—"],
    ]


def test_capacity_is_what_was_entered_for_the_slower_end_where_the_kernel_tells_no_speed() -> None:
    ends = [make_endpoint(), make_endpoint()]
    for end, speed in zip(ends, (10e9, 2e9), strict=True):
        Endpoint.objects.filter(pk=end.pk).update(link_bps=speed)
    pair = make_pair(source=ends[0], sink=ends[1])
    run = finished_run(pair, [{"kind": "tcp_stream", "params": {}}], {"throughput_bps": 500e6})
    [table] = results(make_report(run, template="wan"))
    assert table.rows[0][1:] == ["—", "—", "25.00%", "500.00", "2000.00"]
