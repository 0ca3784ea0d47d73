"""What holds for the figures of every tool: nothing known is nothing stored, and what follows from them is added."""

import re
from collections.abc import Sequence

from benchweb.toolformats.numbers import derived
from benchweb.toolformats.readings import Figure, Reading

# Counters of 32 bits that ran below zero: no test has so many.
_WRAPPED = 2**31
_COUNTERS = ("retransmits", "lost_packets", "out_of_order_packets", "errors")
_ZEROS_ARE_UNKNOWN = re.compile(
    r"^(?:reverse_|completion_|submission_|half_round_trip_)*"
    r"(?:latency_(?:min|mean|max|p\d+)|(?:minimum_)?rtt|min|mean|max|p\d+)_seconds$|^(?:reverse_)?congestion_window_bytes$"
)
# More than any interface carries.
_MOST_BPS = 1e12
_MOST_REMARKS = 20
# A percentage that was printed beside its own fraction may be rounded by so much.
_MOST_ROUNDED = 0.006

# Of the time that was asked for.
_LEAST_OF_TIME = 0.9
# A rate may be off by so much from its amount and time: what is on its way at the end may count or not.
_MOST_APART = 0.02
# Of shorter ones the time itself is rounded by as much.
_SHORTEST_SECONDS = 0.5


def keep_known(reading: Reading) -> None:
    """Leave out figures that say nothing, say so, and add what the others say together."""
    kept: list[Figure] = []
    for figure in reading.figures:
        why = _why_unknown(figure, reading)
        if not why:
            kept.append(figure)
        elif not figure.metric.startswith(_PHASES) and len(reading.remarks) < _MOST_REMARKS:
            reading.remarks.append(f"{figure.metric} of {figure.text or f'{figure.value:g}'} is left out: {why}.")
    reading.figures = kept
    _add_packet_rates(reading)


def _why_unknown(figure: Figure, reading: Reading) -> str:
    """Return why a figure says nothing, in words that follow a colon; empty where it does."""
    bare = figure.metric.removeprefix("reverse_")
    prefix = figure.metric[: len(figure.metric) - len(bare)]
    if bare in _COUNTERS and figure.value >= _WRAPPED:
        return "the counter has wrapped"
    if bare == "jitter_seconds" and _arrived(reading, prefix, figure.part) in (0, 1):
        return "one datagram has no jitter"
    if figure.value == 0 and _ZEROS_ARE_UNKNOWN.match(figure.metric):
        return "it is below what the tool can tell"
    if figure.value == 0 and any(
        (reading.value(prefix + each, figure.part) or 0) > 0 for each in _BESIDE.get(bare, ())
    ):
        return "it is rounded to nothing beside what was counted"
    if bare.startswith(_RATES) and figure.value * _BITS.get(figure.unit, 0) > _MOST_BPS:
        return "no interface carries as much"
    return ""


_RATES = ("nic_", "throughput", "send_throughput")
_BITS = {"bit/s": 1, "B/s": 8}
# fio prints zeros for phases that it didn't measure.
_PHASES = ("completion_", "submission_")
# Rates that can't be zero beside a count that isn't.
_BESIDE = {
    "throughput_bps": ("received_packets", "received_bytes", "packets_per_second"),
    "send_throughput_bps": ("sent_packets", "sent_bytes", "send_packets_per_second"),
    "nic_rx_bytes_per_second": ("nic_rx_packets_per_second",),
    "nic_tx_bytes_per_second": ("nic_tx_packets_per_second",),
    "received_bytes_per_second": ("received_bytes",),
    "requests_per_second": ("requests",),
    "bytes_per_second": ("iops",),
}


def _arrived(reading: Reading, prefix: str, part: str) -> float | None:
    """Return how many datagrams arrived; None where that isn't told."""
    total = reading.value(prefix + "total_packets", part)
    if total is None:
        return reading.value(prefix + "received_packets", part)
    return total - (reading.value(prefix + "lost_packets", part) or 0)


def _add_packet_rates(reading: Reading) -> None:
    """Add how many datagrams arrived and were sent, and at which rate, where counts and time are told."""
    seconds = reading.parameters.get("duration_seconds")
    if reading.kind != "udp_stream":
        return
    for prefix in ("", "reverse_"):
        total, lost = reading.figure(prefix + "total_packets"), reading.figure(prefix + "lost_packets")
        if total and lost and lost.value <= total.value and not reading.figure(prefix + "received_packets"):
            arrived = total.value - lost.value
            reading.add(derived(prefix + "received_packets", arrived, "pkt", (total, lost)))
        if not isinstance(seconds, int | float) or seconds <= 0:
            continue
        for count, rate in (
            ("received_packets", "packets_per_second"),
            ("sent_packets", "send_packets_per_second"),
        ):
            counted = reading.figure(prefix + count)
            if counted and not reading.figure(prefix + rate):
                reading.add(derived(prefix + rate, counted.value / seconds, "pkt/s", (counted,)))


# What flows add up to.
_SUMMED = (
    "throughput_bps", "send_throughput_bps", "received_bytes", "sent_bytes", "retransmits", "lost_packets",
    "total_packets", "sent_packets", "out_of_order_packets",
)  # fmt: skip


def add_sums(reading: Reading, parts: Sequence[str], prefix: str = "") -> None:
    """Add the sums of flows whose tool printed none, where each of them has the figure; and what of all was lost."""
    for metric in _SUMMED:
        figures = [figure for part in parts if (figure := reading.figure(prefix + metric, part))]
        if len(figures) == len(parts) and not reading.figure(prefix + metric):
            value = sum(figure.value for figure in figures)
            reading.add(derived(prefix + metric, value, figures[0].unit, tuple(figures)))
    lost, total = reading.figure(prefix + "lost_packets"), reading.figure(prefix + "total_packets")
    if lost and total and 0 <= lost.value <= total.value and total.value and not reading.figure(prefix + "loss_ratio"):
        reading.add(derived(prefix + "loss_ratio", lost.value / total.value, "ratio", (lost, total)))


def percentage_remark(printed: str, part: int, whole: int) -> str:
    """Return a remark where a printed percentage isn't what its own fraction says; empty where it fits or is none."""
    try:
        share = float(printed.rstrip("% "))
    except ValueError:
        return ""
    if whole <= 0 or part < 0 or abs(share - 100 * part / whole) <= max(_MOST_ROUNDED * 100 * part / whole, 1.0):
        return ""
    return f"{share:g} % is printed beside {part}/{whole}, which is {100 * part / whole:.3g} %: the counts are taken."


def early_end(asked_seconds: float | None, took_seconds: float | None) -> str:
    """Say that a test ended long before its time; empty where it didn't, or where either isn't known."""
    if asked_seconds and took_seconds is not None and took_seconds < _LEAST_OF_TIME * asked_seconds:
        return f"The test ended after {took_seconds:g} of {asked_seconds:g} seconds: it was interrupted."
    return ""


def rate_remark(rate: Figure | None, amount: Figure | None, seconds: object) -> str:
    """Return a remark where a printed rate isn't what the amount and the time beside it say; empty where it fits."""
    if not (rate and rate.value and amount and isinstance(seconds, float) and seconds >= _SHORTEST_SECONDS):
        return ""
    said = amount.value * (_BITS["B/s"] if (rate.unit, amount.unit) == ("bit/s", "B") else 1) / seconds
    if abs(said / rate.value - 1) <= _MOST_APART:
        return ""
    return f"{_named(rate)} are printed beside {_named(amount)} in {seconds:g} s: they don't fit."


def _named(figure: Figure) -> str:
    """Return a figure as it was printed, with its unit where that stands elsewhere."""
    return figure.text if any(map(str.isalpha, figure.text)) else f"{figure.text} {figure.unit}"
