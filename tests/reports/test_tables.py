"""Each template's tables stand as their published report prints them; expected values are written by hand."""

import re
from typing import Any

import pytest

from benchweb.documents.document import DocumentTable
from benchweb.hosts.models import Endpoint, Pair
from benchweb.reports.content import report_document, words_by_zone
from benchweb.reports.models import Report
from benchweb.reports.services import ReportError
from benchweb.reports.tables.notation import fixed
from benchweb.runs.models import Run
from tests.factories import make_endpoint, make_environment, make_pair
from tests.reports.scene import PUBLISHED, finished_run, imported_run, make_report

pytestmark = pytest.mark.django_db


def results(report: Report) -> list[DocumentTable]:
    """Return the tables of a report's results."""
    sections = [each for each in report_document(report).sections if each.key.startswith("results")]
    return [table for section in sections for table in section.tables]


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


@pytest.mark.parametrize(("cores", "rows"), [(1, 1), (2, 3)])
def test_a_baseline_of_one_core_has_no_fastest_and_slowest_one(cores: int, rows: int) -> None:
    figures = {
        "memory_bytes_per_second": 4e9,
        "fastest_core_bytes_per_second": 2.5e9,
        "slowest_core_bytes_per_second": 1.5e9,
    }
    run = finished_run(make_pair(), [{"kind": "memory_bandwidth", "params": {"cores": cores}}], figures)
    [memory] = results(make_report(run, template="baseline"))
    assert len(memory.rows) == rows


def modes_pair(source: str, sink: str, zone: Any) -> Pair:
    pair = make_pair(source=make_endpoint(network_mode=source), sink=make_endpoint(network_mode=sink))
    pair.environment = zone
    pair.save()
    return pair


def modes_run(pair: Pair, rates: list[float], size: int = 16384) -> Run:
    step = {"kind": "tcp_stream", "params": {"message_size_bytes": size, "duration_seconds": 10}}
    return finished_run(pair, [step], *({"throughput_bps": rate * 1e9} for rate in rates), repetitions=len(rates))


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
    # A rate of transactions is none of packets.
    assert [table.title.split(" · ")[:2] for table in tables][:3] == [
        ["Throughput (Gbits/sec)", "same zone"],
        ["Transaction rate (K/s)", "same zone"],
        ["Latency (ms)", "same zone"],
    ]
    assert len(tables) == 6
    assert tables[0].columns == ["from ↓ to →", "terway-eni", "terway", "host"]
    assert tables[0].rows == [
        ["terway-eni", "—", "—", "—"],
        ["terway", "18.30 (18.30–21.30, n = 3)", "—", "17.30 (17.30–20.30, n = 3)"],
        ["host", "—", "16.30 (16.30–19.30, n = 3)", "—"],
    ]
    assert (tables[1].rows[2][2], tables[2].rows[2][2]) == (
        "29.0 (29.0–29.0, n = 3)",
        "0.0341 (0.0341–0.0341, n = 3)",
    )
    mean = results(make_report(*runs, statistic="mean", **values))
    assert mean[0].rows[2][2] == "17.30 (16.30–19.30, n = 3)"


def test_a_caption_has_the_parameters_of_its_test_and_the_command_that_repeats_it() -> None:
    run = modes_run(modes_pair("host", "terway", make_environment("lab")), [9.4])
    [table] = results(make_report(run, template="modes"))
    assert table.title.startswith("Throughput (Gbits/sec) · lab · TCP stream, ")
    assert "message size 16 KiB" in table.title
    [command] = [note for note in table.notes if note.startswith("benchweb-engine")]
    assert command.startswith("benchweb-engine run tcp_stream --peer SINK ")
    assert "--set message_size_bytes=16384" in command
    assert table.rows[0][2] == "9.40"
    assert "A cell without n was measured once." in table.notes


def test_rounds_of_a_cell_are_one_median_with_spread_and_are_counted_among_the_runs() -> None:
    pair = modes_pair("host", "terway", make_environment("lab"))
    runs = [modes_run(pair, rates) for rates in ([30.1, 30.3], [30.1, 30.1], [29.4, 29.4])]
    report = make_report(*runs, template="modes")
    [table] = results(report)
    assert table.rows[0][2] == "30.10 (29.40–30.20, n = 3)"
    assert "Of several runs the median, with the lowest and the highest; n counts runs." in table.notes
    [method] = [each for each in report_document(report).sections if each.key == "method"]
    column = list(method.tables[0].columns).index("Round")
    assert [row[column] for row in method.tables[0].rows] == ["1 of 3", "2 of 3", "3 of 3"]


def test_of_several_settings_a_report_asks_which_and_shows_what_was_chosen() -> None:
    pair = modes_pair("host", "terway", make_environment("lab"))
    runs = [modes_run(pair, [1.2], size=64), modes_run(pair, [9.4])]
    [asked] = results(make_report(*runs, template="modes"))
    names = [str(row[0]) for row in asked.rows]
    assert len(names) == 2
    assert "message size 64 B" in str(asked.rows[0][1])
    assert "choose under Edit" in asked.notes[0]
    [table] = results(make_report(*runs, template="modes", chosen_settings=names[:1]))
    assert table.rows[0][2] == "1.20"
    assert len(results(make_report(*runs, template="modes", chosen_settings=names))) == 2


def test_zones_measured_by_different_tests_have_their_own_tables_and_questions() -> None:
    by_rr = {"latency_mean_seconds": 40e-6, "transactions_per_second": 25_000.0}
    rr, ping = {"kind": "tcp_rr", "params": {}}, {"kind": "ping", "params": {}}
    first = finished_run(modes_pair("host", "terway", make_environment("by rr")), [rr], by_rr)
    second_pair = modes_pair("host", "terway", make_environment("by ping"))
    second = finished_run(second_pair, [ping], {"latency_mean_seconds": 50e-6})
    told = [
        (str(table.title).split(" · ")[:2], table.rows[0][2])
        for table in results(make_report(first, second, template="modes"))
    ]
    assert told == [
        (["Transaction rate (K/s)", "by rr"], "25.0"),
        (["Latency (ms)", "by rr"], "0.040"),
        (["Latency (ms)", "by ping"], "0.050"),
    ]
    sizes = [{"kind": "ping", "params": {"payload_bytes": size}} for size in (56, 1400)]
    both = finished_run(
        second_pair, [rr, *sizes], by_rr, {"latency_mean_seconds": 50e-6}, {"latency_mean_seconds": 60e-6}
    )
    report = make_report(both, template="modes", chosen_settings=["ping payload_bytes=1400"])
    assert [table.rows[0][2] for table in results(report) if "Latency" in table.title] == ["0.060"]


def test_words_under_the_name_of_a_zone_stand_with_its_results() -> None:
    zones = [make_environment(name) for name in ("same zone", "two zones")]
    runs = [modes_run(modes_pair("host", "terway", zone), [9.4]) for zone in zones]
    words = "Both.\n\n## same zone\nOne switch.\n### Cables\nCopper.\n## Others\nNone.\n"
    report = make_report(*runs, template="modes", environment=words, conclusion="## two zones\nSlower.")
    sections = {str(each.title): each.text for each in report_document(report).sections}
    assert sections["Test environment"] == "Both.\n\n## Others\nNone."
    assert sections["Results: same zone"] == "One switch.\n### Cables\nCopper."
    assert sections["Conclusion: two zones"] == "Slower."
    assert "Conclusion: same zone" not in sections
    assert "Conclusion" not in sections
    assert words_by_zone("## C#\nFast.\n## C ##\nSlow.", ["C#", "C"]) == {"": "", "C#": "Fast.", "C": "Slow."}


def test_imported_and_measured_runs_say_which_is_which() -> None:
    pair = make_pair()
    measured = finished_run(pair, [{"kind": "tcp_stream", "params": {}}], {"throughput_bps": 9e9})
    tables = results(make_report(measured, imported_run("netperf_sizes.md", pair)))
    assert "imported" not in tables[0].title
    assert all("imported from netperf" in table.title for table in tables[1:])


def test_figures_have_three_digits_where_they_were_measured_and_no_more_than_were_printed() -> None:
    assert fixed(0.0123456, factor=1) == "0.0123"
    assert fixed(0.31) == "0.31"
    assert fixed(1234.5678) == "1234.57"
    assert fixed(0.0) == "0.00"
    assert fixed(None) == "—"
    assert fixed(-0.00123456) == "-0.00123"


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
        ["98.50%", "42.100", "25.00%", "235.50", "942.00", "—", "—"],
        ["—", "—", "—", "100.00", "—", "—", "—"],
    ]


def test_capacity_is_what_was_entered_for_the_slower_end_where_the_kernel_tells_no_speed() -> None:
    ends = [make_endpoint(), make_endpoint()]
    for end, speed in zip(ends, (10e9, 2e9), strict=True):
        Endpoint.objects.filter(pk=end.pk).update(link_bps=speed)
    pair = make_pair(source=ends[0], sink=ends[1])
    run = finished_run(pair, [{"kind": "tcp_stream", "params": {}}], {"throughput_bps": 500e6})
    [table] = results(make_report(run, template="wan"))
    assert table.rows[0][1:] == ["—", "—", "25.00%", "500.00", "2000.00", "—", "—"]


def test_of_several_tests_of_a_kind_the_best_is_told_by_name_unless_another_is_chosen() -> None:
    sizes = [{"kind": "tcp_stream", "params": {"message_size_bytes": size}} for size in (64, 16384)]
    udp = {"kind": "udp_stream", "params": {}}
    run = finished_run(
        make_pair(), [*sizes, udp], {"throughput_bps": 1e8}, {"throughput_bps": 9e8}, {"loss_ratio": 0.25}
    )
    [table] = results(make_report(run, template="wan"))
    assert (table.rows[0][4], table.rows[0][7]) == ("900.00", "75.00%")
    [named] = [note for note in table.notes if "the best of 2 tests" in note]
    assert named.startswith(f"Run {run.pk}: TCP stream, ")
    assert "message size 16 KiB" in named
    [chosen] = results(make_report(run, template="wan", chosen_settings=["tcp_stream message_size_bytes=64"]))
    assert chosen.rows[0][4] == "100.00"
    assert any("message size 64 B" in note and "as chosen, of 2 tests" in note for note in chosen.notes)


def test_the_test_that_was_chosen_is_told_also_where_all_of_it_was_lost() -> None:
    sizes = [{"kind": "ping", "params": {"payload_bytes": size}} for size in (56, 1400)]
    answered, lost = {"latency_mean_seconds": 1e-3, "loss_ratio": 0.0}, {"loss_ratio": 1.0}
    run = finished_run(make_pair(), sizes, answered, lost)
    [table] = results(make_report(run, template="wan", chosen_settings=["ping payload_bytes=1400"]))
    assert table.rows[0][1:3] == ["0.00%", "—"]


def test_what_remains_of_the_bandwidth_is_entered_or_measured_and_says_which() -> None:
    pair = make_pair()
    runs = [finished_run(pair, [{"kind": "tcp_stream", "params": {}}], {"throughput_bps": rate}) for rate in (1e8, 2e8)]
    lines = f"{runs[0].pk}: 400 Mbit/s, by the provider\n{runs[1].pk}: under 500 Mbit/s of backups"
    [table] = results(make_report(*runs, template="wan", remaining=lines))
    assert [row[6] for row in table.rows] == ["400.00", "200.00"]
    assert f"Run {runs[0].pk}: remaining bandwidth entered by the author, by the provider." in table.notes
    assert f"Run {runs[1].pk}: remaining bandwidth as measured under 500 Mbit/s of backups." in table.notes
    for wrong in ("lots", f"{runs[0].pk}: 400 apples", "999999: 1 Gbit/s"):
        with pytest.raises(ReportError):
            make_report(*runs, template="wan", remaining=wrong)


def test_omitted_seconds_are_marked_as_iperf3_does() -> None:
    intervals = [
        {"start_seconds": start, "end_seconds": start + 1, "metrics": {"throughput_bps": 8e9}, "warmup": start < 0}
        for start in (-1, 0)
    ]
    step = {"kind": "tcp_stream", "params": {"message_size_bytes": 64, "duration_seconds": 1, "warmup_seconds": 1}}
    run = finished_run(make_pair(), [step], {"throughput_bps": 8e9}, intervals=intervals)
    [table] = results(make_report(run, template="methods"))
    assert [row[-1] for row in table.rows] == ["(omitted)", "", "receiver"]
