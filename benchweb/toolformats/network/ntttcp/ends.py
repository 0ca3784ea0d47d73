"""What one end of ntttcp says of a test, in whichever form: which end it is, and what its totals are of.

MB and KB are of 1,024 (ntttcp.c, util.c); retransmitted segments and packets are counted by the whole host, so that
they aren't the test's. Of TCP the rate of either end is the test's; of datagrams a sender knows what it sent alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchweb.toolformats.commands import options_above
from benchweb.toolformats.known import early_end, rate_remark
from benchweb.toolformats.numbers import binary_prefix, derived, figure, power_of_ten
from benchweb.toolformats.readings import Figure, Reading

NO_SUMMARY = "The test has no summary: it was cut off."
_COMMAND = re.compile(r"(?:^|[\s#$>;/\\])ntttcp(?:\.exe)?\s+(?P<options>-.{0,400})$", re.IGNORECASE)
_ROLES = {"s": "sender", "r": "receiver"}


@dataclass(slots=True)
class PrintingEnd:
    """Which end prints, of which protocol, and for how long it was to run."""

    role: str = ""
    is_udp: bool = False
    asked_seconds: float | None = None


def new_reading() -> Reading:
    """Return a stream that nothing is known of yet."""
    return Reading(tool="ntttcp", test="TCP", kind="tcp_stream")


def take_command(lines: Sequence[str], start: int, reading: Reading, end: PrintingEnd) -> None:
    """Take which end it is, and what was asked for, from the command that stands just before, if one does."""
    options = options_above(lines, start, _COMMAND)
    if role := re.search(r"(?:^|\s)-([sr])(?=[\s\d.]|$)", options):
        end.role = end.role or _ROLES[role[1]]
    if peer := re.search(r"(?:^|\s)(?:-m\s+\d+,[^,\s]+,|-s)(?P<peer>[\w.:]+)", options):
        reading.parameters.setdefault("peer", peer["peer"])
    if seconds := re.search(r"(?:^|\s)-t\s+(\d{1,6})(?=\s|$)", options):
        end.asked_seconds = end.asked_seconds or float(seconds[1])
    end.is_udp = end.is_udp or bool(re.search(r"(?:^|\s)-u(?=\s|$)", options))


def add_totals(reading: Reading, end: PrintingEnd, amount: Figure | None, rate: Figure | None) -> None:
    """Add the bytes and the rate of the whole test by the end that counted them, and judge them."""
    if end.is_udp:
        reading.kind, reading.test = "udp_stream", "UDP"
    reading.add(amount)
    reading.add(rate)
    took = reading.parameters.get("duration_seconds")
    if remark := rate_remark(rate, amount, took):
        reading.remarks.append(remark)
    reading.error = reading.error or ("" if rate else NO_SUMMARY)
    reading.error = reading.error or early_end(end.asked_seconds, took if isinstance(took, float) else None)


def megabytes(end: PrintingEnd, text: str) -> Figure | None:
    """Return an amount in megabytes of 2^20 bytes."""
    return figure(f"{_verb(end)}_bytes", text, "B", times=binary_prefix("M"), printed=f"{text} MB")


def total_bytes(end: PrintingEnd, text: str) -> Figure | None:
    return figure(f"{_verb(end)}_bytes", text, "B", printed=f"{text} bytes")


def rate_metric(end: PrintingEnd) -> str:
    """Name a rate: datagrams that were sent may not have arrived."""
    return "send_throughput_bps" if end.is_udp and end.role != "receiver" else "throughput_bps"


def binary_rate(metric: str, text: str, prefix: str, part: str = "") -> Figure | None:
    """Return a rate in KB/s or MB/s of 1,024."""
    return figure(metric, text, "bit/s", times=8 * binary_prefix(prefix), part=part, printed=f"{text} {prefix}B/s")


def busy_share(end: PrintingEnd, text: str) -> Figure | None:
    """Return the host's CPU use, of the end that it is; of none where that isn't known, or below what can be told."""
    share = figure(f"{_side(end)}_cpu_ratio", text, "ratio", times=power_of_ten(-2), printed=f"{text}%")
    return share if share and share.value > 0 and end.role else None


def busy_share_by_idle(end: PrintingEnd, text: str) -> Figure | None:
    """Return the host's CPU use by how much of it was idle."""
    idle = figure("idle_ratio", text, "ratio", times=power_of_ten(-2))
    return derived(f"{_side(end)}_cpu_ratio", 1 - idle.value, "ratio", (idle,)) if idle and end.role else None


def _verb(end: PrintingEnd) -> str:
    return {"sender": "sent", "receiver": "received"}.get(end.role, "transferred")


def _side(end: PrintingEnd) -> str:
    return "source" if end.role == "sender" else "sink"
