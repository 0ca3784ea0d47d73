"""Paths that break in the middle of a test, and every kind over IPv6."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from subprocess import DEVNULL, PIPE
from typing import Any

from bench.truth.ground.topology import SINK_ADDRESS_V6, Link, command, link, process
from bench.truth.ground.verdict import Verdict
from bench.truth.losses.loss import judge
from bench.truth.rates.payload import header_bytes

MESSAGE_BYTES = 200
PACKETS_PER_SECOND = 5_000
RATE_BPS = PACKETS_PER_SECOND * MESSAGE_BYTES * 8
SECONDS = 6
BREAK_AFTER_SECONDS = 2.5
TEST_FAILED = 5
# A path that is cut for less than that may come back; an engine whose host answers for it is not.
LOST_PEER_SECONDS, HUNG_ENGINE_SECONDS = 15, 3
# A lost engine is asked for so long whether it was restarted.
ASKED_SECONDS = 3
# What comes is noted each second, silence is looked for each second, and threads take a moment to end.
LATE_SECONDS = 4
RATES = {
    "tcp_stream": "throughput_bps",
    "udp_stream": "throughput_bps",
    "tcp_rr": "transactions_per_second",
    "tcp_crr": "connections_per_second",
    "udp_rr": "transactions_per_second",
    "http_load": "requests_per_second",
}


def blocking(is_on: bool) -> str:
    action = "counter name dropped drop" if is_on else "counter name passed"
    return f'add rule inet truth arriving iifname "data" udp dport 7411 udp length {8 + MESSAGE_BYTES} {action}\n'


def paced(**params: Any) -> dict[str, Any]:
    return {
        "message_size_bytes": MESSAGE_BYTES,
        "duration_seconds": SECONDS,
        "rate_bps": RATE_BPS,
        "report_interval_seconds": 0.5,
        **params,
    }


def hole(between: Link) -> Iterator[Verdict]:
    """Nothing passes for a second in the middle; the test goes on, and just that is lost."""
    counters = "counter dropped { }\n counter passed { }"
    table = f"table inet truth {{\n {counters}\n chain arriving {{ type filter hook prerouting priority 0; }}\n}}\n"
    between.sink.rules(table + blocking(False))
    overflows = between.sink.udp_overflows()
    with process(between.words("udp_stream", paced()), stdout=PIPE, stderr=DEVNULL) as run:
        assert run.stdout
        time.sleep(BREAK_AFTER_SECONDS)
        change(between, is_on=True)
        time.sleep(1)
        change(between, is_on=False)
        result = json.loads(run.stdout.read())
    overflows = between.sink.udp_overflows() - overflows
    yield from judge("nothing passes for 1 s", between.sink, result, "", overflows)
    whole = result["metrics"]["received_packets"] * MESSAGE_BYTES * 8 / SECONDS
    yield Verdict("nothing passes for 1 s: throughput", whole, result["metrics"]["throughput_bps"], 0.01, "bit/s")


def change(between: Link, is_on: bool) -> None:
    """Swap the one rule in one transaction, so that no datagram passes uncounted."""
    rule = blocking(is_on).strip()
    command(*between.sink.words("nft", f"flush chain inet truth arriving; {rule}"))


def break_path(between: Link) -> None:
    """Let nothing through any more, without a word."""
    hooks = (("prerouting", "iifname"), ("output", "oifname"))
    chains = (f'chain {hook} {{ type filter hook {hook} priority 0; {device} "data" drop; }}' for hook, device in hooks)
    between.sink.rules(f"table inet truth {{ {'; '.join(chains)}; }}")


def counting() -> str:
    """Count the measured datagrams at the source, both ways."""
    length = f"udp length {8 + MESSAGE_BYTES}"
    return (
        "table inet truth {\n counter sent { }\n counter received { }\n"
        f" chain out {{ type filter hook output priority 0; udp dport 7411 {length} counter name sent; }}\n"
        f" chain in {{ type filter hook input priority 0; udp sport 7411 {length} counter name received; }}\n"
        "}\n"
    )


def broken(between: Link, kind: str, params: dict[str, Any]) -> Iterator[Verdict]:
    """The path breaks for good: the test fails in time, says why, and keeps what this end had."""
    direction = params.get("direction", "forward")
    title = f"path broken, {kind}, {direction}"
    between.sink.rules("")
    between.source.rules(counting())
    before = between.source.frames("data")
    with process(between.words(kind, params), stdout=PIPE, stderr=DEVNULL) as run:
        assert run.stdout
        time.sleep(BREAK_AFTER_SECONDS)
        break_path(between)
        broken_at = time.monotonic()
        partial = json.loads(run.stdout.read())
        took = time.monotonic() - broken_at
        yield Verdict(f"{title}: exit code", TEST_FAILED, run.wait(), 0, "")
    yield from noticed(title, LOST_PEER_SECONDS, took)
    yield Verdict(f"{title}: flagged as partial", 1, float("partial" in partial["flags"]), 0, "")
    counted = between.source.nft_counters()
    if kind == "udp_stream":
        key = "sent" if direction == "forward" else "received"
        yield Verdict(f"{title}: {key}", counted[key], partial["metrics"][f"{key}_packets"], 0, "pkt")
    elif direction == "reverse":
        after = between.source.frames("data")
        frames = after["rx_packets"] - before["rx_packets"]
        payload = after["rx_bytes"] - before["rx_bytes"] - header_bytes("IPv4") * frames
        yield Verdict(f"{title}: bytes", payload, sum(flow["reverse_bytes"] for flow in partial["flows"]), 0.01, "B")
    else:
        seconds = partial["intervals"][-1]["end_seconds"]
        yield Verdict(f"{title}: intervals until then", BREAK_AFTER_SECONDS, seconds, 0.6, "s", True)


def noticed(title: str, limit: float, took: float) -> Iterator[Verdict]:
    """Judge that a peer was lost no sooner than it may be, and not much later."""
    middle = LATE_SECONDS / 2
    yield Verdict(f"{title}: noticed after", limit + middle, took, middle, "s", True)


def hung(between: Link, kind: str) -> Iterator[Verdict]:
    """The sink's engine stands still while its host answers for it."""
    title = f"engine hung, {kind}"
    between.sink.rules("")
    with process(between.words(kind, {"duration_seconds": 30}), stdout=PIPE, stderr=PIPE) as run:
        time.sleep(BREAK_AFTER_SECONDS)
        pids = command("ip", "netns", "pids", between.sink.name).split()
        command("kill", "-STOP", *pids)
        began = time.monotonic()
        try:
            output, stderr = run.communicate(timeout=LOST_PEER_SECONDS * 2)
        finally:
            command("kill", "-CONT", *pids)
        took = time.monotonic() - began
    yield Verdict(f"{title}: exit code", TEST_FAILED, run.returncode, 0, "")
    yield from noticed(title, HUNG_ENGINE_SECONDS + ASKED_SECONDS, took)
    yield Verdict(f"{title}: flagged as partial", 1, float("partial" in json.loads(output)["flags"]), 0, "")
    yield Verdict(f"{title}: says that the host answers", 1, float("though its host answers" in stderr), 0, "")
    yield Verdict(f"{title}: says that its engine doesn't", 1, float("doesn't answer any more" in stderr), 0, "")


def prove() -> Iterator[Verdict]:
    """A hole, a cut and IPv6: whole results, partial results, every kind."""
    with link() as between:
        yield from hole(between)
        between.sink.rules("")
        for kind, rate in RATES.items():
            result = between.measure(kind, {"duration_seconds": 1}, SINK_ADDRESS_V6)
            window = result["window"]["elapsed_seconds"]
            yield Verdict(f"{kind} over IPv6: window", 1, window, 0.1, "s")
            yield Verdict(f"{kind} over IPv6: has its rate", 1, float(result["metrics"][rate] > 0), 0, "")
        for kind in ("tcp_rr", "udp_rr"):
            yield from hung(between, kind)
        for direction in ("forward", "reverse"):
            yield from broken(between, "udp_stream", paced(direction=direction))
            yield from broken(between, "tcp_stream", paced(rate_bps=0, direction=direction))
