"""Long round trips: every kind is set up, and its figure is that of the wire."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.truth.ground.attempt import attempt, ended_well
from bench.truth.ground.topology import Link
from bench.truth.ground.verdict import Verdict
from bench.truth.ground.wire import wired

SECONDS = 13
PROBES = {"count": 5, "probe_interval_seconds": 1}
KINDS = ("tcp_stream", "udp_stream", "tcp_rr", "tcp_crr", "udp_rr", "ping", "http_load")
# A transaction that hasn't ended with the window counts for nothing.
ALLOWED_TRANSACTIONS = 1


def params(kind: str) -> dict[str, Any]:
    if kind == "ping":
        return PROBES
    return {"duration_seconds": SECONDS, **({"rate_bps": 1_000_000} if kind == "udp_stream" else {})}


def transactions(between: Link, kind: str, round_trip: float) -> Iterator[Verdict]:
    title = f"round trip {round_trip:g} s, {kind}"
    tried = attempt(between, kind, params(kind))
    yield ended_well(title, tried)
    if kind == "ping":
        yield Verdict(f"{title}: lost", 0, tried.metric("lost_probes"), 0, "pkt")
    else:
        rate = 1 / round_trip
        measured = tried.metric("transactions_per_second")
        yield Verdict(f"{title}: rate", rate, measured, ALLOWED_TRANSACTIONS / SECONDS, "1/s", True)
    if kind == "udp_rr":
        yield Verdict(f"{title}: lost", 0, tried.metric("lost_packets"), 0, "pkt")
    measured = tried.metric("latency_p50_seconds")
    yield Verdict(f"{title}: p50", round_trip * 1e3, measured * 1e3, 1 + round_trip * 0.1, "ms", True)


def late() -> Iterator[Verdict]:
    """At 1.2 s no reply is lost: it is late."""
    with wired(both="delay=600ms") as (between, _):
        for kind in ("udp_rr", "tcp_rr", "ping"):
            yield from transactions(between, kind, 1.2)


def set_up() -> Iterator[Verdict]:
    """At 3.2 s every kind is set up, with control beside the wire and on it."""
    for is_control_apart in (True, False):
        with wired(both="delay=1600ms", is_control_apart=is_control_apart) as (between, _):
            position = "beside" if is_control_apart else "on"
            for kind in KINDS:
                yield ended_well(
                    f"round trip 3.2 s, control {position} it, {kind}", attempt(between, kind, params(kind))
                )
