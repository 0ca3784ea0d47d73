"""Round trips by the wire's own log: when a request passed it, and when its answer did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from statistics import mean

from bench.truth.ground.wire import Packet, Wire

Key = Callable[[Packet], bytes]


@dataclass(frozen=True)
class Circuit:
    """A request and its answer, by when the wire took the one and gave the other; seconds of the wall clock."""

    begun: float
    ended: float

    @property
    def seconds(self) -> float:
        return self.ended - self.begun


def in_turn(wire: Wire, protocol: str, payload_bytes: int) -> list[Circuit]:
    """Pair requests and answers of which one is on its way at a time; what is sent again counts from its first."""
    packets = sorted(
        [*wire.packets("forward", protocol, payload_bytes), *wire.packets("backward", protocol, payload_bytes)],
        key=lambda packet: packet.arrived if packet.way == "forward" else packet.departed,
    )
    return list(_alternating(packets))


def _alternating(packets: Iterable[Packet]) -> Iterator[Circuit]:
    begun = None
    for packet in packets:
        if packet.way == "forward" and begun is None:
            begun = packet.arrived
        elif packet.way == "backward" and packet.fate == "delivered" and begun is not None:
            yield Circuit(begun / 1e9, packet.departed / 1e9)
            begun = None


@dataclass(frozen=True)
class Numbered:
    """Requests that carry a number which their answers repeat: what became of each, in the order of sending."""

    circuits: list[Circuit]
    # By number: how often the answer came, and 0 where it never did.
    answers: list[int]


def numbered(wire: Wire, protocol: str, payload_bytes: int, key: Key) -> Numbered:
    """Pair each request with the first of its answers."""
    began: dict[bytes, int] = {}
    for packet in wire.packets("forward", protocol, payload_bytes):
        began.setdefault(key(packet), packet.arrived)
    answered: dict[bytes, list[int]] = {number: [] for number in began}
    for packet in wire.packets("backward", protocol, payload_bytes):
        if packet.fate == "delivered" and key(packet) in answered:
            answered[key(packet)].append(packet.departed)
    circuits = [Circuit(began[number] / 1e9, min(moments) / 1e9) for number, moments in answered.items() if moments]
    return Numbered(circuits, [len(moments) for moments in answered.values()])


def summary(circuits: list[Circuit]) -> dict[str, float]:
    """Return the smallest, mean, and some percentiles, by the names of a result's metrics."""
    seconds = sorted(circuit.seconds for circuit in circuits)
    if not seconds:
        return {}

    def quantile(share: float) -> float:
        # As the engine's: the value that this share of all doesn't exceed.
        return seconds[ceil(share * len(seconds)) - 1]

    return {"min": seconds[0], "mean": mean(seconds), "p50": quantile(0.5), "p90": quantile(0.9)}
