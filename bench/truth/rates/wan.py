"""A WAN between two carriers, netperf and the engine turn and turn about on the same wire: ratios within 3 %.

20 Mbit/s, 70 ms, 2 % of the packets lost in bursts. Which packets are lost goes by their number alone, so that all of a
round lose alike; where in slow start the first burst comes decides much, so each round begins elsewhere in the pattern.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from bench.truth.ground.topology import SINK_ADDRESS, Link
from bench.truth.ground.verdict import Verdict
from bench.truth.ground.wire import FramesMissed, wired
from bench.truth.rates import netperf

# Exactly the last four of every 200.
WAN, PATTERN_PACKETS = "delay=35ms,rate=20Mbit,queue=200kB,loss=1/50,burst=4", 200
BUFFER_BYTES = 64 << 10
# The hosts' own links: they make a sender wait that has no rate, as a network card does.
HOST_LINK = ("rate", "100mbit", "burst", "16000", "limit", "1000000")
SECONDS = 20
ROUNDS = 5
TRIES = 3
# One alone meets a burst a few times a run: whether that takes a SYN or an acknowledgement would decide.
TRANSACTION_FLOWS = 32
ALLOWED = 0.03


@dataclass(frozen=True)
class Case:
    """One test by both tools, and its figure of each result in the same unit."""

    name: str
    kind: str
    unit: str
    params: dict[str, Any]
    options: tuple[str, ...]
    metric: str
    theirs: Callable[[dict[str, float]], float] = field(default=lambda figures: figures["THROUGHPUT"])
    flows: int = 1


def buffered() -> tuple[dict[str, Any], tuple[str, ...]]:
    """Ask for the buffers of both ends."""
    params = {f"{end}_socket_buffer_bytes": BUFFER_BYTES for end in ("source", "sink")}
    return params, ("-s", str(BUFFER_BYTES), "-S", str(BUFFER_BYTES))


def stream(message_bytes: int, *, is_buffered: bool) -> Case:
    params, options = buffered() if is_buffered else ({}, ())
    return Case(
        f"TCP_STREAM {message_bytes:,} B, buffers {'64 KiB' if is_buffered else 'by the kernel'}",
        "tcp_stream",
        "Mbit/s",
        {"message_size_bytes": message_bytes, **params},
        ("-m", str(message_bytes), *options),
        "throughput_bps",
    )


def datagrams(message_bytes: int) -> Case:
    params, options = buffered()

    def received(figures: dict[str, float]) -> float:
        return figures["REMOTE_RECV_CALLS"] * message_bytes * 8 / figures["ELAPSED_TIME"] / 1e6

    return Case(
        f"UDP_STREAM {message_bytes:,} B, buffers 64 KiB, received",
        "udp_stream",
        "Mbit/s",
        {"message_size_bytes": message_bytes, **params},
        # Without -R its datagrams go only where no route is needed.
        ("-m", str(message_bytes), "-R", "1", *options),
        "throughput_bps",
        received,
    )


def transactions(kind: str) -> Case:
    params = {"request_size_bytes": 32, "response_size_bytes": 1024, "flows": TRANSACTION_FLOWS}
    name = f"{TRANSACTION_FLOWS} x {kind.upper()} 32/1,024"
    options = ("-r", "32,1024")
    return Case(name, kind, "1/s", params, options, "transactions_per_second", flows=TRANSACTION_FLOWS)


CASES = (
    *(stream(size, is_buffered=True) for size in (1_024, 16_384, 131_072)),
    *(stream(size, is_buffered=False) for size in (1_024, 16_384)),
    datagrams(1_400),
    transactions("tcp_rr"),
    transactions("tcp_crr"),
)


def netperf_once(between: Link, case: Case, seconds: int) -> float:
    return case.theirs(netperf.measure(between, case.kind.upper(), seconds, *case.options, times=case.flows))


def engine_once(between: Link, case: Case, seconds: int) -> float:
    metrics = between.measure(case.kind, {"duration_seconds": seconds, **case.params})["metrics"]
    return float(metrics[case.metric]) / (1e6 if case.unit == "Mbit/s" else 1)


Tool = Callable[[Link, Case, int], float]
# netperf comes first and last: its own spread is the noise.
TURNS: dict[str, Tool] = {"netperf": netperf_once, "engine": engine_once, "again": netperf_once}


def run(tool: Tool, case: Case, seconds: int, packets_before: int) -> float:
    """Run one test on a wire of its own that has carried some packets each way."""
    with wired(both=WAN, is_control_apart=True) as (between, _):
        for space in (between.source, between.sink):
            space.run("tc", "qdisc", "replace", "dev", "data", "root", "tbf", *HOST_LINK)
        if packets_before:
            words = between.source.words("ping", "-q", "-i", "0.005", "-c", str(packets_before), SINK_ADDRESS)
            subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
        with netperf.serving(between):
            return tool(between, case, seconds)


def whole(tool: Tool, case: Case, seconds: int, packets_before: int) -> float:
    """Run one test, again where the machine was too busy for the wire: of minutes' work one sample is lost, not all."""
    for _ in range(TRIES - 1):
        try:
            return run(tool, case, seconds, packets_before)
        except FramesMissed as failure:
            print(f"    {case.name}: {failure}; once more", file=sys.stderr, flush=True)
    return run(tool, case, seconds, packets_before)


def compare(case: Case, rounds: int, seconds: int) -> Iterator[Verdict]:
    """Take turns, round after round; the engine's median beside netperf's, and netperf's beside its own."""
    samples: dict[str, list[float]] = {name: [] for name in TURNS}
    for number in range(rounds):
        for name, tool in TURNS.items():
            sample = whole(tool, case, seconds, PATTERN_PACKETS * number // rounds)
            samples[name].append(sample)
            # A case takes minutes until its verdict.
            told = f"    {case.name}, round {number + 1} of {rounds}, {name}: {sample:,.2f} {case.unit}"
            print(told, file=sys.stderr, flush=True)
    all_theirs = samples["netperf"] + samples["again"]
    theirs = median(all_theirs)
    yield Verdict(f"{case.name}: engine", theirs, median(samples["engine"]), ALLOWED, case.unit)
    noise = median(samples["again"]) / median(samples["netperf"])
    spread = (max(all_theirs) - min(all_theirs)) / theirs
    ratio = median(samples["engine"]) / theirs
    print(f"    engine : netperf {ratio:.3f}, netperf : netperf {noise:.3f}, netperf's spread {spread:.1%}")


def prove() -> Iterator[Verdict]:
    for case in CASES:
        yield from compare(case, ROUNDS, SECONDS)
