"""A soak: many short sessions of all kinds against one daemon, and what it holds after the first 100 and at the end.

Descriptors, threads and children of the daemon must be the same at the end as after the first 100, and resident memory
too, within what an allocator keeps (2 MiB). Prints both; the status is 1 when they differ.
"""

import argparse
import sys
import threading
import time
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from bench.engine.serving import Serving, renice, serving

FIRST_SESSIONS = 100
MEMORY_TOLERANCE_KIB = 2048
SETTLE_SECONDS = 2.0
DURATION_SECONDS = 0.1
TIMED = {"duration_seconds": DURATION_SECONDS}
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("tcp_stream", TIMED),
    ("tcp_stream", {**TIMED, "direction": "bidirectional", "flows": 4}),
    ("udp_stream", {**TIMED, "message_size_bytes": 1400, "flows": 2}),
    ("tcp_rr", {**TIMED, "flows": 3}),
    ("tcp_crr", TIMED),
    ("udp_rr", TIMED),
    ("ping", {"probe": "tcp", "count": 10, "probe_interval_seconds": 0.01}),
]


@dataclass(frozen=True)
class Held:
    """What a process holds."""

    resident_kib: int
    descriptors: int
    threads: int
    children: int
    sessions_on_disk: int


def held(engine: Serving) -> Held:
    """Look at the daemon."""
    process = Path(f"/proc/{engine.process.pid}")
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return Held(
        resident_kib=int(status["VmRSS"].split()[0]),
        descriptors=len(list((process / "fd").iterdir())),
        threads=int(status["Threads"]),
        children=len(engine.children()),
        sessions_on_disk=len(list((engine.token_file.parent / "state" / "sessions").iterdir())),
    )


def run_session(engine: Serving, number: int, failures: list[str]) -> None:
    """Run a pair to its end and acknowledge both results; every tenth is cancelled, at both ends as controllers do.

    Of a source that is cancelled before it has connected its sink knows nothing, and waits for it as long as it may.
    """
    kind, params = KINDS[number % len(KINDS)]
    name = f"soak{number}"
    engine.start_pair(name, kind, params)
    if number % 10 == 9:
        for role in ("source", "sink"):
            engine.call("POST", f"/v1/sessions/{name}-{role}/cancel")
    for role in ("source", "sink"):
        final = engine.events(f"{name}-{role}")[-1]
        if final["type"] != "result" and number % 10 != 9:
            failures.append(f"{name}-{role}: {final['code']}: {final['reason']}")
    for role in ("source", "sink"):
        engine.call("DELETE", f"/v1/sessions/{name}-{role}")


def run_all(engine: Serving, numbers: range, parallel: int, failures: list[str]) -> None:
    """Run these pairs, some at once."""
    queue: SimpleQueue[int] = SimpleQueue()
    for number in numbers:
        queue.put(number)

    def work() -> None:
        while True:
            try:
                number = queue.get_nowait()
            except Empty:
                return
            run_session(engine, number, failures)

    workers = [threading.Thread(target=work) for _ in range(parallel)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def settled(engine: Serving) -> Held:
    """Look once everything of the last sessions has gone."""
    time.sleep(SETTLE_SECONDS)
    return held(engine)


def main() -> int:
    """Soak and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=2000, help="sessions in all, sources and sinks")
    parser.add_argument("--parallel", type=int, default=3)
    arguments = parser.parse_args()
    renice(5)
    failures: list[str] = []
    begin = time.monotonic()
    with serving() as engine:
        run_all(engine, range(FIRST_SESSIONS // 2), arguments.parallel, failures)
        first = settled(engine)
        last, quarter = first, (arguments.sessions - FIRST_SESSIONS) // 8
        for part in range(4):
            begin_at = FIRST_SESSIONS // 2 + part * quarter
            run_all(engine, range(begin_at, begin_at + quarter), arguments.parallel, failures)
            last = settled(engine)
            print(f"after {2 * (begin_at + quarter)}: {last}", flush=True)
    print(f"{arguments.sessions} sessions in {time.monotonic() - begin:.0f} s, {len(failures)} failed")
    print(f"{'':18}{'after 100':>12}{'at the end':>12}")
    for field, before, after in zip(fields(Held), astuple(first), astuple(last), strict=True):
        print(f"{field.name:18}{before:12}{after:12}")
    for failure in failures[:10]:
        print(failure)
    grown = last.resident_kib - first.resident_kib > MEMORY_TOLERANCE_KIB
    same = astuple(first)[1:] == astuple(last)[1:] and not grown
    print("the daemon holds the same" if same else "the daemon holds MORE")
    return 0 if same and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
