"""What benchweb writes as other tools print it is read in again with equal numbers."""

import json
import random
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchweb.catalog import catalog
from benchweb.toolformats.document import read_text
from benchweb.toolformats.readings import Reading
from benchweb.toolprints.iperf3_document import run_documents
from benchweb.toolprints.markdown import run_markdown
from benchweb.toolprints.printed import Measurement, PrintedInterval, digits
from benchweb.toolprints.text import printed, run_text

EXAMPLES = Path(__file__).parents[2] / "engine" / "schema" / "examples"
AT = datetime(2026, 11, 21, 5, 39, 59, tzinfo=UTC)
# What netperf's tables and iperf3's document have of each kind.
PRINTED = {
    "tcp_stream": ["throughput_bps"],
    "udp_stream": ["throughput_bps", "send_throughput_bps", "sent_packets", "received_packets"],
    "tcp_rr": ["transactions_per_second"],
    "tcp_crr": ["transactions_per_second"],
    "udp_rr": ["transactions_per_second"],
    "ping": ["latency_min_seconds", "latency_mean_seconds", "latency_max_seconds", "latency_mdev_seconds"],
    "http_load": ["requests_per_second", "received_bytes_per_second", "latency_mean_seconds", "latency_p999_seconds"],
}


def example(kind: str) -> Measurement:
    """Return what an engine measured, from its published example."""
    document: dict[str, Any] = json.loads((EXAMPLES / f"{kind}.json").read_text())
    intervals = tuple(
        PrintedInterval(each["start_seconds"], each["end_seconds"], each["metrics"]) for each in document["intervals"]
    )
    params = catalog().kinds[kind].filled(document["params"])
    given = {name: value for name, value in document["params"].items() if value != ""}
    return Measurement(kind, params, document["metrics"], given=given, sink="birch (data)", at=AT, intervals=intervals)


def only(text: str) -> Reading:
    [reading, *others] = read_text(text)
    assert not others
    return reading


@pytest.mark.parametrize("kind", [kind for kind in PRINTED if kind != "ping"])
def test_text_is_read_in_with_equal_numbers(kind: str) -> None:
    measured = example(kind)
    reading = only("".join(run_text("run 1", [measured])))
    assert (reading.kind, reading.error, reading.parameters["duration_seconds"]) == (kind, "", 1.0)
    for metric in PRINTED[kind]:
        assert reading.value(metric) == measured.metrics[metric], metric
    for size in ("message_size_bytes", "request_size_bytes", "response_size_bytes", "connections", "threads"):
        if size in reading.parameters:
            assert reading.parameters[size] == measured.params[size]


def test_a_ping_and_what_it_was_under_load_are_two_pings() -> None:
    measured = example("ping")
    alone, loaded = read_text(printed(measured))
    for reading, prefix in ((alone, ""), (loaded, "loaded_")):
        for metric in PRINTED["ping"]:
            assert reading.value(metric) == measured.metrics[prefix + metric]
        assert reading.value("sent_probes") == 20


def test_buffers_are_printed_where_they_are_known_and_minus_one_is_read_as_none() -> None:
    stream = example("tcp_stream")
    unknown = {name: value for name, value in stream.metrics.items() if not name.endswith("_buffer_bytes")}
    buffers = {"sink_receive_buffer_bytes": 131072.0, "source_send_buffer_bytes": 16384.0}
    known = replace(stream, metrics=unknown | buffers)
    row = printed(known).splitlines()[-1].split()
    assert row[:4] == ["131072", "16384", "16384", "1.00"]
    assert only(printed(known)).parameters["sink_socket_buffer_bytes"] == 131072
    reading = only(printed(replace(stream, metrics=unknown)))
    assert "sink_socket_buffer_bytes" not in reading.parameters
    udp = only(printed(example("udp_stream")))
    assert udp.figure("errors") is None


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("tcp_stream", {"flows": 4, "warmup_seconds": 2, "message_size_bytes": 16384, "interval_seconds": 0.5}),
        ("tcp_stream", {"tool": "iperf3", "flows": 2, "nodelay": True, "congestion": "bbr"}),
        ("ping", {"probe_interval_seconds": 0.2}),
        ("http_load", {"tool": "wrk2", "rate_rps": 500}),
    ],
)
def test_a_text_keeps_what_its_table_has_no_column_for(kind: str, given: dict[str, Any]) -> None:
    measured = replace(example(kind), given=given, params={**example(kind).params, **given})
    reading = next(iter(read_text("".join(run_text("run 1", [measured])))))
    assert reading.tool == given.get("tool", "benchweb")
    told = {name: value for name, value in given.items() if name != "tool"}
    assert {name: reading.parameters.get(name) for name in told} == told
    # Broken by hand it is a comment as any other.
    text = printed(measured).replace('{"tool"', '{tool"')
    assert next(iter(read_text(text))).tool in ("netperf", "ping", "wrk", "wrk2")


def test_what_netperf_cannot_print_is_said_and_no_table() -> None:
    both = replace(example("tcp_stream"), params={**example("tcp_stream").params, "direction": "bidirectional"})
    nothing = replace(example("tcp_rr"), metrics={})
    failed = replace(example("tcp_rr"), metrics={}, missing="failed: the peer went away")
    text = "".join(run_text("run 1", [both, nothing, failed]))
    assert not list(read_text(text))
    assert "in both directions at once: netperf has no such test" in text
    assert "not measured: transactions_per_second" in text
    assert "# tcp_rr: failed: the peer went away" in text
    several = printed(replace(example("tcp_stream"), params={**example("tcp_stream").params, "flows": 4}))
    assert several.startswith("# tcp_stream: 4 flows, their sum.\n")


def test_iperf3_documents_are_an_array_that_is_read_in_with_equal_numbers() -> None:
    measured = [example("tcp_stream"), example("tcp_rr"), example("udp_stream")]
    text = "".join(run_documents(measured))
    assert [each["start"]["test_start"]["protocol"] for each in json.loads(text)] == ["TCP", "UDP"]
    tcp, udp = read_text(text)
    for reading, written in ((tcp, measured[0]), (udp, measured[2])):
        assert (reading.tool, reading.kind, reading.began_at) == ("iperf3", written.kind, AT)
        assert reading.parameters["message_size_bytes"] == written.params["message_size_bytes"]
        for metric in ("throughput_bps", "send_throughput_bps"):
            assert reading.value(metric) == written.metrics[metric]
        assert len(reading.intervals) == len(written.intervals)
    assert tcp.value("retransmits") == measured[0].metrics["retransmits"]
    assert udp.value("lost_packets") == 37
    assert udp.value("jitter_seconds") == pytest.approx(measured[2].metrics["jitter_seconds"], rel=1e-15)
    assert udp.value("source_cpu_ratio") == pytest.approx(measured[2].metrics["source_cpu_ratio"], rel=1e-15)
    assert "".join(run_documents([example("tcp_rr")])) == "[]\n"


def test_both_directions_keep_theirs_in_iperf3() -> None:
    stream = example("tcp_stream")
    params = {**stream.params, "direction": "bidirectional"}
    metrics = {"throughput_bps": 9.4e9, "reverse_throughput_bps": 3.1e9, "reverse_send_throughput_bps": 3.2e9}
    reading = only("".join(run_documents([replace(stream, params=params, metrics=metrics, intervals=())])))
    assert reading.parameters["direction"] == "bidirectional"
    assert {metric: reading.value(metric) for metric in metrics} == metrics


def test_markdown_has_every_parameter_and_metric_and_is_read_in_with_equal_numbers() -> None:
    measured = [example(kind) for kind in PRINTED]
    units = {name: metric.unit for name, metric in catalog().metrics.items()}
    text = "".join(run_markdown("run 1: a|b", measured, units))
    assert text.startswith("# run 1: a\\|b\n")
    readings = list(read_text(text))
    assert [reading.kind for reading in readings] == list(PRINTED)
    for reading, written in zip(readings, measured, strict=True):
        assert {figure.metric: figure.value for figure in reading.figures} == written.metrics
        assert reading.parameters == written.given
        assert all(figure.unit == units[figure.metric] for figure in reading.figures)


def test_a_number_keeps_all_of_its_digits() -> None:
    numbers = random.Random(32)
    for _ in range(2_000):
        value, exponent = numbers.random() * 10 ** numbers.randint(-9, 15), numbers.choice([-6, -3, 0, 3])
        text = digits(value, exponent=exponent)
        assert len(text.partition(".")[2]) >= 2
        assert float(Decimal(text).scaleb(-exponent)) == value
    assert (digits(60), digits(0.31e6, exponent=-6), digits(3, places=0)) == ("60.00", "0.31", "3")
