"""Two hundred browsers that watch one run under way: what it costs the web server, and how late they hear.

    python3 -m bench.watchers [--watchers 200] [--seconds 30]

A rig of its own (PostgreSQL, Valkey, web). Each watcher is an HTTP client of its own that does what live.ts does in a
browser: it holds the event stream and, after each message but an interval, fetches the page's part once, later by
chance. Trials end every two seconds with a real ingest, intervals come every second. Ends with status 1 when a promise
doesn't hold.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import redis

from bench.rig.load import Load
from bench.rig.rig import API_TOKEN, Rig
from benchweb.ops.running import valkey

INTERVAL_SECONDS, TRIAL_SECONDS = 1.0, 2.0
TRIALS = 400
# As in frontend/src/live/page.ts.
REFRESH_SECONDS, SPREAD_SECONDS, MOST_SPREAD_SECONDS = 0.4, 0.02, 5.0
# Promised: an interval is on the screen within a quarter of a second, and the page's part within two.
MOST_LATE_SECONDS, MOST_REFRESH_SECONDS = 0.25, 2.0
_MAKE = """
import json, sys, django
django.setup()
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.auth import SESSION_KEY, BACKEND_SESSION_KEY, HASH_SESSION_KEY
from benchweb.runs.models import Run, State
from django.utils import timezone
run = Run.objects.get()
Run.objects.filter(pk=run.pk).update(state=State.RUNNING, started_at=timezone.now())
user = User.objects.get()
session = SessionStore()
session[SESSION_KEY], session[BACKEND_SESSION_KEY] = str(user.pk), "benchweb.accounts.backend.PasswordBackend"
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.create()
print(json.dumps({"run": run.pk, "session": session.session_key}))
"""
_TAKE_IN = """
import sys, time, django
django.setup()
from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.models import State, Trial
for line in sys.stdin:
    trial = Trial.objects.get(run=int(sys.argv[1]), index=int(line))
    document = {"kind": trial.kind, "metrics": {"throughput_bps": 1e9 + trial.index * 1e6}, "flags": [], "limits": []}
    ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)
"""


@dataclass
class Heard:
    """What all watchers noted."""

    late_seconds: list[float] = field(default_factory=list)
    refresh_seconds: list[float] = field(default_factory=list)
    intervals: int = 0
    failed: int = 0
    connected: int = 0


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    with Rig({"BENCHWEB_LOG_LEVEL": "WARNING", "BENCHWEB_LIVE_STREAMS_PER_USER": "100000"}) as rig:
        engine = {"control": "127.0.0.1:1", "fingerprint": "", "token": "x"}
        steps = [
            {"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024, 16384, 65536], "duration_seconds": 2}}
        ]
        requested = {"engines": [engine, engine], "pairs": [[0, 1]], "steps": steps, "repetitions": TRIALS // 4}
        rows = json.loads(rig.run("-m", "bench.rig.rows", text=json.dumps(requested | {"api_token": API_TOKEN})))
        launched = {"launch": {"plan": rows["plan"], "pairs": rows["pairs"]}}
        rig.run("-c", _LAUNCH, text=json.dumps(launched))
        made = json.loads(rig.run("-c", _MAKE))
        rig.start("web")
        sys.exit(asyncio.run(_measured(rig, made, arguments)))


_LAUNCH = """
import json, sys, django
django.setup()
from bench.rig.rows import launched
launched(json.load(sys.stdin)["launch"])
"""


async def _measured(rig: Rig, made: dict[str, Any], arguments: argparse.Namespace) -> int:
    heard, load = Heard(), Load(rig)
    watchers = [
        asyncio.create_task(_watch(rig.port, made, heard, arguments.watchers)) for _ in range(arguments.watchers)
    ]
    while heard.connected < arguments.watchers:
        await asyncio.sleep(0.1)
    await asyncio.sleep(3)
    heard.refresh_seconds.clear()
    load.begin()
    sampling = asyncio.create_task(_sample(load))
    sent = await _tell(rig, made["run"], arguments.seconds)
    await asyncio.sleep(MOST_SPREAD_SECONDS)
    sampling.cancel()
    lines = load.lines()
    connections = rig.rows("select count(*) from pg_stat_activity where datname = 'benchweb'")[0][0]
    broker = redis.Redis(unix_socket_path=str(rig.folder / valkey.SOCKET_NAME))
    subscribed = broker.pubsub_numsub(f"benchweb:run:{made['run']}")[0][1]
    for watcher in watchers:
        watcher.cancel()
    await asyncio.gather(*watchers, return_exceptions=True)
    return _print(
        heard,
        sent,
        arguments.watchers,
        [*lines, f"{connections} connections to the database, {subscribed} to the broker's channel"],
    )


def _print(heard: Heard, sent: int, watchers: int, lines: list[str]) -> int:
    late, refresh = sorted(heard.late_seconds), sorted(heard.refresh_seconds)
    lost = sent * watchers - heard.intervals
    print(f"{watchers} watchers, {sent} intervals told: {lost} lost, {heard.failed} requests failed")
    print("interval heard after " + _spread(late))
    print(f"{len(refresh)} refreshes, answered after " + _spread(refresh))
    print("\n".join(lines))
    holds = (
        not lost
        and not heard.failed
        and _at(late, 0.95) <= MOST_LATE_SECONDS
        and _at(refresh, 0.95) <= MOST_REFRESH_SECONDS
    )
    print(
        "holds"
        if holds
        else "does NOT hold: promised are no loss, p95 of 250 ms for an interval and of 2 s for a refresh"
    )
    return 0 if holds else 1


def _spread(values: list[float]) -> str:
    return ", ".join(f"p{share * 100:.0f} {_at(values, share) * 1000:.1f} ms" for share in (0.5, 0.95, 0.99, 1.0))


def _at(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


async def _tell(rig: Rig, run: int, seconds: float) -> int:
    """Publish an interval a second as a worker does, and take in a trial every other."""
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _TAKE_IN, str(run), stdin=asyncio.subprocess.PIPE, env=rig.environment
    )
    broker = redis.Redis(unix_socket_path=str(rig.folder / valkey.SOCKET_NAME))
    key, started, sent = f"benchweb:run:{run}", time.monotonic(), 0
    while time.monotonic() - started < seconds:
        index = 1 + int(sent * INTERVAL_SECONDS / TRIAL_SECONDS)
        interval = {"start_seconds": sent, "end_seconds": sent + 1, "metrics": {"throughput_bps": 1e9}}
        message = {"type": "interval", "trial": index, "index": index, "event": sent, "metric": "throughput_bps"}
        text = json.dumps(message | {"interval": interval, "sent": time.monotonic()})
        broker.rpush(f"{key}:intervals", text)
        broker.publish(key, text)
        sent += 1
        if sent % int(TRIAL_SECONDS / INTERVAL_SECONDS) == 0 and program.stdin:
            program.stdin.write(f"{index}\n".encode())
            await program.stdin.drain()
        await asyncio.sleep(max(0.0, started + sent * INTERVAL_SECONDS - time.monotonic()))
    if program.stdin:
        program.stdin.close()
    await program.wait()
    return sent


async def _sample(load: Load) -> None:
    while True:
        await asyncio.to_thread(load.sample)
        await asyncio.sleep(1)


async def _watch(port: int, made: dict[str, Any], heard: Heard, watchers: int) -> None:
    """Hold the stream; a refresh is under way or planned at most once, as in the browser."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_request(port, f"/runs/{made['run']}/events", made["session"]))
    await writer.drain()
    refresh: asyncio.Task[None] | None = None
    heard.connected += 1
    while line := await reader.readline():
        if not line.startswith(b"data: {"):
            continue
        message = json.loads(line[6:])
        if message.get("type") == "interval":
            heard.intervals += 1
            heard.late_seconds.append(time.monotonic() - message["sent"])
        elif refresh is None or refresh.done():
            spread = min(message.get("watchers", watchers) * SPREAD_SECONDS, MOST_SPREAD_SECONDS)
            refresh = asyncio.create_task(_refresh(port, made, heard, REFRESH_SECONDS + random.random() * spread))


async def _refresh(port: int, made: dict[str, Any], heard: Heard, pause: float) -> None:
    await asyncio.sleep(pause)
    started = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_request(port, f"/runs/{made['run']}", made["session"], "HX-Request: true\r\nConnection: close\r\n"))
    await writer.drain()
    answer = await reader.read()
    writer.close()
    heard.refresh_seconds.append(time.monotonic() - started)
    heard.failed += not answer.startswith(b"HTTP/1.1 200")


def _request(port: int, path: str, session: str, more: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: sessionid={session}\r\n{more}\r\n".encode()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--watchers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30)
    return parser.parse_args()


if __name__ == "__main__":
    main()
