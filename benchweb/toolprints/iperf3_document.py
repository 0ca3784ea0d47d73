"""iperf3's JSON (`iperf3 -J`, as of 3.16) of a stream test; what benchweb doesn't measure is left out."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from benchweb.toolprints.printed import Measurement, PrintedInterval, digits

KINDS = frozenset({"tcp_stream", "udp_stream"})
# Both directions at once: the second is under these members.
_DIRECTIONS = (("", ""), ("reverse_", "_bidir_reverse"))


def run_documents(measurements: Iterable[Measurement]) -> Iterator[str]:
    """Return an array with a document for each stream test."""
    between = "["
    for measured in measurements:
        if measured.kind in KINDS and measured.metrics:
            yield between + "\n" + json.dumps(document(measured), indent=1)
            between = ","
    yield "[]\n" if between == "[" else "\n]\n"


def document(measured: Measurement) -> dict[str, Any]:
    """Return one test as iperf3 prints it."""
    return {
        "start": _start(measured),
        "intervals": [_interval(measured, interval) for interval in measured.intervals],
        "end": _end(measured),
    }


def _start(measured: Measurement) -> dict[str, Any]:
    params, metrics = measured.params, measured.metrics
    direction = params.get("direction", "forward")
    start: dict[str, Any] = {"connected": [], "version": "benchweb"}
    if measured.at:
        start["timestamp"] = {
            "time": measured.at.strftime("%a, %d %b %Y %H:%M:%S GMT"),
            "timesecs": int(measured.at.timestamp()),
        }
    start["connecting_to"] = {"host": measured.address, "port": 5201}
    for key, metric in (("sndbuf_actual", "source_send"), ("rcvbuf_actual", "sink_receive")):
        if (granted := metrics.get(f"{metric}_buffer_bytes")) is not None:
            start[key] = int(granted)
    start["test_start"] = {
        "protocol": "UDP" if measured.kind == "udp_stream" else "TCP",
        "num_streams": params.get("flows", 1),
        "blksize": params.get("message_size_bytes") or 0,
        "omit": params.get("warmup_seconds", 0),
        "duration": params.get("duration_seconds", 0),
        "bytes": 0,
        "blocks": 0,
        "reverse": int(direction == "reverse"),
        "tos": int(params.get("dscp", 0)) << 2,
        "target_bitrate": params.get("rate_bps") or 0,
        "bidir": int(direction == "bidirectional"),
    }
    return start


def _interval(measured: Measurement, interval: PrintedInterval) -> dict[str, Any]:
    made: dict[str, Any] = {"streams": []}
    for prefix, suffix in _DIRECTIONS:
        names = ("throughput_bps", "send_throughput_bps")
        rate = next((interval.metrics[prefix + name] for name in names if prefix + name in interval.metrics), None)
        if rate is None:
            continue
        span = _span(interval.begin_seconds, interval.end_seconds)
        counted = _given({"retransmits": interval.metrics.get(f"{prefix}retransmits")})
        made[f"sum{suffix}"] = span | {"bits_per_second": rate} | counted | {"omitted": interval.is_omitted}
    return made


def _end(measured: Measurement) -> dict[str, Any]:
    end: dict[str, Any] = {"streams": []}
    is_udp = measured.kind == "udp_stream"
    for prefix, suffix in _DIRECTIONS:
        metrics = {
            name.removeprefix(prefix): value for name, value in measured.metrics.items() if name.startswith(prefix)
        }
        span = _span(0, measured.seconds)
        losses = _losses(metrics) if is_udp else {}
        for member, metric, counted in (
            ("sum_sent", "send_throughput_bps", {} if is_udp else _given({"retransmits": metrics.get("retransmits")})),
            ("sum_received", "throughput_bps", losses),
        ):
            if metric in metrics or counted:
                rate = _given({"bits_per_second": metrics.get(metric)}, is_whole=False)
                end[member + suffix] = span | rate | counted | {"sender": member == "sum_sent"}
        if losses:
            end[f"sum{suffix}"] = span | losses | {"sender": True}
    if cpu := _cpu(measured):
        end["cpu_utilization_percent"] = cpu
    return end


def _losses(metrics: Mapping[str, float]) -> dict[str, Any]:
    counted = _given(
        {
            "lost_packets": metrics.get("lost_packets"),
            "packets": metrics.get("sent_packets"),
            "out_of_order": metrics.get("out_of_order_packets"),
        }
    )
    if "jitter_seconds" in metrics:
        counted["jitter_ms"] = float(digits(metrics["jitter_seconds"], exponent=3))
    if "loss_ratio" in metrics:
        counted["lost_percent"] = float(digits(metrics["loss_ratio"], exponent=2))
    return counted


def _cpu(measured: Measurement) -> dict[str, float]:
    is_reverse = measured.params.get("direction") == "reverse"
    ends = ("sink_cpu_ratio", "source_cpu_ratio") if is_reverse else ("source_cpu_ratio", "sink_cpu_ratio")
    return {
        key: float(digits(measured.metrics[metric], exponent=2))
        for key, metric in zip(("host_total", "remote_total"), ends, strict=True)
        if metric in measured.metrics
    }


def _span(begin: float, end: float) -> dict[str, float]:
    return {"start": begin, "end": end, "seconds": end - begin}


def _given(values: Mapping[str, float | None], *, is_whole: bool = True) -> dict[str, Any]:
    """Return the values that there are; counts as whole numbers."""
    return {key: int(value) if is_whole else value for key, value in values.items() if value is not None}
