"""iperf3's rows: intervals with their Transfer column, then the summary; of UDP with jitter and losses."""

from collections.abc import Sequence
from typing import Any

from benchweb.documents.document import DocumentTable
from benchweb.documents.references import joined_label
from benchweb.reports.reported import Combination, ReportedRun
from benchweb.reports.tables.notation import MISSING, bytes_of_iperf, count, filled, fixed, rate_of_iperf
from benchweb.toolformats.readings import Interval, Reading

_TCP = ["Interval", "Transfer", "Bandwidth", "Retr", "Cwnd", ""]
_UDP = ["Interval", "Transfer", "Bandwidth", "Jitter", "Lost/Total Datagrams", ""]
_NUMERIC = [1, 2, 3, 4]
# As iperf3 marks the seconds before it counts.
_OMITTED = "(omitted)"


def iperf3_tables(run: ReportedRun) -> list[DocumentTable]:
    """Return a table for each stream test: of an import as iperf3 printed it, of the engine in the same columns."""
    if run.imported is not None:
        readings = [reading for reading in run.readings if reading.tool == "iperf3"]
        return filled([_printed(run, reading) for reading in readings])
    return filled([_measured(run, test) for test in run.combinations("tcp_stream", "udp_stream")])


def _printed(run: ReportedRun, reading: Reading) -> DocumentTable:
    is_udp = reading.kind == "udp_stream"
    rows = [_printed_interval(interval, is_udp=is_udp) for interval in reading.intervals]
    seconds = reading.parameters.get("duration_seconds", 0)
    for metric, moved, side in (
        ("send_throughput_bps", "sent_bytes", "sender"),
        ("throughput_bps", "received_bytes", "receiver"),
    ):
        if rate := reading.figure(metric):
            amount = reading.figure(moved)
            tail = _losses(reading) if is_udp and side == "receiver" else [_retransmits(reading, side), ""]
            span = f"0.00-{float(seconds):.2f} sec"
            rows.append([span, amount.text if amount else MISSING, rate.text, *tail, side])
    title = joined_label([f"iperf3 {reading.test}", run.label])
    return DocumentTable(title, list(_UDP if is_udp else _TCP), rows, _NUMERIC)


def _printed_interval(interval: Interval, *, is_udp: bool) -> list[str]:
    texts = {figure.metric: figure.text for figure in interval.figures}
    span = f"{interval.begin_seconds or 0:.2f}-{interval.end_seconds or 0:.2f} sec"
    moved = texts.get("transferred_bytes", texts.get("received_bytes", MISSING))
    rate = texts.get("throughput_bps", texts.get("send_throughput_bps", MISSING))
    lost, total = texts.get("lost_packets"), texts.get("total_packets")
    tail = (
        [texts.get("jitter_seconds", MISSING), f"{lost}/{total}" if lost and total else MISSING]
        if is_udp
        else [texts.get("retransmits", ""), texts.get("congestion_window_bytes", "")]
    )
    marks = [interval.part if interval.part == "SUM" else "", _OMITTED if interval.is_omitted else ""]
    return [span, moved, rate, *tail, " ".join(filter(None, marks))]


def _retransmits(reading: Reading, side: str) -> str:
    figure = reading.figure("retransmits")
    return figure.text if figure and side == "sender" else ""


def _losses(reading: Reading) -> list[str]:
    jitter, lost, total = (reading.figure(name) for name in ("jitter_seconds", "lost_packets", "total_packets"))
    return [jitter.text if jitter else MISSING, f"{lost.text}/{total.text}" if lost and total else MISSING]


def _measured(run: ReportedRun, test: Combination) -> DocumentTable:
    """Return the engine's: intervals of the first repetition, then all of them combined."""
    is_udp = test.first.kind == "udp_stream"
    intervals: Sequence[dict[str, Any]] = test.trials[0].document.get("intervals") or []
    rows = [_measured_interval(interval, is_udp=is_udp) for interval in intervals]
    span = f"0.00-{test.first.seconds:.2f} sec"
    for metric, side in (("send_throughput_bps", "sender"), ("throughput_bps", "receiver")):
        rate = test.value(metric)
        if rate is not None:
            tail = ["", ""]
            if is_udp and side == "receiver":
                tail = _datagrams(test.value("jitter_seconds"), test.value("lost_packets"), test.value("sent_packets"))
            elif not is_udp and side == "sender":
                tail = [count(test.value("retransmits")), ""]
            rows.append([span, _moved(rate, test.first.seconds), rate_of_iperf(rate), *tail, side])
    size = f"{count(test.first.params['message_size_bytes'])} B"
    title = joined_label([f"iperf3 {'UDP' if is_udp else 'TCP'}, {size}", run.label, f"n = {test.n}"])
    return DocumentTable(title, list(_UDP if is_udp else _TCP), rows, _NUMERIC)


def _measured_interval(interval: dict[str, Any], *, is_udp: bool) -> list[str]:
    begin, end, metrics = interval["start_seconds"], interval["end_seconds"], interval.get("metrics") or {}
    rate = metrics.get("throughput_bps")
    tail = (
        _datagrams(metrics.get("jitter_seconds"), metrics.get("lost_packets"), metrics.get("sent_packets"))
        if is_udp
        else [count(metrics.get("retransmits")), bytes_of_iperf(metrics.get("congestion_window_bytes"))]
    )
    mark = _OMITTED if interval.get("warmup") or interval.get("drain") else ""
    return [f"{begin:.2f}-{end:.2f} sec", _moved(rate, end - begin), rate_of_iperf(rate), *tail, mark]


def _moved(rate_bps: float | None, seconds: float) -> str:
    return bytes_of_iperf(None if rate_bps is None else rate_bps * seconds / 8)


def _datagrams(jitter: float | None, lost: float | None, total: float | None) -> list[str]:
    milliseconds = MISSING if jitter is None else f"{fixed(jitter, 3, factor=1e3)} ms"
    return [milliseconds, MISSING if lost is None or total is None else f"{lost:.0f}/{total:.0f}"]
