"""nuttcp and ntttcp: streams of TCP and of datagrams, worked out by hand from each text."""

from pathlib import Path

import pytest

from benchweb.imports.trials import trials_of
from benchweb.toolformats.document import read_bytes, read_text
from benchweb.toolformats.readings import Reading

FOLDER = Path(__file__).parent / "outputs"
MEBI = 2**20
CUT = "The test has no summary: it was cut off."
INTERVAL = "  112.5625 MB /   1.00 sec =  944.2457 Mbps     0 retrans\n"
SUMMARY = " 1125.0000 MB /  10.00 sec =  943.7184 Mbps 10 %TX 20 %RX 0 retrans 0.12 msRTT\n"


def readings(name: str) -> list[Reading]:
    document = read_bytes((FOLDER / name).read_bytes())
    assert document.unread == ()
    assert [each.error for each in document] == [""] * len(document.readings)
    return list(document)


def one(text: str) -> Reading:
    [reading] = read_text(text)
    return reading


def test_nuttcp_s_summary_and_intervals() -> None:
    [reading] = readings("nuttcp.txt")
    assert (reading.kind, reading.parameters) == (
        "tcp_stream",
        {"duration_seconds": 10.01, "flows": 4, "peer": "10.0.0.2"},
    )
    assert {figure.metric: figure.value for figure in reading.figures} == pytest.approx(
        {
            "received_bytes": 1125 * MEBI,
            "throughput_bps": 942.7767e6,
            "retransmits": 3,
            "source_cpu_ratio": 0.1,
            "sink_cpu_ratio": 0.2,
            "connect_seconds": 0.12e-3,
        }
    )
    first, second = reading.intervals
    assert (second.begin_seconds, second.end_seconds) == (1, 2)
    assert {figure.metric: figure.value for figure in first.figures} == pytest.approx(
        {
            "received_bytes": 112.5625 * MEBI,
            "throughput_bps": 944.2457e6,
            "retransmits": 0,
            "congestion_window_bytes": 512 * 1024,
        }
    )


def test_nuttcp_s_datagrams_tell_losses_and_size() -> None:
    [reading] = readings("nuttcp_udp.txt")
    assert (reading.kind, reading.parameters["rate_bps"], reading.parameters["message_size_bytes"]) == (
        "udp_stream",
        50_000_000,
        1024,
    )
    found = {figure.metric: figure.value for figure in reading.figures}
    assert found == pytest.approx(
        {
            "received_bytes": 59.5625 * MEBI,
            "throughput_bps": 49.9642e6,
            "source_cpu_ratio": 0.98,
            "sink_cpu_ratio": 0.02,
            # Of differences, no jitter as of RFC 3550.
            "jitter_mean_seconds": 12e-6,
            "lost_packets": 40,
            "total_packets": 61032,
            "loss_ratio": 40 / 61032,
            "sent_packets": 61032,
            "received_packets": 60992,
            "packets_per_second": 6099.2,
            "send_packets_per_second": 6103.2,
        }
    )
    datagrams, stream = readings("nuttcp_parse.txt")
    assert datagrams.value("loss_ratio") == 40 / 61032
    assert datagrams.value("sent_bytes") == pytest.approx(59.6016 * MEBI)
    # By the bytes of all that arrived, for no command stands before it.
    assert (datagrams.parameters["message_size_bytes"], len(datagrams.intervals)) == (1024, 1)
    assert stream.kind == "tcp_stream"
    assert stream.value("throughput_bps") == pytest.approx(15112.2735e6)


def test_nuttcp_s_intervals_are_no_whole() -> None:
    reading = one(INTERVAL * 3)
    assert (reading.figures, reading.error, len(reading.intervals)) == ([], CUT, 3)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (INTERVAL + "\n*** transfer interrupted ***\n\n" + SUMMARY, "transfer interrupted"),
        ("*** transfer interrupted ***\n" + SUMMARY, "transfer interrupted"),
        (INTERVAL + "nuttcp-t: v8.2.2: Error: timeout while draining socket send queue\n", None),
        (SUMMARY + "nuttcp-r: v8.2.2: Error: receive: Connection reset by peer\nerrno=104\n", None),
        ("nuttcp-t: v6.1.2: Error: connect: Connection refused\nerrno=111\n", None),
    ],
)
def test_nuttcp_s_trouble_outranks_its_figures(text: str, error: str | None) -> None:
    reading = one(text)
    assert reading.tool == "nuttcp"
    assert reading.error == (error or text[text.index("Error:") :].partition("\n")[0])


def test_figures_of_nuttcp_that_deny_each_other_are_remarked() -> None:
    assert one(SUMMARY.replace("943.7184", "9437.184")).remarks == [
        "9437.184 Mbps are printed beside 1125.0000 MB in 10 s: they don't fit."
    ]
    [reading] = readings("nuttcp_udp.txt")
    assert reading.remarks == []
    text = (FOLDER / "nuttcp_udp.txt").read_text()
    assert one(text.replace("0.06554", "20.00")).remarks[0].startswith("20 % is printed beside 40/61032")


def test_nuttcp_tells_by_v_what_was_sent_and_which_end_connected() -> None:
    [reading] = readings("nuttcp_verbose.txt")
    assert (reading.kind, reading.version, reading.parameters) == (
        "udp_stream",
        "8.2.2",
        {"flows": 1, "peer": "10.0.0.2", "direction": "reverse", "duration_seconds": 10.0, "message_size_bytes": 1024},
    )
    figures = {
        "throughput_bps": 49.9646e6,
        "received_bytes": 59.5625 * MEBI,
        "send_throughput_bps": 49.9974e6,
        "sent_bytes": 59.6016 * MEBI,
        "lost_packets": 40,
        "loss_ratio": 40 / 61032,
        "source_cpu_ratio": 0.98,
        "sink_cpu_ratio": 0.02,
    }
    assert {metric: reading.value(metric) for metric in figures} == pytest.approx(figures)
    assert len(reading.intervals) == 1
    text = (FOLDER / "nuttcp_verbose.txt").read_text()
    assert [each.value("lost_packets") for each in read_text(text + "\n" + text)] == [40, 40]
    assert one(text[: text.index("nuttcp-r: 59")]).error == CUT
    fault = "nuttcp-r: v8.2.2: Error: timed out"
    assert one(text.replace("nuttcp-t: time limit = 10.00 seconds", fault)).error == "Error: timed out"


def test_one_end_alone_of_nuttcp_s_v_is_read() -> None:
    lines = (FOLDER / "nuttcp_verbose.txt").read_text().splitlines()
    [reading] = read_text("\n".join(line for line in lines if line.startswith("nuttcp-r")))
    assert reading.tool == "nuttcp"
    assert reading.value("throughput_bps") == pytest.approx(49.9646e6)


def test_what_the_shell_does_with_nuttcp_s_output_is_no_peer() -> None:
    summary = " 1119.3125 MB /  10.00 sec =  938.7553 Mbps 1 %TX 6 %RX 0 retrans 0.10 msRTT\n"
    for command, peer in (
        ("nuttcp -i1 -N4 10.0.0.2 | tee out.log", "10.0.0.2"),
        ("nuttcp -N2 b>out", "b"),
        ("nuttcp |cat", None),
    ):
        [reading] = read_text(f"$ {command}\n{summary}")
        assert reading.parameters.get("peer") == peer


def test_nuttcp_s_own_defaults_are_taken_where_they_are_certain() -> None:
    [trial] = trials_of(read_text(SUMMARY))[0]
    assert trial.params == {"tool": "nuttcp", "duration_seconds": 10.0, "message_size_bytes": 65536}
    [reversed_] = trials_of(read_text("$ nuttcp -r -l8k -R1g 10.0.0.2\n" + SUMMARY))[0]
    assert (reversed_.params["direction"], reversed_.params["message_size_bytes"]) == ("reverse", 8192)
    assert reversed_.params["rate_bps"] == 1_000_000_000
    [datagrams] = trials_of(read_text((FOLDER / "nuttcp_parse.txt").read_text().partition("megabytes=1801")[0]))[0]
    assert datagrams.params["rate_bps"] is None


@pytest.mark.parametrize(
    ("name", "parameters", "figures"),
    [
        (
            "ntttcp_linux.txt",
            {"flows": 64, "peer": "10.0.0.5", "duration_seconds": 11.28},
            {"throughput_bps": 94.89e9, "sent_bytes": 133812977664, "source_cpu_ratio": 0.9986, "retransmits": None,
             "host_retransmits": 11167},
        ),
        (
            "ntttcp_windows.txt",
            {"flows": 2, "peer": "192.168.31.10", "duration_seconds": 30.004, "message_size_bytes": 65536},
            {"throughput_bps": 1130.887 * MEBI * 8, "sent_bytes": 33931 * MEBI, "source_cpu_ratio": 0.03092,
             "host_retransmits": 0, "host_sent_packets": 24369617, "errors": 0},
        ),
        (
            # All totals in one wide row.
            "ntttcp_wide.txt",
            {"flows": 1, "duration_seconds": 30.016, "message_size_bytes": 131072},
            {"throughput_bps": 1131.367 * MEBI * 8, "host_sent_packets": 24450576, "source_cpu_ratio": 0.04559},
        ),
        (
            # Its mbps are of 2^20, and its CPU that of one.
            "ntttcp_linux.xml",
            {"duration_seconds": 10.518, "warmup_seconds": 1},
            {"throughput_bps": 112.189 * MEBI * 8, "sent_bytes": 1180 * MEBI, "rtt_seconds": 1234e-6,
             "source_cpu_ratio": None, "host_retransmits": 12, "host_sent_packets": None},
        ),
        (
            "ntttcp_linux.json",
            {"duration_seconds": 10.518},
            {"throughput_bps": 112.189 * MEBI * 8, "received_bytes": 1180 * MEBI, "errors": 0, "sink_cpu_ratio": None},
        ),
        (
            "ntttcp_windows.xml",
            {"duration_seconds": 30.004},
            {"throughput_bps": 1185816299.6 * 8, "received_bytes": 33931 * MEBI, "sink_cpu_ratio": 0.0525},
        ),
    ],
)  # fmt: skip
def test_ntttcp_has_the_figures_of_its_text(
    name: str, parameters: dict[str, object], figures: dict[str, float | None]
) -> None:
    [reading] = readings(name)
    assert (reading.tool, reading.kind, reading.remarks) == ("ntttcp", "tcp_stream", [])
    assert parameters.items() <= reading.parameters.items()
    found = {metric: reading.value(metric) for metric in figures}
    assert found == {metric: value if value is None else pytest.approx(value) for metric, value in figures.items()}


def test_ntttcp_s_threads_are_parts() -> None:
    [windows] = readings("ntttcp_windows.txt")
    assert windows.value("throughput_bps", "1") == pytest.approx(579014.144 * 1024 * 8)
    [xml] = readings("ntttcp_linux.xml")
    assert xml.value("throughput_bps", "0") == pytest.approx(2871.897 * 1024 * 8)
    # A thread of no time has no rate.
    [other] = readings("ntttcp_windows.xml")
    assert [figure.part for figure in other.figures if figure.part] == []


def test_ntttcp_s_receiver_goes_on_to_the_next_test() -> None:
    received, refused = read_bytes((FOLDER / "ntttcp_receiver.txt").read_bytes())
    assert (received.error, received.value("throughput_bps"), received.value("received_bytes")) == (
        "",
        84.04e9,
        630292053310,
    )
    assert received.value("sink_cpu_ratio") == pytest.approx(0.0359)
    assert received.value("throughput_bps", "1") == 42.21e9
    assert (refused.figures, refused.error) == ([], "receiver is busy with an existing test running")


LINUX = (FOLDER / "ntttcp_linux.txt").read_text()
WINDOWS = (FOLDER / "ntttcp_windows.txt").read_text()
XML = (FOLDER / "ntttcp_linux.xml").read_text()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (LINUX[: LINUX.index("13:20:26 INFO: total bytes")], CUT),
        (LINUX[: LINUX.index("13:19:28")] + "13:19:30 INFO: Test was interrupted.\n", "Test was interrupted."),
        (LINUX.replace("-t 10", "-t 60"), "The test ended after 11.28 of 60 seconds: it was interrupted."),
        ("13:19:26 ERR : sender: failed to create sync socket\n", "sender: failed to create sync socket"),
        (WINDOWS[: WINDOWS.index("#####")], CUT),
        (WINDOWS.replace("-t 30", "-t 90"), "The test ended after 30.004 of 90 seconds: it was interrupted."),
        (WINDOWS.replace("progressing...\n", "progressing...\nERROR: recv failed: 10054\n"), "recv failed: 10054"),
        (XML[: XML.index("\t<total_bytes")], CUT),
        (XML.replace(">10<", ">60<"), "The test ended after 10.518 of 60 seconds: it was interrupted."),
    ],
)
def test_ntttcp_that_failed_says_why(text: str, error: str) -> None:
    reading = one(text)
    assert (reading.tool, reading.error) == ("ntttcp", error)


def test_ntttcp_is_read_without_its_head_by_its_totals_alone() -> None:
    for begin in ("13:20:26 INFO: #####", "13:20:26 INFO: test duration"):
        reading = one(LINUX[LINUX.index(begin) :])
        # Which end it is of isn't told, nor so whose CPU.
        assert (reading.value("throughput_bps"), reading.value("transferred_bytes")) == (94.89e9, 133812977664)
        assert reading.value("source_cpu_ratio") is None
    table = one(WINDOWS[WINDOWS.index("   Bytes(MEG)") :])
    assert table.error == ""
    assert table.value("throughput_bps") == pytest.approx(1130.887 * MEBI * 8)
    assert [each.value("throughput_bps") for each in read_text(WINDOWS + WINDOWS)] == [
        pytest.approx(1130.887 * MEBI * 8)
    ] * 2


def test_ntttcp_s_datagrams_were_sent_and_may_not_have_arrived() -> None:
    sent = one(XML.replace("<udp>False", "<udp>True"))
    assert (sent.kind, sent.value("throughput_bps")) == ("udp_stream", None)
    assert sent.value("send_throughput_bps") == pytest.approx(112.189 * MEBI * 8)
    received = one(XML.replace("<udp>False", "<udp>True").replace("ntttcps", "ntttcpr"))
    assert received.value("throughput_bps") == pytest.approx(112.189 * MEBI * 8)


def test_ntttcp_s_connections_are_unknown_where_it_tells_none() -> None:
    [trial] = trials_of(read_text(XML))[0]
    assert (trial.params["flows"], trial.params["message_size_bytes"]) == (None, None)
    [windows] = trials_of(read_text(WINDOWS))[0]
    assert (windows.params["flows"], windows.params["message_size_bytes"]) == (2, 65536)
