"""nuttcp: streams of TCP and of datagrams, worked out by hand from each text."""

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
    assert (stream.kind, stream.value("throughput_bps")) == ("tcp_stream", pytest.approx(15112.2735e6))


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


def test_nuttcp_s_own_defaults_are_taken_where_they_are_certain() -> None:
    [trial] = trials_of(read_text(SUMMARY))[0]
    assert trial.params == {"tool": "nuttcp", "duration_seconds": 10.0, "message_size_bytes": 65536}
    [reversed_] = trials_of(read_text("$ nuttcp -r -l8k -R1g 10.0.0.2\n" + SUMMARY))[0]
    assert (reversed_.params["direction"], reversed_.params["message_size_bytes"]) == ("reverse", 8192)
    assert reversed_.params["rate_bps"] == 1_000_000_000
    [datagrams] = trials_of(read_text((FOLDER / "nuttcp_parse.txt").read_text().partition("megabytes=1801")[0]))[0]
    assert datagrams.params["rate_bps"] is None
