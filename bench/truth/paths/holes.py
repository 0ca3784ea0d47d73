"""Paths on which something never arrives: it is found, counted and named."""

from __future__ import annotations

import time
from collections.abc import Iterator

from bench.truth.ground.attempt import Attempt, attempt, begin, ended_well, holds
from bench.truth.ground.topology import Link
from bench.truth.ground.verdict import Verdict
from bench.truth.ground.wire import Wire, wired

SECONDS = 4
FAILED = 5
JUMBO_BYTES = 9_000
LARGEST_TEXT = "1,472"
# Larger than what any set-up sends.
MESSAGE_BYTES = 1_472


def says(tried: Attempt, text: str) -> bool:
    """Look in all that a test gave, but not in facts, for a text."""
    remaining = {name: value for name, value in tried.result.items() if name not in ("source", "sink", "params")}
    return text in tried.stderr or text in str(remaining)


def black_hole() -> Iterator[Verdict]:
    """MTU 9000 at the ends and 1500 between, without ICMP; TCP probes, as Linux does when it is set to."""
    with wired(both="mtu=1500,too_big=silent", mtu=JUMBO_BYTES, is_control_apart=True) as (between, _):
        for space in (between.source, between.sink):
            space.run("sysctl", "-qw", "net.ipv4.tcp_mtu_probing=1")
        for kind in ("tcp_stream", "tcp_rr", "udp_rr", "ping"):
            params = {"count": 5} if kind == "ping" else {"duration_seconds": SECONDS}
            tried = attempt(between, kind, params)
            yield ended_well(f"black hole above 1500, {kind}", tried)
            if kind == "tcp_stream":
                yield holds(f"black hole above 1500, {kind}: is named", says(tried, LARGEST_TEXT))
        params = {"duration_seconds": SECONDS, "message_size_bytes": 8_972, "rate_bps": 1_000_000}
        yield from nothing_arrived(
            "black hole above 1500, udp_stream of 8,972 B", attempt(between, "udp_stream", params)
        )


def nothing_arrived(title: str, tried: Attempt) -> Iterator[Verdict]:
    """A test that received nothing has failed, says so, and keeps its counts."""
    yield Verdict(f"{title}: exit code", FAILED, tried.code, 0, "")
    yield holds(f"{title}: says that nothing arrived", says(tried, "nothing arrived"))
    yield holds(f"{title}: blames no cookie", not says(tried, "cookie"))
    counts = [tried.metric(name) for name in ("sent_packets", "sent_probes")]
    yield holds(f"{title}: keeps what was sent", any(count > 0 for count in counts))


def begin_then_block(between: Link, wire: Wire, block: str) -> Attempt:
    """Block the way forward when the set-up is over and the datagrams of the test begin."""
    params = {
        "duration_seconds": SECONDS,
        "message_size_bytes": MESSAGE_BYTES,
        "rate_bps": 1_000_000,
        "warmup_seconds": 1,
    }
    begun = begin(between, "udp_stream", params)
    before = wire.counts().of("forward", "udp").offered
    while wire.counts().of("forward", "udp").offered < before + 5:
        time.sleep(0.02)
    wire.change(block, "forward")
    return begun.ended()


def nothing() -> Iterator[Verdict]:
    """ICMP that is blocked, UDP that is, and UDP above an MTU that nobody tells of."""
    with wired(is_control_apart=True) as (between, wire):
        wire.change("block=icmp")
        yield from nothing_arrived("ICMP blocked, ping", attempt(between, "ping", {"count": 5, "probe": "icmp"}))
        wire.change("block=none")
        yield from nothing_arrived("UDP blocked, udp_stream", begin_then_block(between, wire, "block=udp"))
        wire.change("block=none")
        small = f"mtu={MESSAGE_BYTES},too_big=silent"
        yield from nothing_arrived("UDP into a smaller MTU", begin_then_block(between, wire, small))
        wire.change("mtu=0")
        params = {"duration_seconds": SECONDS, "message_size_bytes": 5_000, "rate_bps": 1_000_000}
        wire.change("block=fragments")
        yield from nothing_arrived("fragments dropped, udp_stream of 5,000 B", attempt(between, "udp_stream", params))
