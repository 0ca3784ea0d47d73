"""Thin links: the test's own data queue before the link's words, and the drain takes long."""

from __future__ import annotations

from collections.abc import Iterator

from bench.truth.ground.attempt import attempt, ended_well, holds
from bench.truth.ground.verdict import Verdict
from bench.truth.ground.wire import wired
from bench.truth.rates.payload import payload_share

SECONDS = 10
INTERVAL_SECONDS = 1
MESSAGE_BYTES = 1_400


def flows() -> Iterator[Verdict]:
    """32 flows into 1 Mbit/s with a queue of eight seconds.

    The round trip grows from 20 ms to eight seconds within one: what TCP sends again in vain until it knows that is
    payload to the wire, and nothing to the application. A bare loop of 32 blocking sockets receives 0.940 Mbit/s on
    this wire, iperf3 tells 0.64 (its receiver's sum) and 32 netperf 0.81: the link's full 0.956 reaches no application.
    """
    title = "1 Mbit/s, queue of 1 MB, 32 TCP flows"
    with wired(both="delay=10ms", forward="rate=1Mbit,queue=1MB") as (between, _):
        tried = attempt(between, "tcp_stream", {"duration_seconds": SECONDS, "flows": 32})
    yield ended_well(title, tried)
    throughput = tried.metric("throughput_bps")
    yield Verdict(f"{title}: throughput", 1e6 * payload_share("IPv4"), throughput, 0.04, "bit/s")


def datagrams() -> Iterator[Verdict]:
    """390 kbit/s of UDP into 100 kbit/s: what is lost is what the queue dropped."""
    title = "UDP of 390 kbit/s into 100 kbit/s"
    settings = {"duration_seconds": SECONDS, "rate_bps": 390_000, "message_size_bytes": MESSAGE_BYTES}
    with wired(both="delay=10ms", forward="rate=100kbit,queue=64kB", is_logged=True) as (between, wire):
        tried = attempt(between, "udp_stream", settings)
        wire.end()
        dropped = wire.report.of("forward", "udp").queue_full
        offered = wire.report.of("forward", "udp").offered
    yield ended_well(title, tried)
    # The set-up's own few datagrams are counted too.
    yield Verdict(f"{title}: sent", offered, tried.metric("sent_packets"), 4, "pkt", True)
    yield Verdict(f"{title}: loss", dropped / offered, tried.metric("loss_ratio"), 0.02, "", True)


def drain() -> Iterator[Verdict]:
    """A send buffer of 4 MiB before 250 kbit/s: the test ends in time and tells what came in its window."""
    title = "4 MiB to send at 250 kbit/s"
    settings = {
        "duration_seconds": SECONDS, "source_socket_buffer_bytes": 4 << 20, "report_interval_seconds": INTERVAL_SECONDS
    }  # fmt: skip
    with wired(both="delay=10ms", forward="rate=250kbit,queue=30kB") as (between, _):
        tried = attempt(between, "tcp_stream", settings)
    yield ended_well(title, tried)
    throughput = tried.metric("throughput_bps")
    yield Verdict(f"{title}: throughput", 250e3 * payload_share("IPv4"), throughput, 0.02, "bit/s")
    intervals = tried.result.get("intervals", [])
    longest = max((interval["end_seconds"] - interval["start_seconds"] for interval in intervals), default=float("nan"))
    yield Verdict(f"{title}: longest interval", INTERVAL_SECONDS, longest, 0.1, "s", True)
    yield holds(f"{title}: ends by itself within 30 s of its time", tried.code == 0 and tried.seconds < SECONDS + 30)


def prove() -> Iterator[Verdict]:
    yield from flows()
    yield from datagrams()
    yield from drain()
