"""Make each limit on purpose, across veth pairs between network namespaces, and see whether the engine names it.

Needs root (ip netns, tc, AF_PACKET) and a release build of the engine. Prints a line per limit: expected, found,
and the engine's own sentence. A wrong verdict makes it exit with 1.
"""

from __future__ import annotations

import argparse
import selectors
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from bench.truth.ground.topology import Link, link, process

DELAY_SECONDS = 0.010
ALL_FRAMES = 0x0003
OUTGOING = 4
FRAME_LIMIT_BYTES = 65_536
SOCKET_BUFFER_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Case:
    """One limit, how it is made, and the verdicts that are right."""

    name: str
    kind: str
    expected: tuple[str, ...]
    params: dict[str, Any] = field(default_factory=dict)
    has_delay: bool = False
    shaped: str = ""


def cases() -> Iterator[Case]:
    yield Case(
        "8 KiB receive buffer, 20 ms", "tcp_stream", ("receiver_window",), {"sink_socket_buffer_bytes": 8192}, True
    )
    yield Case("8 KiB send buffer, 20 ms", "tcp_stream", ("send_buffer",), {"source_socket_buffer_bytes": 8192}, True)
    yield Case(
        "the same in reverse, 20 ms",
        "tcp_stream",
        ("receiver_window",),
        {"source_socket_buffer_bytes": 8192, "direction": "reverse"},
        True,
    )
    yield Case("tbf at 100 Mbit/s", "tcp_stream", ("path", "link_rate"), shaped="100mbit")
    yield Case("paced at 50 Mbit/s", "tcp_stream", ("pacing",), {"rate_bps": 50_000_000})
    yield Case("paced datagrams", "udp_stream", ("pacing",), {"rate_bps": 10_000_000})
    yield Case("messages of 1 B", "tcp_stream", ("sender_cpu",), {"message_size_bytes": 1})
    yield Case("datagrams of 64 B", "udp_stream", ("sender_cpu", "receiver_cpu"), {"message_size_bytes": 64})
    yield Case(
        "datagrams at 50 Mbit/s, tbf at 10 Mbit/s", "udp_stream", ("path",), {"rate_bps": 50_000_000}, shaped="10mbit"
    )
    yield Case("one transaction at a time", "tcp_rr", ("round_trip",))
    yield Case("one transaction at a time, 20 ms", "tcp_rr", ("round_trip",), {}, True)
    yield Case("UDP transactions", "udp_rr", ("round_trip",))


def forward(delay_seconds: float) -> None:
    """Carry frames between `left` and `right` of this namespace, each so much later."""
    ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_FRAMES)) for _ in range(2)]
    waiting: deque[tuple[float, socket.socket, bytes]] = deque()
    with selectors.DefaultSelector() as selector:
        for end, device, other in zip(ends, ("left", "right"), reversed(ends), strict=True):
            # What the kernel's receive queue can't hold would be loss of our own making.
            end.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_RCVBUFFORCE", 33), SOCKET_BUFFER_BYTES)
            end.bind((device, 0))
            selector.register(end, selectors.EVENT_READ, other)
        while True:
            until = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
            for key, _ in selector.select(until):
                frame, address = key.fileobj.recvfrom(FRAME_LIMIT_BYTES)  # type: ignore[union-attr]
                if address[2] != OUTGOING:
                    waiting.append((time.monotonic() + delay_seconds, key.data, frame))
            while waiting and waiting[0][0] <= time.monotonic():
                _, other, frame = waiting.popleft()
                other.send(frame)


@contextmanager
def shaped(path: Link, rate: str) -> Iterator[None]:
    path.source.run(
        "tc", "qdisc", "add", "dev", "data", "root", "tbf", "rate", rate, "burst", "32k", "latency", "100ms"
    )
    try:
        yield
    finally:
        path.source.run("tc", "qdisc", "del", "dev", "data", "root")


def judge(path: Link, case: Case, seconds: float) -> bool:
    """Run one case; whether the verdict is right."""
    params = {"duration_seconds": seconds, "source_cpus": 0, "sink_cpus": 1, **case.params}
    with shaped(path, case.shaped) if case.shaped else nullcontext():
        result = path.measure(case.kind, params)
    limits = [(limit["by"], limit["summary"]) for limit in result["limits"]]
    is_right = len(limits) == 1 and limits[0][0] in case.expected
    verdicts, summaries = ", ".join(by for by, _ in limits), " ".join(summary for _, summary in limits)
    print(f"{case.name:<42}{' or '.join(case.expected):<26}{verdicts:<18}{'right' if is_right else 'WRONG'}")
    print(f"    {summaries}", flush=True)
    if not is_right:
        for limit in result["limits"]:
            print(f"    {limit['evidence']}")
    return is_right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2, help="length of one run (default 2)")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--forward", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.forward:
        forward(DELAY_SECONDS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = [case for case in cases() if arguments.only in case.name]
    print(f"{'limit made':<42}{'expected':<26}{'found':<18}verdict")
    verdicts = []
    for has_delay in (False, True):
        mine = [case for case in chosen if case.has_delay == has_delay]
        if not mine:
            continue
        with link(has_middle=has_delay) as path:
            forwarder = (sys.executable, "-m", "bench.engine.limits_verdicts", "--forward")
            words = path.middle.words(*forwarder) if path.middle else None
            with process(words) if words else nullcontext():
                verdicts += [judge(path, case, arguments.seconds) for case in mine]
    print(f"{sum(verdicts)} of {len(verdicts)} verdicts are right")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main())
