"""Rates that are kept after an outage, by a sender that was stopped, and with large messages."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from bench.truth.ground.attempt import Begun, attempt, begin, ended_well, holds
from bench.truth.ground.verdict import Verdict
from bench.truth.ground.wire import Packet, Wire, wired

RATE_BPS = 10_000_000
SECONDS = 12
BREAK_AFTER_SECONDS = 4
STOPPED_SECONDS = 2.5
# In any second, a burst of a few milliseconds included.
ALLOWED_BUSIEST = 0.05


def busiest_second_bps(packets: list[Packet]) -> float:
    """The most payload that the source sent in any window of a second, by the wire's log."""
    first, held, most = 0, 0, 0
    for packet in packets:
        held += packet.payload_bytes
        while packet.arrived - packets[first].arrived >= 1_000_000_000:
            held -= packets[first].payload_bytes
            first += 1
        most = max(most, held)
    return most * 8


def outage(seconds: float) -> Iterator[Verdict]:
    """Nothing passes for a while; what the stream missed is missed, and not caught up with."""
    title = f"TCP at 10 Mbit/s, outage of {seconds:g} s"
    with wired(both="delay=5ms", is_control_apart=True, is_logged=True) as (between, wire):
        begun = begin(between, "tcp_stream", {"duration_seconds": SECONDS, "rate_bps": RATE_BPS})
        wire.cut(after=BREAK_AFTER_SECONDS, seconds=seconds)
        tried = begun.ended()
        yield ended_well(title, tried)
        yield from within_rate(title, wire, "tcp")
        yield holds(f"{title}: rate_not_reached", "rate_not_reached" in tried.flags)


def within_rate(title: str, wire: Wire, protocol: str) -> Iterator[Verdict]:
    """What the source sent is no more than the rate in any second, retransmissions left out by the margin."""
    wire.end()
    packets = [
        packet for packet in wire.packets("forward", protocol) if packet.payload_bytes > 0 and packet.fate != "outage"
    ]
    busiest = busiest_second_bps(packets)
    yield holds(f"{title}: something was sent", busiest > 0)
    yield Verdict(f"{title}: busiest second", RATE_BPS, max(busiest, RATE_BPS), ALLOWED_BUSIEST, "bit/s")


def stopped(kind: str) -> Iterator[Verdict]:
    """The sender's process stands still for two seconds and a half."""
    title = f"{kind} at 10 Mbit/s, sender stopped for {STOPPED_SECONDS:g} s"
    with wired(both="delay=5ms", is_control_apart=True, is_logged=True) as (between, wire):
        begun = begin(between, kind, {"duration_seconds": SECONDS, "rate_bps": RATE_BPS})
        time.sleep(BREAK_AFTER_SECONDS)
        stop(begun, STOPPED_SECONDS)
        tried = begun.ended()
        yield ended_well(title, tried)
        if kind == "udp_stream":
            yield Verdict(f"{title}: lost", 0, tried.metric("lost_packets"), 0, "pkt")
        yield from within_rate(title, wire, kind[:3])
        yield holds(f"{title}: rate_not_reached", "rate_not_reached" in tried.flags)


def stop(begun: Begun, seconds: float) -> None:
    """Suspend the program and its session's processes."""
    pid = begun.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    pids = [pid, *map(int, children)]
    for process_id in pids:
        os.kill(process_id, signal.SIGSTOP)
    time.sleep(seconds)
    for process_id in pids:
        os.kill(process_id, signal.SIGCONT)


def large_messages() -> Iterator[Verdict]:
    """1 MiB messages at 1 Mbit/s: cut to what the rate allows, or refused with the largest that fits."""
    title = "1 MiB messages at 1 Mbit/s"
    settings = {"duration_seconds": 10, "rate_bps": 1_000_000, "message_size_bytes": 1 << 20}
    with wired(is_control_apart=True) as (between, _):
        tried = attempt(between, "tcp_stream", settings)
    if tried.code == 0:
        yield Verdict(f"{title}: sent", 1e6, tried.metric("send_throughput_bps"), 0.01, "bit/s")
        yield Verdict(f"{title}: received", 1e6, tried.metric("throughput_bps"), 0.01, "bit/s")
    else:
        yield holds(f"{title}: refused with the largest that fits", "message_size_bytes" in tried.stderr)


def prove() -> Iterator[Verdict]:
    yield from outage(1.2)
    yield from outage(5)
    yield from stopped("udp_stream")
    yield from stopped("tcp_stream")
    yield from large_messages()
