"""Round trips of 0 to 3.2 s: every kind's figures beside the interface's counters and the wire's own log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import pairwise
from statistics import mean
from typing import Any

from bench.truth.delays.circuits import Circuit, Numbered, in_turn, numbered, summary
from bench.truth.ground.attempt import Attempt, attempt, begin, ended_well
from bench.truth.ground.sampler import readings
from bench.truth.ground.topology import Link
from bench.truth.ground.verdict import Verdict
from bench.truth.ground.wire import Packet, Wire, wired
from bench.truth.losses.small import is_measured
from bench.truth.rates.payload import ETHERNET_BYTES, IP_BYTES, header_bytes

# None is a multiple of its round trip: a transaction is under way when the time is over.
SECONDS = {0.0: 4.0, 0.02: 6.0, 0.2: 8.5, 1.2: 11.0, 3.2: 14.0}
ALLOWED_RATE = 0.01
ALLOWED_SECONDS, ALLOWED_SHARE = 1e-3, 100e-6
# A length that nothing else on the wire has.
REQUEST_BYTES = 37
SIZES = {"request_size_bytes": REQUEST_BYTES, "response_size_bytes": REQUEST_BYTES}
NUMBER_BYTES = 8
# The test is under way by then, and not yet over.
SET_UP_ROUND_TRIPS = 7
MESSAGE_BYTES = 1_000
UDP_HEADER_BYTES = ETHERNET_BYTES + IP_BYTES["IPv4"] + 8
DATAGRAMS_PER_SECOND = 250
# What the wire carries without missing a frame on a machine that does other things too.
RATE = "rate=50Mbit,queue=256kB"
# Exactly every so many, so that a few datagrams have some.
DEEDS = "loss=1/50,duplicate=1/33"
REQUEST_DEEDS = "loss=1/5,duplicate=1/4"


def joined(round_trip: float, forward: str = "") -> AbstractContextManager[tuple[Link, Wire]]:
    """Run engines over a wire of a round trip, with control beside it."""
    both = f"delay={round_trip / 2 * 1e3:g}ms"
    return wired(both=both, forward=forward, is_control_apart=True, is_logged=True)


def latencies(title: str, tried: Attempt, circuits: list[Circuit]) -> Iterator[Verdict]:
    for name, truth in summary(circuits).items():
        latency = tried.metric(f"latency_{name}_seconds")
        allowed = (ALLOWED_SECONDS + truth * ALLOWED_SHARE) * 1e3
        yield Verdict(f"{title}: latency, {name}", truth * 1e3, latency * 1e3, allowed, "ms", True)


def counted(tried: Attempt, circuits: list[Circuit]) -> list[Circuit]:
    """Return the first of the wire's, as many as the engine counted: one may end after the time."""
    window = tried.result.get("window") or {}
    count = round(tried.metric("transactions_per_second") * window.get("elapsed_seconds", 0))
    return circuits[:count]


def requests(round_trip: float, kind: str) -> Iterator[Verdict]:
    """A request and its response on a connection that stays open, or by datagrams."""
    title = f"{round_trip * 1e3:g} ms, {kind}"
    with joined(round_trip) as (between, wire):
        tried = attempt(between, kind, {"duration_seconds": SECONDS[round_trip], **SIZES})
        wire.end()
        circuits = in_turn(wire, kind[:3], REQUEST_BYTES)
    yield ended_well(title, tried)
    if tried.code != 0:
        return
    circuits = counted(tried, circuits)
    # The wire's own: at round trips of no time the rest of the circle is the two hosts'.
    spent = (circuits[-1].ended - circuits[0].begun) / len(circuits)
    truth = 1 / max(spent, round_trip)
    yield Verdict(f"{title}: rate", truth, tried.metric("transactions_per_second"), ALLOWED_RATE, "1/s")
    yield from latencies(title, tried, circuits)
    if kind == "udp_rr":
        yield Verdict(f"{title}: lost", 0, tried.metric("lost_packets"), 0, "pkt")


def connections(round_trip: float) -> Iterator[Verdict]:
    """A connection for each transaction takes a round trip to be made and another for the request."""
    title = f"{round_trip * 1e3:g} ms, tcp_crr"
    with joined(round_trip) as (between, wire):
        tried = attempt(between, "tcp_crr", {"duration_seconds": SECONDS[round_trip], **SIZES})
        wire.end()
        circuits = in_turn(wire, "tcp", REQUEST_BYTES)
    yield ended_well(title, tried)
    if tried.code != 0:
        return
    # The first is made before the first request passes.
    truth = max(mean(after.ended - before.ended for before, after in pairwise(circuits)), 2 * round_trip)
    yield Verdict(f"{title}: rate", 1 / truth, tried.metric("connections_per_second"), ALLOWED_RATE, "1/s")
    allowed = (ALLOWED_SECONDS + truth * ALLOWED_SHARE) * 1e3
    latency = tried.metric("latency_mean_seconds")
    yield Verdict(f"{title}: latency, mean", truth * 1e3, latency * 1e3, allowed, "ms", True)
    yield Verdict(f"{title}: errors", 0, tried.metric("errors"), 0, "")


def lost_requests(round_trip: float) -> Iterator[Verdict]:
    """Requests lost and doubled on their way: what is lost is counted, what comes twice is one."""
    title = f"{round_trip * 1e3:g} ms, udp_rr, {REQUEST_DEEDS}"
    with joined(round_trip) as (between, wire):
        params = {"duration_seconds": SECONDS[round_trip] * 2, **SIZES}
        begun = begin(between, "udp_rr", params)
        # The set-up's own are spared.
        time.sleep(1 + SET_UP_ROUND_TRIPS * round_trip)
        wire.change(REQUEST_DEEDS, way="forward")
        tried = begun.ended()
        wire.end()
        seen = numbered(wire, "udp", REQUEST_BYTES, lambda packet: packet.start[:NUMBER_BYTES])
    yield ended_well(title, tried)
    # The last is still on its way when the time is over.
    lost = seen.answers[:-1].count(0)
    yield Verdict(f"{title}: lost", lost, tried.metric("lost_packets"), 0, "pkt")
    yield from latencies(title, tried, counted(tried, seen.circuits))


def probes(round_trip: float, probe: str) -> Iterator[Verdict]:
    title = f"{round_trip * 1e3:g} ms, ping by {probe}"
    is_datagram = probe != "tcp"
    with joined(round_trip) as (between, wire):
        if is_datagram:
            wire.change("loss=1/6,duplicate=1/7", way="backward")
        # Few enough on their way at once that TCP sends each by itself.
        interval = max(0.25, round_trip / 5)
        params = {"count": 20, "probe_interval_seconds": interval, "payload_bytes": REQUEST_BYTES, "probe": probe}
        tried = attempt(between, "ping", params)
        wire.end()
        seen = pings(wire, probe)
    yield ended_well(title, tried)
    yield Verdict(f"{title}: sent", len(seen.answers), tried.metric("sent_probes"), 0, "pkt")
    yield Verdict(f"{title}: lost", seen.answers.count(0), tried.metric("lost_probes"), 0, "pkt")
    again = sum(max(count - 1, 0) for count in seen.answers)
    yield Verdict(f"{title}: duplicates", again, tried.metric("duplicate_replies"), 0, "pkt")
    yield from latencies(title, tried, seen.circuits)


def pings(wire: Wire, probe: str) -> Numbered:
    return numbered(wire, probe, REQUEST_BYTES, lambda packet: packet.start)


def window_of(result: dict[str, Any], slack: float) -> tuple[float, float]:
    begin = datetime.fromisoformat(result["window"]["started_at"]).timestamp()
    return begin - slack, begin + result["window"]["elapsed_seconds"] + slack


def streamed(
    between: Link, round_trip: float, kind: str, params: dict[str, Any]
) -> tuple[Attempt, dict[str, float] | None]:
    """Run a stream with the sink's counters read; how it ended, and the counters of its window."""
    with readings(between.sink, "data") as read:
        tried = attempt(between, kind, {"duration_seconds": SECONDS[round_trip], **params})
    if tried.code != 0:
        return tried, None
    # What comes in bursts lies at the window's very edges.
    return tried, read.between(*window_of(tried.result, min(round_trip / 100, 0.01)))


def tcp_stream(round_trip: float) -> Iterator[Verdict]:
    title = f"{round_trip * 1e3:g} ms, tcp_stream"
    with joined(round_trip, forward=RATE) as (between, _):
        tried, seen = streamed(between, round_trip, "tcp_stream", {"congestion_control": "reno"})
    yield ended_well(title, tried)
    if seen:
        payload = seen["rx_bytes"] - header_bytes("IPv4") * seen["rx_packets"]
        truth = payload * 8 / tried.result["window"]["elapsed_seconds"]
        yield Verdict(f"{title}: throughput", truth, tried.metric("throughput_bps"), ALLOWED_RATE, "bit/s")


def udp_stream(round_trip: float) -> Iterator[Verdict]:
    title = f"{round_trip * 1e3:g} ms, udp_stream, {DEEDS}"
    params = {"message_size_bytes": MESSAGE_BYTES, "rate_bps": DATAGRAMS_PER_SECOND * MESSAGE_BYTES * 8}
    with joined(round_trip, forward=DEEDS) as (between, wire):
        tried, seen = streamed(between, round_trip, "udp_stream", params)
        wire.end()
        packets = [packet for packet in wire.packets("forward", "udp", MESSAGE_BYTES) if is_measured(packet)]
    yield ended_well(title, tried)
    if seen:
        yield from datagrams(title, tried, packets)
        delivered = [packet.start for packet in packets if packet.fate == "delivered"]
        again = (len(delivered) - len(set(delivered))) * MESSAGE_BYTES
        payload = seen["rx_bytes"] - UDP_HEADER_BYTES * seen["rx_packets"] - again
        truth = payload * 8 / tried.result["window"]["elapsed_seconds"]
        yield Verdict(f"{title}: throughput", truth, tried.metric("throughput_bps"), ALLOWED_RATE, "bit/s")


def datagrams(title: str, tried: Attempt, packets: list[Packet]) -> Iterator[Verdict]:
    delivered = [packet.start for packet in packets if packet.fate == "delivered"]
    sent, received = len({packet.start for packet in packets}), len(set(delivered))
    yield Verdict(f"{title}: sent", sent, tried.metric("sent_packets"), 0, "pkt")
    yield Verdict(f"{title}: lost", sent - received, tried.metric("lost_packets"), 0, "pkt")
    yield Verdict(f"{title}: duplicates", len(delivered) - received, tried.metric("duplicate_packets"), 0, "pkt")


def prove() -> Iterator[Verdict]:
    for round_trip in SECONDS:
        for kind in ("udp_rr", "tcp_rr"):
            yield from requests(round_trip, kind)
        yield from lost_requests(round_trip)
        yield from connections(round_trip)
        for probe in ("icmp", "udp", "tcp"):
            yield from probes(round_trip, probe)
        yield from tcp_stream(round_trip)
        yield from udp_stream(round_trip)
