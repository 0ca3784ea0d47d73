"""Datagrams doubled, swapped and dropped by a forwarder, and its own jitter: the engine finds just these."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from bench.truth.ground.forwarder import Lane, Passed, build, forwarding
from bench.truth.ground.topology import Link, link
from bench.truth.ground.verdict import Verdict
from bench.truth.ground.wakeups import awake
from bench.truth.rates.payload import ADDRESSES

MESSAGE_BYTES = 200
SECONDS = 3
BUFFER_BYTES = 8 * 1024 * 1024
DEEDS: dict[str, dict[str, int]] = {
    "doubled": {"duplicate": 7},
    "swapped": {"swap": 5},
    "all at once": {"drop": 13, "duplicate": 7, "swap": 5},
    "all at once, 5 ms later": {"drop": 13, "duplicate": 7, "swap": 5, "delay_us": 5_000},
}


def stream(between: Link, family: str, packets_per_second: int, params: dict[str, Any]) -> dict[str, Any]:
    params = {
        "message_size_bytes": MESSAGE_BYTES,
        "duration_seconds": SECONDS,
        "rate_bps": packets_per_second * MESSAGE_BYTES * 8,
        "source_socket_buffer_bytes": BUFFER_BYTES,
        "sink_socket_buffer_bytes": BUFFER_BYTES,
        **params,
    }
    return between.measure("udp_stream", params, ADDRESSES[family])


def judge(title: str, lane: Lane, metrics: dict[str, float]) -> Iterator[Verdict]:
    yield Verdict(f"{title}: sent", lane.data_frames, metrics["sent_packets"], 0, "pkt")
    yield Verdict(f"{title}: duplicates", lane.duplicated, metrics["duplicate_packets"], 0, "pkt")
    yield Verdict(f"{title}: out of order", lane.swapped, metrics["out_of_order_packets"], 0, "pkt")
    yield Verdict(f"{title}: lost", lane.dropped, metrics["lost_packets"], 0, "pkt")


def jitter_seconds(log: tuple[Passed, ...]) -> float:
    """RFC 3550, section 6.4.1, over what left the forwarder, from the first difference on."""
    estimate = None
    for before, after in pairwise(log):
        difference = abs((after.departed - after.sent) - (before.departed - before.sent)) / 1e9
        estimate = difference if estimate is None else estimate + (difference - estimate) / 16
    return estimate or 0.0


def prove() -> Iterator[Verdict]:
    """Every duplicate, swap and loss is found, and jitter is what the forwarder's log gives."""
    build()
    with link(has_middle=True) as between:
        for family in ADDRESSES:
            for direction, lane in (("forward", 0), ("reverse", 1)):
                for deed, settings in DEEDS.items():
                    with forwarding(between, length=MESSAGE_BYTES, **settings) as lanes:
                        result = stream(between, family, 5_000, {"direction": direction})
                    yield from judge(f"{deed}, {family}, {direction}", lanes[lane], result["metrics"])
        for jitter in (0, 500, 2_000):
            with awake(), forwarding(between, length=MESSAGE_BYTES, delay_us=1_000, jitter_us=jitter) as lanes:
                metrics = stream(between, "IPv4", 200, {})["metrics"]
            expected = jitter_seconds(lanes[0].log)
            measured = metrics["jitter_seconds"]
            yield Verdict(f"every other {jitter} us later: jitter", expected * 1e6, measured * 1e6, 50, "us", True)
