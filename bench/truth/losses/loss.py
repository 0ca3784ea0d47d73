"""Datagrams dropped by nftables at random: the engine's loss is the rule's own count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.truth.ground.topology import Link, Namespace, link
from bench.truth.ground.verdict import Verdict
from bench.truth.rates.payload import ADDRESSES

SHARES_PER_MILLE = (1, 10, 50)
UDP_HEADER_BYTES = 8
MESSAGE_BYTES = 200
PACKETS_PER_SECOND = 20_000
SECONDS = 3
# Hellos and challenges have other lengths than messages; the mark, 20 bytes into the message, is set from the end of
# the warm-up on. @th counts bits from the UDP header on.
DATAGRAM = f"udp length {UDP_HEADER_BYTES + MESSAGE_BYTES} @th,{(UDP_HEADER_BYTES + 20) * 8},8 1"
# Bursts after a late wake-up have room, so that nothing but the rule loses datagrams.
BUFFER_BYTES = 8 * 1024 * 1024


def dropping(per_mille: int, port: str) -> str:
    return (
        "table inet truth {\n"
        "  counter dropped { }\n"
        "  counter passed { }\n"
        "  chain arriving {\n"
        "    type filter hook prerouting priority 0; policy accept;\n"
        f'    iifname "data" {port} 7411 {DATAGRAM} numgen random mod 1000 < {per_mille} counter name dropped drop\n'
        f'    iifname "data" {port} 7411 {DATAGRAM} counter name passed\n'
        "  }\n"
        "}\n"
    )


def judge(title: str, space: Namespace, result: dict[str, Any], prefix: str, overflows: int) -> Iterator[Verdict]:
    counted = space.nft_counters()
    metrics = result["metrics"]
    lost, received = metrics[f"{prefix}lost_packets"], metrics[f"{prefix}received_packets"]
    sent = metrics[f"{prefix}sent_packets"]
    # What a full receive buffer lost passed the rule: it is a loss of its own, with a counter of its own.
    yield Verdict(f"{title}: lost", counted["dropped"] + overflows, lost, 0, "pkt")
    yield Verdict(f"{title}: received", counted["passed"] - overflows, received, 0, "pkt")
    yield Verdict(f"{title}: sent", counted["dropped"] + counted["passed"], sent, 0, "pkt")


def one(between: Link, family: str, per_mille: int, params: dict[str, Any]) -> Iterator[Verdict]:
    direction = params.get("direction", "forward")
    between.sink.rules(dropping(per_mille, "udp dport") if direction != "reverse" else "")
    between.source.rules(dropping(per_mille, "udp sport") if direction != "forward" else "")
    before = {space: space.udp_overflows() for space in (between.source, between.sink)}
    params = {
        "message_size_bytes": MESSAGE_BYTES,
        "duration_seconds": SECONDS,
        "rate_bps": PACKETS_PER_SECOND * MESSAGE_BYTES * 8,
        "source_socket_buffer_bytes": BUFFER_BYTES,
        "sink_socket_buffer_bytes": BUFFER_BYTES,
        **params,
    }
    result = between.measure("udp_stream", params, ADDRESSES[family])
    title = f"drop {per_mille / 10:g} %, {family}, {direction}"
    title += f", {params['flows']} flows" if "flows" in params else ""
    title += ", warm-up" if "warmup_seconds" in params else ""
    for space, prefix in ((between.sink, ""), (between.source, "reverse_")):
        if direction == ("reverse" if space is between.sink else "forward"):
            continue
        overflows = space.udp_overflows() - before[space]
        towards = f"{title} {'back' if prefix else 'there'}" if direction == "bidirectional" else title
        yield from judge(towards, space, result, prefix if direction == "bidirectional" else "", overflows)


def flood(between: Link, params: dict[str, Any]) -> Iterator[Verdict]:
    """As fast as it goes, the receive buffer overflows: the kernel counts every datagram that it throws away."""
    receiver = between.source if params.get("direction") == "reverse" else between.sink
    before = receiver.udp_overflows()
    metrics = between.measure("udp_stream", {"duration_seconds": SECONDS, **params})["metrics"]
    title = ", ".join(["flood", *(str(value) for value in params.values())])
    yield Verdict(f"{title}: lost", receiver.udp_overflows() - before, metrics["lost_packets"], 0, "pkt")


def prove() -> Iterator[Verdict]:
    """Loss found is loss made, for every share, family and direction."""
    with link() as between:
        for direction in ("forward", "reverse"):
            for flows in (1, 8):
                yield from flood(between, {"message_size_bytes": 64, "direction": direction, "flows": flows})
        for per_mille in SHARES_PER_MILLE:
            for family in ADDRESSES:
                for direction in ("forward", "reverse"):
                    yield from one(between, family, per_mille, {"direction": direction})
        yield from one(between, "IPv4", 50, {"direction": "bidirectional"})
        yield from one(between, "IPv4", 50, {"flows": 10})
        yield from one(between, "IPv4", 50, {"warmup_seconds": 1})
        yield from one(between, "IPv4", 50, {"direction": "reverse", "warmup_seconds": 1, "flows": 10})
