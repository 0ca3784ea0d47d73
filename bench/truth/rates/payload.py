"""What of a TCP test the interface's own counters saw, whole and in the window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bench.truth.ground.sampler import readings
from bench.truth.ground.topology import SINK_ADDRESS, SINK_ADDRESS_V6, Link, link
from bench.truth.ground.verdict import Verdict

ETHERNET_BYTES, TCP_BYTES = 14, 32  # TCP with its time stamps
IP_BYTES = {"IPv4": 20, "IPv6": 40}
MTU_BYTES = 1500
ADDRESSES = {"IPv4": SINK_ADDRESS, "IPv6": SINK_ADDRESS_V6}


def header_bytes(family: str) -> int:
    return ETHERNET_BYTES + IP_BYTES[family] + TCP_BYTES


def payload_share(family: str) -> float:
    """Payload of a full frame, as a share of what `tbf` counts: the frame without preamble and checksum."""
    return (MTU_BYTES - IP_BYTES[family] - TCP_BYTES) / (MTU_BYTES + ETHERNET_BYTES)


@dataclass(frozen=True)
class Seen:
    """A test's result beside the payload that the receiving interface counted."""

    result: dict[str, Any]
    whole_bytes: float
    window_bytes: float
    widest_gap: float

    @property
    def seconds(self) -> float:
        return float(self.result["window"]["elapsed_seconds"])

    @property
    def flow_bytes(self) -> int:
        return sum(flow["bytes"] + flow.get("reverse_bytes", 0) for flow in self.result["flows"])


def watch(link: Link, family: str, params: dict[str, Any]) -> Seen:
    """Run a TCP test with the receiving interface watched."""
    receiver = link.source if params.get("direction") == "reverse" else link.sink
    before = receiver.frames("data")
    with readings(receiver, "data") as counted:
        params = {"congestion_control": "reno", "message_size_bytes": 16384, **params}
        result = link.measure("tcp_stream", params, ADDRESSES[family])
    after = receiver.frames("data")
    header = header_bytes(family)
    begin = datetime.fromisoformat(result["window"]["started_at"]).timestamp()
    window = counted.between(begin, begin + result["window"]["elapsed_seconds"])
    return Seen(
        result,
        after["rx_bytes"] - before["rx_bytes"] - header * (after["rx_packets"] - before["rx_packets"]),
        window["rx_bytes"] - header * window["rx_packets"],
        counted.widest_gap,
    )


def flows() -> Iterator[Verdict]:
    """The sum over flows is the payload that the interface saw, whole and in the window."""
    cases: list[tuple[str, dict[str, Any]]] = [
        ("1 flow", {"flows": 1, "duration_seconds": 3}),
        ("300 flows", {"flows": 300, "duration_seconds": 3}),
        ("300 flows after a warm-up", {"flows": 300, "duration_seconds": 3, "warmup_seconds": 2}),
        ("300 flows, reverse", {"flows": 300, "duration_seconds": 3, "direction": "reverse"}),
    ]
    with link() as between:
        for name, params in cases:
            for family in ("IPv4", "IPv6"):
                seen = watch(between, family, params)
                title = f"{name}, {family}"
                if "warmup_seconds" not in params:
                    yield Verdict(f"{title}: bytes of the whole test", seen.whole_bytes, seen.flow_bytes, 0.01, "B")
                yield Verdict(f"{title}: bytes of the window", seen.window_bytes, seen.flow_bytes, 0.01, "B")
                rate = seen.window_bytes * 8 / seen.seconds
                yield Verdict(
                    f"{title}: throughput", rate / 1e6, seen.result["metrics"]["throughput_bps"] / 1e6, 0.01, "Mbit/s"
                )
