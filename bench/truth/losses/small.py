"""Small datagrams lost and doubled at once by the wire: from 4 bytes on no duplicate hides a loss, below it is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.truth.ground.topology import Link
from bench.truth.ground.verdict import Verdict
from bench.truth.ground.wire import Packet, build, wired

NUMBERED_BYTES = (4, 8, 16, 31, 32)
BLIND_BYTES = 3
# The measuring header from 32 bytes on has its mark in byte 20, smaller ones in the top bit.
HEADER_BYTES, MARK_OFFSET = 32, 20
PACKETS_PER_SECOND = 2_000
SECONDS = 2
WARMUP_SECONDS = 1
DEEDS = ("duplicate=30%", "loss=20%,duplicate=25%", "loss=10% burst=4")


def measure(between: Link, length: int) -> dict[str, Any]:
    rate = length * 8 * PACKETS_PER_SECOND
    params = {"message_size_bytes": length, "duration_seconds": SECONDS, "warmup_seconds": WARMUP_SECONDS}
    return between.measure("udp_stream", params | {"rate_bps": rate})


def is_measured(packet: Packet) -> bool:
    if packet.payload_bytes >= HEADER_BYTES:
        return packet.start[MARK_OFFSET] == 1
    return packet.start[0] & 0x80 != 0


def judge(title: str, packets: list[Packet], metrics: dict[str, float]) -> Iterator[Verdict]:
    delivered = [packet.start for packet in packets if packet.fate == "delivered"]
    sent, received = len({packet.start for packet in packets}), len(set(delivered))
    yield Verdict(f"{title}: sent", sent, metrics["sent_packets"], 0, "pkt")
    yield Verdict(f"{title}: lost", sent - received, metrics["lost_packets"], 0, "pkt")
    yield Verdict(f"{title}: duplicates", len(delivered) - received, metrics["duplicate_packets"], 0, "pkt")


def prove() -> Iterator[Verdict]:
    """Loss and duplicates of small datagrams are the wire's own, or said to be unknown."""
    build()
    for deed in DEEDS:
        for length in NUMBERED_BYTES:
            with wired(forward=deed.replace(" ", ","), is_control_apart=True, is_logged=True) as (between, wire):
                metrics = measure(between, length)["metrics"]
                wire.end()
                packets = [packet for packet in wire.packets("forward", "udp", length) if is_measured(packet)]
            yield from judge(f"{length} B, {deed}", packets, metrics)
    with wired(forward="duplicate=30%", is_control_apart=True) as (between, _):
        result = measure(between, BLIND_BYTES)
    title = f"{BLIND_BYTES} B, duplicate=30%"
    yield Verdict(f"{title}: figures of loss", 0, sum("los" in key for key in result["metrics"]), 0, "")
    yield Verdict(f"{title}: said to be unknown", 1, result["flags"].count("loss_unknown"), 0, "flag")
