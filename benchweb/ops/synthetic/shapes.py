"""Give a trial of each kind its values on a path of some quality, shaped as in published reports. Pure, no ORM.

A shape is made once a path and combination, and then asked for each trial: `speed` and `delay` are factors near 1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

LINK_BPS = 25e9
_TRIAL_SECONDS = 10
# What a segment's payload leaves of the MTU to IPv4 and TCP with timestamps, and what Ethernet and its gap add to it.
_HEADERS_BYTES, _ETHERNET_BYTES = 52, 38
_CORES = 16

_CPU = ("source_cpu_ratio", "sink_cpu_ratio")
_LATENCY = tuple(f"latency_{name}_seconds" for name in ("min", "mean", "p50", "p90", "p99", "p999", "max", "stddev"))
METRICS: dict[str, tuple[str, ...]] = {
    "tcp_stream": (
        *("throughput_bps", "send_throughput_bps", "packets_per_second", "retransmits", "rtt_seconds"),
        *(*_CPU, "cpu_seconds_per_gigabyte", "payload_ceiling_bps"),
    ),
    "udp_stream": (
        *("throughput_bps", "send_throughput_bps", "packets_per_second", "send_packets_per_second", "sent_packets"),
        *("received_packets", "lost_packets", "loss_ratio", "jitter_seconds", *_CPU),
    ),
    "tcp_rr": ("transactions_per_second", *_LATENCY, *_CPU),
    "tcp_crr": ("transactions_per_second", "connections_per_second", *_LATENCY),
    "udp_rr": ("transactions_per_second", "lost_packets", *_LATENCY),
    "ping": (*_LATENCY[:5], "latency_max_seconds", "sent_probes", "lost_probes", "loss_ratio"),
}
# Latencies beside their median, with their share; those above it stretch with the tail of the trial.
LATENCY_STEPS = (
    *((0.86, 0.002), (0.90, 0.02), (0.94, 0.10), (0.97, 0.18), (1.0, 0.25), (1.03, 0.2), (1.07, 0.11), (1.12, 0.06)),
    *((1.2, 0.04), (1.4, 0.02), (1.8, 0.012), (2.5, 0.004), (4.0, 0.0013), (9.0, 0.0006), (20.0, 0.0001)),
)
_TAIL_MEAN = sum(share * (step - 1) for step, share in LATENCY_STEPS if step > 1)
_BODY_MEAN = 1 + sum(share * (step - 1) for step, share in LATENCY_STEPS if step < 1)
_TAIL_DEVIATION = sum(share * (step - 1) ** 2 for step, share in LATENCY_STEPS) ** 0.5


@dataclass(frozen=True)
class SyntheticPath:
    """What is between two endpoints when nothing is wrong."""

    rtt_seconds: float
    link_bps: float
    calls_per_second: float
    loss_ratio: float
    # The smaller of both ends'.
    mtu_bytes: int = 1500


@dataclass(slots=True)
class SyntheticValues:
    """A trial's values in the order of its kind's METRICS; `p50_seconds` and `tail` make a histogram of latencies."""

    values: tuple[float, ...]
    p50_seconds: float = 0.0
    tail: float = 0.0
    transactions: int = 0


Shape = Callable[[float, float, Random], SyntheticValues]


def shape(kind: str, path: SyntheticPath, params: Mapping[str, Any]) -> Shape:
    """Return the shape of a kind with these parameters on a path."""
    return _SHAPES[kind](path, params)


def latency_counts(measured: SyntheticValues) -> list[tuple[float, int]]:
    """Return a trial's latencies as (seconds, how many), rising."""
    p50, tail, n = measured.p50_seconds, measured.tail, measured.transactions
    return [
        (p50 * (step if step <= 1 else 1 + (step - 1) * tail), max(1, round(share * n)))
        for step, share in LATENCY_STEPS
        # Of few transactions none has the rarest latencies.
        if share * n >= 0.5
    ]


def _tcp_stream(path: SyntheticPath, params: Mapping[str, Any]) -> Shape:
    size = params["message_size_bytes"]
    # The engine's ceiling is that of the hosts' own link; between zones a path carries less.
    segment_bytes, frame_bytes = path.mtu_bytes - _HEADERS_BYTES, path.mtu_bytes + _ETHERNET_BYTES
    ceiling_bps = LINK_BPS * segment_bytes / frame_bytes
    carried_bps = path.link_bps * segment_bytes / frame_bytes
    # Small messages are bound by system calls, large ones by the link: the slower of both, with a soft knee.
    level_bps = 1 / (1 / (path.calls_per_second * size * 8) + 1 / (carried_bps * 0.97))

    def measure(speed: float, delay: float, source: Random) -> SyntheticValues:
        throughput = min(level_bps * speed, carried_bps)
        load = throughput / carried_bps
        retransmits = int(source.expovariate(1.0) * (2 + 60 * load * path.loss_ratio * 1_000) * delay)
        rtt = path.rtt_seconds * delay * (1 + 2.5 * load)
        source_cpu = min(1.0, (0.6 + 0.9 * load) / _CORES / speed)
        sink_cpu = min(1.0, (0.7 + 1.4 * load) / _CORES / speed)
        cost = (source_cpu + sink_cpu) * _CORES / (throughput / 8e9)
        return SyntheticValues(
            (
                *(throughput, throughput * 1.0004, throughput / 8 / segment_bytes, retransmits, rtt),
                *(source_cpu, sink_cpu, cost, ceiling_bps),
            )
        )

    return measure


def _udp_stream(path: SyntheticPath, params: Mapping[str, Any]) -> Shape:
    size = params["message_size_bytes"]
    level_pps = min(path.calls_per_second * 0.28, path.link_bps * 0.97 / 8 / (size + 66))

    def measure(speed: float, delay: float, source: Random) -> SyntheticValues:
        sent_pps = level_pps * speed
        # Loss has a long tail upwards, and comes with delay.
        loss = min(0.5, path.loss_ratio * source.lognormvariate(0, 0.8) * delay**3)
        sent = int(sent_pps * _TRIAL_SECONDS)
        lost = int(sent * loss)
        received = sent - lost
        jitter = path.rtt_seconds * 0.05 * delay * source.lognormvariate(0, 0.2)
        received_pps, sent_pps = received / _TRIAL_SECONDS, sent / _TRIAL_SECONDS
        return SyntheticValues(
            (
                *(received_pps * size * 8, sent_pps * size * 8, received_pps, sent_pps, sent),
                *(received, lost, lost / sent, jitter, 1.1 / _CORES, 1.6 / _CORES / speed),
            )
        )

    return measure


def _transactions(
    round_trips: float, added_seconds: float
) -> Callable[[SyntheticPath, float, float, Random], SyntheticValues]:
    """Return what a transaction of so many round trips takes, without the rate before it."""

    def measure(path: SyntheticPath, speed: float, delay: float, source: Random) -> SyntheticValues:
        p50 = (path.rtt_seconds * round_trips * delay + added_seconds) / speed
        tail = source.lognormvariate(0, 0.25) * delay
        latencies = (
            *(p50 * 0.86, p50 * (_BODY_MEAN + _TAIL_MEAN * tail), p50, p50 * (1 + 0.12 * tail), p50 * (1 + 0.8 * tail)),
            *(p50 * (1 + 3 * tail), p50 * (1 + 19 * tail), p50 * _TAIL_DEVIATION * tail),
        )
        return SyntheticValues(latencies, p50, tail, int(_TRIAL_SECONDS / latencies[1]))

    return measure


def _tcp_rr(path: SyntheticPath, params: Mapping[str, Any]) -> Shape:
    transaction = _transactions(1.0, 6e-6)

    def measure(speed: float, delay: float, source: Random) -> SyntheticValues:
        measured = transaction(path, speed, delay, source)
        measured.values = (1 / measured.values[1], *measured.values, 0.7 / _CORES / speed, 0.8 / _CORES / speed)
        return measured

    return measure


def _tcp_crr(path: SyntheticPath, params: Mapping[str, Any]) -> Shape:
    transaction = _transactions(2.0, 45e-6)

    def measure(speed: float, delay: float, source: Random) -> SyntheticValues:
        measured = transaction(path, speed, delay, source)
        measured.values = (1 / measured.values[1], 1 / measured.values[1], *measured.values)
        return measured

    return measure


def _udp_rr(path: SyntheticPath, params: Mapping[str, Any]) -> Shape:
    transaction = _transactions(0.95, 5e-6)

    def measure(speed: float, delay: float, source: Random) -> SyntheticValues:
        measured = transaction(path, speed, delay, source)
        lost = int(measured.transactions * path.loss_ratio * 0.01 * delay * source.expovariate(1.0))
        measured.values = (1 / measured.values[1], lost, *measured.values)
        return measured

    return measure


def _ping(path: SyntheticPath, params: Mapping[str, Any]) -> Shape:
    transaction = _transactions(1.1, 12e-6)
    probes = params["count"]

    def measure(speed: float, delay: float, source: Random) -> SyntheticValues:
        measured = transaction(path, speed, delay, source)
        low, mean, p50, p90, p99 = measured.values[:5]
        lost = sum(source.random() < path.loss_ratio * delay for _ in range(3))
        measured.transactions = probes - lost
        measured.values = (low, mean, p50, p90, p99, p99, probes, lost, lost / probes)
        return measured

    return measure


_SHAPES: dict[str, Callable[[SyntheticPath, Mapping[str, Any]], Shape]] = {
    "tcp_stream": _tcp_stream,
    "udp_stream": _udp_stream,
    "tcp_rr": _tcp_rr,
    "tcp_crr": _tcp_crr,
    "udp_rr": _udp_rr,
    "ping": _ping,
}
