"""TCP through `tc tbf`: the rate is the shaper's, and the payload is what the interface behind it counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.truth.ground.topology import link
from bench.truth.ground.verdict import Verdict
from bench.truth.rates.payload import payload_share, watch

RATES_MBPS = (10, 100, 1000)
# Some frames at 10 Mbit/s; at 1000 what a late timer of the kernel's must not waste.
BURST_BYTES = {10: 4_000, 100: 16_000, 1000: 250_000}
QUEUE_SECONDS = 0.05


def prove(directions: tuple[str, ...] = ("forward", "reverse")) -> Iterator[Verdict]:
    with link() as between:
        for rate in RATES_MBPS:
            limit = int(rate * 1e6 / 8 * QUEUE_SECONDS) + BURST_BYTES[rate]
            for space in (between.source, between.sink):
                space.run(
                    "tc", "qdisc", "replace", "dev", "data", "root", "tbf",
                    "rate", f"{rate}mbit", "burst", f"{BURST_BYTES[rate]}", "limit", f"{limit}",
                )  # fmt: skip
            for family in ("IPv4", "IPv6"):
                for direction in directions:
                    params: dict[str, Any] = {"direction": direction, "duration_seconds": 6, "warmup_seconds": 3}
                    seen = watch(between, family, params)
                    throughput = seen.result["metrics"]["throughput_bps"] / 1e6
                    title = f"tbf {rate} Mbit/s, {family}, {direction}"
                    counted = seen.window_bytes * 8 / seen.seconds / 1e6
                    yield Verdict(f"{title}: throughput as counted", counted, throughput, 0.005, "Mbit/s")
                    nominal = rate * payload_share(family)
                    yield Verdict(f"{title}: throughput as shaped", nominal, throughput, 0.02, "Mbit/s")
