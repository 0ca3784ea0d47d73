"""iperf3's JSON (`-J`) and its stream of events (`--json-stream`), 3.0 to 3.2x, error documents included."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from benchweb.toolformats.json_values import items, json_figure, mapping, number, text
from benchweb.toolformats.readings import Figure, Interval, Reading

Json = Mapping[str, object]
# Signed 32 bits in old versions: what came out below zero has wrapped.
_MOST_PARTS = 1000
# What the kernel granted each end to send and to receive.
_SOURCE_BUFFERS = ("source_socket_buffer_bytes", "source_receive_buffer_bytes")
_SINK_BUFFERS = ("sink_send_buffer_bytes", "sink_socket_buffer_bytes")


def recognises(document: Json) -> bool:
    return ("start" in document and ("end" in document or "intervals" in document or "error" in document)) or (
        document.keys() <= {"error", "start", "end", "intervals"} and "error" in document
    )


def read(document: Json) -> Reading:
    """Return the reading of one document; a document of an error has that and what was measured before it."""
    start, end = mapping(document.get("start")), mapping(document.get("end"))
    setting = mapping(start.get("test_start"))
    is_udp = (
        text(setting.get("protocol")) or ("UDP" if "sum" in end and "jitter_ms" in mapping(end.get("sum")) else "TCP")
    ) == "UDP"
    reading = Reading(
        tool="iperf3",
        test="UDP" if is_udp else "TCP",
        kind="udp_stream" if is_udp else "tcp_stream",
        version=text(start.get("version")).removeprefix("iperf "),
        error=text(document.get("error")),
    )
    seconds = number(mapping(start.get("timestamp")).get("timesecs"))
    if seconds is not None and 0 < seconds < 1e11:
        reading.began_at = datetime.fromtimestamp(seconds, tz=UTC)
    _parameters(reading, start, setting)
    is_both = bool(number(setting.get("bidir")))
    for interval in items(document.get("intervals")):
        _interval(reading, mapping(interval), is_both=is_both)
    _sums(reading, end, is_udp=is_udp, is_both=is_both)
    cpu = mapping(end.get("cpu_utilization_percent"))
    is_sink = bool(number(setting.get("reverse"))) != ("accepted_connection" in start)
    ends = ("sink_cpu_ratio", "source_cpu_ratio") if is_sink else ("source_cpu_ratio", "sink_cpu_ratio")
    for metric, key in zip(ends, ("host_total", "remote_total"), strict=True):
        reading.add(json_figure(metric, cpu.get(key), "ratio", -2))
    if not end and not reading.error:
        reading.error = "The document has no summary: the test was cut off."
    return reading


def from_events(events: Sequence[Json]) -> Reading:
    """Return the reading of `--json-stream`: one event a line."""
    whole: dict[str, object] = {"intervals": []}
    intervals: list[object] = []
    for event in events:
        name = text(event.get("event"))
        if name in {"start", "end"}:
            whole[name] = event.get("data")
        elif name == "interval":
            intervals.append(event.get("data"))
        elif name == "error":
            whole["error"] = event.get("data")
    whole["intervals"] = intervals
    return read(whole)


def _parameters(reading: Reading, start: Json, setting: Json) -> None:
    names = (
        ("num_streams", "flows"),
        ("blksize", "message_size_bytes"),
        ("omit", "warmup_seconds"),
        ("duration", "duration_seconds"),
        ("target_bitrate", "rate_bps"),
    )
    for key, name in names:
        value = number(setting.get(key))
        if value is not None and (value > 0 or name in {"warmup_seconds"}):
            reading.parameters[name] = int(value) if value == int(value) else value
    if number(setting.get("bidir")):
        reading.parameters["direction"] = "bidirectional"
    elif number(setting.get("reverse")):
        reading.parameters["direction"] = "reverse"
    if peer := text(mapping(start.get("connecting_to")).get("host")):
        reading.parameters["peer"] = peer
    if segment := number(start.get("tcp_mss")) or number(start.get("tcp_mss_default")):
        reading.parameters["maximum_segment_bytes"] = int(segment)
    _ends(reading, start, is_reverse=bool(number(setting.get("reverse"))))


def _ends(reading: Reading, start: Json, *, is_reverse: bool) -> None:
    """Note addresses and buffers: a document tells its own end's, which is the source unless the other end sends."""
    is_server = "accepted_connection" in start
    own, other = ("source", "sink") if is_server == is_reverse else ("sink", "source")
    if connected := items(start.get("connected")):
        first = mapping(connected[0])
        for key, end in (("local_host", own), ("remote_host", other)):
            if address := text(first.get(key)):
                reading.parameters[f"{end}_address"] = address
    names = {"source": _SOURCE_BUFFERS, "sink": _SINK_BUFFERS}[own]
    for key, name in zip(("sndbuf_actual", "rcvbuf_actual"), names, strict=True):
        granted = number(start.get(key))
        if granted:
            reading.parameters[name] = int(granted)


def _interval(reading: Reading, interval: Json, *, is_both: bool) -> None:
    for key, prefix in (("sum", ""), ("sum_bidir_reverse", "reverse_")):
        total = mapping(interval.get(key))
        if not total or (prefix and not is_both):
            continue
        streams = [mapping(stream) for stream in items(interval.get("streams"))]
        figures = _flow_figures(total, prefix, "throughput_bps")
        if len(streams) == 1 and not prefix:
            figures += _stream_extras(streams[0], prefix)
        reading.intervals.append(
            Interval(
                number(total.get("start")),
                number(total.get("end")),
                tuple(figure for figure in figures if figure),
                part="reverse" if prefix else "",
                is_omitted=bool(total.get("omitted")),
            )
        )


def _sums(reading: Reading, end: Json, *, is_udp: bool, is_both: bool) -> None:
    for suffix, prefix in (("", ""), ("_bidir_reverse", "reverse_")):
        sent, received = mapping(end.get(f"sum_sent{suffix}")), mapping(end.get(f"sum_received{suffix}"))
        whole = mapping(end.get(f"sum{suffix}"))
        if not number(received.get("bytes")) and not number(received.get("packets")) and number(sent.get("bytes")):
            # This end never heard what arrived: the zeros, and a loss of none, are the sender's own.
            received = {}
            whole = {}
        if is_udp and whole and not received:
            # Before 3.2 UDP has one sum: the sender's bytes, the receiver's losses.
            figures = _flow_figures(whole, prefix, "send_throughput_bps")
        else:
            figures = _flow_figures(sent, prefix, "send_throughput_bps", has_losses=False)
            figures += _flow_figures(received, prefix, "throughput_bps", has_losses=True)
            if is_udp and whole and not any(figure and figure.metric.endswith("loss_ratio") for figure in figures):
                figures += _losses(whole, prefix)
        for figure in figures:
            reading.add(figure)
    streams = [mapping(stream) for stream in items(end.get("streams"))][:_MOST_PARTS]
    for stream in streams:
        _stream_figures(reading, stream, is_only=len(streams) == 1)


def _stream_figures(reading: Reading, stream: Json, *, is_only: bool) -> None:
    sender, receiver, udp = (mapping(stream.get(key)) for key in ("sender", "receiver", "udp"))
    part = str(int(number(sender.get("socket")) or number(udp.get("socket")) or 0))
    if not is_only:
        for each in (
            *_flow_figures(sender, "", "send_throughput_bps", part=part, has_losses=False),
            *_flow_figures(receiver, "", "throughput_bps", part=part, has_losses=False),
            *_flow_figures(udp, "", "send_throughput_bps", part=part),
        ):
            reading.add(each)
    else:
        reading.add(json_figure("rtt_seconds", sender.get("mean_rtt") or None, "s", -6))
        reading.add(json_figure("minimum_rtt_seconds", sender.get("min_rtt") or None, "s", -6))


def _stream_extras(stream: Json, prefix: str) -> list[Figure | None]:
    return [
        json_figure(f"{prefix}congestion_window_bytes", stream.get("snd_cwnd") or None, "B", 0),
        json_figure(f"{prefix}rtt_seconds", stream.get("rtt") or None, "s", -6),
    ]


def _flow_figures(
    total: Json, prefix: str, metric: str, *, part: str = "", has_losses: bool = True
) -> list[Figure | None]:
    """Return rate, bytes, retransmits and, of UDP, losses; what wrapped below zero is left out."""
    amount = "sent_bytes" if metric.startswith("send") else "received_bytes"
    figures = [
        json_figure(prefix + metric, total.get("bits_per_second"), "bit/s", 0, part),
        json_figure(prefix + amount, total.get("bytes"), "B", 0, part),
        json_figure(f"{prefix}retransmits", total.get("retransmits"), "segments", 0, part),
    ]
    return figures + (_losses(total, prefix, part) if has_losses else [])


def _losses(total: Json, prefix: str, part: str = "") -> list[Figure | None]:
    packets, lost = number(total.get("packets")), number(total.get("lost_packets"))
    if not packets or packets < 0:
        return []
    figures = [
        json_figure(f"{prefix}total_packets", total.get("packets"), "pkt", 0, part),
        json_figure(f"{prefix}jitter_seconds", total.get("jitter_ms"), "s", -3, part),
        json_figure(f"{prefix}lost_packets", total.get("lost_packets"), "pkt", 0, part),
        json_figure(f"{prefix}out_of_order_packets", total.get("out_of_order"), "pkt", 0, part),
    ]
    if lost is not None and 0 <= lost <= packets:
        figures.append(
            Figure(
                f"{prefix}loss_ratio",
                lost / packets,
                "ratio",
                len(str(int(packets))),
                f"{lost:.0f}/{packets:.0f}",
                part,
                is_derived=True,
            )
        )
    return figures
