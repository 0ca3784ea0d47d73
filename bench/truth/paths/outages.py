"""Outages in the middle of a trial end nothing that can go on."""

from __future__ import annotations

from collections.abc import Iterator

from bench.truth.ground.attempt import begin, ended_well, holds
from bench.truth.ground.verdict import Verdict
from bench.truth.ground.wire import wired

SECONDS = 12
BREAK_AFTER_SECONDS = 4
OUTAGE_SECONDS = 3
KINDS = ("tcp_stream", "udp_stream", "tcp_rr", "udp_rr")
RATES = {
    "tcp_stream": "throughput_bps",
    "udp_stream": "throughput_bps",
    "tcp_rr": "transactions_per_second",
    "udp_rr": "transactions_per_second",
}


def outage(kind: str) -> Iterator[Verdict]:
    """Data is lost for three seconds; control has another path and goes on."""
    title = f"{kind}, outage of {OUTAGE_SECONDS} s"
    settings = {"duration_seconds": SECONDS, **({"rate_bps": 5_000_000} if kind.endswith("stream") else {})}
    with wired(both="delay=5ms", is_control_apart=True) as (between, wire):
        begun = begin(between, kind, settings)
        wire.cut(after=BREAK_AFTER_SECONDS, seconds=OUTAGE_SECONDS)
        tried = begun.ended()
    yield ended_well(title, tried)
    intervals = [interval["metrics"].get(RATES[kind]) for interval in tried.result.get("intervals", [])]
    yield Verdict(f"{title}: intervals", SECONDS, len(intervals), 0, "")
    yield holds(f"{title}: has intervals of zero", intervals.count(0) >= OUTAGE_SECONDS - 1)
    yield holds(f"{title}: goes on after it", len(intervals) >= SECONDS - 1 and (intervals[-1] or 0) > 0)
    yield holds(f"{title}: flag outage", any(flag.startswith("outage") for flag in tried.flags))


def prove() -> Iterator[Verdict]:
    for kind in KINDS:
        yield from outage(kind)
