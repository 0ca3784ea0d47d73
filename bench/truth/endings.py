"""Paths that break in the middle of a test, and every kind over IPv6."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime
from subprocess import DEVNULL, PIPE
from typing import Any

from bench.truth.loss import judge
from bench.truth.topology import SINK_ADDRESS_V6, Link, command, link, process
from bench.truth.verdict import Verdict

MESSAGE_BYTES = 200
PACKETS_PER_SECOND = 5_000
RATE_BPS = PACKETS_PER_SECOND * MESSAGE_BYTES * 8
SECONDS = 6
BREAK_AFTER_SECONDS = 2.5
TEST_FAILED = 5
LOST_PEER_SECONDS = 3
RATES = {
    "tcp_stream": "throughput_bps",
    "udp_stream": "throughput_bps",
    "tcp_rr": "transactions_per_second",
    "tcp_crr": "connections_per_second",
    "udp_rr": "transactions_per_second",
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
    table = "table inet truth {\n counter dropped { }\n counter passed { }\n chain arriving { type filter hook prerouting priority 0; }\n}\n"
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


def cut(between: Link, kind: str, params: dict[str, Any]) -> Iterator[Verdict]:
    """The link goes down for good: the test fails in time, says why, and keeps what it had."""
    title = f"link down, {kind}, {params.get('direction', 'forward')}"
    with process(between.words(kind, params), stdout=PIPE, stderr=PIPE) as run:
        assert run.stdout and run.stderr
        time.sleep(BREAK_AFTER_SECONDS)
        down_at = time.time()
        between.source.run("ip", "link", "set", "data", "down")
        output = run.stdout.read()
        took = time.time() - down_at
        code = run.wait()
        print(run.stderr.read()[-300:])
    print(output[:3000])
    yield Verdict(f"{title}: exit code", TEST_FAILED, code, 0, "")
    yield Verdict(f"{title}: noticed after", LOST_PEER_SECONDS, took, 1, "s", True)
    between.source.run("ip", "link", "set", "data", "up")
    time.sleep(1)
    partial = json.loads(output)
    partial = partial.get("partial", partial)
    begin = datetime.fromisoformat(partial["window"]["started_at"]).timestamp()
    yield Verdict(f"{title}: window ends with the link", down_at - begin, partial["window"]["elapsed_seconds"], 0.05, "s", True)


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
        for direction in ("forward", "reverse"):
            yield from cut(between, "udp_stream", paced(direction=direction))
            yield from cut(between, "tcp_stream", {"duration_seconds": SECONDS, "direction": direction})
        yield from cut(between, "tcp_rr", {"duration_seconds": SECONDS})
