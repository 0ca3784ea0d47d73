"""Thin links: the test's own data queue before the link's words, and the drain takes long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from bench.truth.ground.attempt import Attempt, attempt, ended_well, holds
from bench.truth.ground.verdict import Verdict
from bench.truth.ground.wire import Packet, Wire, wired
from bench.truth.rates.payload import payload_share

SECONDS = 10
INTERVAL_SECONDS = 1
MESSAGE_BYTES = 1_400


def flows() -> Iterator[Verdict]:
    """32 flows into 1 Mbit/s with a queue of eight seconds.

    The round trip grows from 20 ms to eight seconds within one: what TCP sends again in vain until it knows that is
    payload to the wire, and nothing to the application. Throughput and what the wire brought twice are the link's rate.
    """
    title = "1 Mbit/s, queue of 1 MB, 32 TCP flows"
    with wired(both="delay=10ms", forward="rate=1Mbit,queue=1MB", is_logged=True) as (between, wire):
        tried = attempt(between, "tcp_stream", {"duration_seconds": SECONDS, "flows": 32})
        wire.end()
        again = brought_again_bps(wire, tried)
    yield ended_well(title, tried)
    throughput = tried.metric("throughput_bps")
    share = payload_share("IPv4")
    yield Verdict(f"{title}: throughput", 1e6 * share, throughput, 0.04, "bit/s")
    yield Verdict(f"{title}: with what came twice", 1e6 * share, throughput + again, 0.01, "bit/s")


def brought_again_bps(wire: Wire, tried: Attempt) -> float:
    """Return the payload per second that an ended wire's log shows to have come twice in a test's forward window."""
    window = tried.result["window"]
    seconds = float(window["elapsed_seconds"])
    end = (datetime.fromisoformat(window["started_at"]).timestamp() + seconds) * 1e9
    packets = (packet for packet in wire.packets("forward", "tcp") if packet.fate == "delivered")
    return bytes_brought_again(packet for packet in packets if packet.departed <= end) * 8 / seconds


def bytes_brought_again(packets: Iterable[Packet]) -> int:
    """Count the payload of delivered TCP packets that had come before, by ports and sequence numbers."""
    streams: dict[tuple[int, int], tuple[int, bytearray]] = {}
    again = 0
    for packet in packets:
        first, seen = streams.setdefault(packet.ports, (packet.sequence, bytearray()))
        begin = (packet.sequence - first) % (1 << 32)
        end = begin + packet.payload_bytes
        seen.extend(bytes(max(0, end - len(seen))))
        again += seen.count(1, begin, end)
        seen[begin:end] = b"\1" * packet.payload_bytes
    return again


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
