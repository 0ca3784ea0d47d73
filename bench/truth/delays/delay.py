"""A delay made by the forwarder is seen in latency, at the median and at the 99th percentile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.truth.ground.forwarder import Lane, build, forwarding
from bench.truth.ground.topology import Link, link
from bench.truth.ground.verdict import Verdict
from bench.truth.ground.wakeups import awake
from bench.truth.rates.payload import ADDRESSES

# A length that nothing else on the link has.
REQUEST_BYTES = 37
DELAY_MICROSECONDS = 5_000
SECONDS = 8
ALLOWED_MICROSECONDS = 100
PERCENTILES = {"p50": 0.5, "p99": 0.99}


@dataclass(frozen=True)
class Proof:
    """A test whose requests and replies are the only frames of their length."""

    name: str
    kind: str
    params: dict[str, Any]


TRANSACTIONS = {"request_size_bytes": REQUEST_BYTES, "response_size_bytes": REQUEST_BYTES, "duration_seconds": SECONDS}
# A probe every 12 ms: one is on its way at a time, as above.
PROBES = {"payload_bytes": REQUEST_BYTES, "probe_interval_seconds": 0.012, "count": 700}
PROOFS = (
    *(Proof(kind, kind, TRANSACTIONS) for kind in ("udp_rr", "tcp_rr")),
    *(Proof(f"ping by {probe}", "ping", {**PROBES, "probe": probe}) for probe in ("icmp", "tcp", "udp")),
)


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def round_trips(lanes: tuple[Lane, Lane]) -> list[float]:
    """What the forwarder added to each transaction: one is on its way at a time, so frames pair up in order."""
    there, back = lanes
    return [out.delay_seconds + home.delay_seconds for out, home in zip(there.log, back.log, strict=False)]


def transact(between: Link, proof: Proof, family: str, delay: int) -> tuple[dict[str, float], list[float]]:
    # A thread that the scheduler moves while it sleeps is woken late.
    params = {**proof.params, "source_cpus": 0, "sink_cpus": 0}
    with forwarding(between, length=REQUEST_BYTES, delay_us=delay) as lanes:
        result = between.measure(proof.kind, params, ADDRESSES[family])
    return result["metrics"], round_trips(lanes)


def prove() -> Iterator[Verdict]:
    """The engine's percentiles, with the delay less without it, are those of what the forwarder logged."""
    build()
    with link(has_middle=True) as between, awake():
        for proof in PROOFS:
            for family in ADDRESSES:
                base, base_logged = transact(between, proof, family, 0)
                delayed, logged = transact(between, proof, family, DELAY_MICROSECONDS)
                for name, share in PERCENTILES.items():
                    key = f"latency_{name}_seconds"
                    added = delayed[key] - base[key]
                    truth = quantile(logged, share) - quantile(base_logged, share)
                    title = f"2 x {DELAY_MICROSECONDS / 1e3:g} ms, {proof.name}, {family}"
                    yield Verdict(f"{title}: added, {name}", truth * 1e6, added * 1e6, ALLOWED_MICROSECONDS, "us", True)
