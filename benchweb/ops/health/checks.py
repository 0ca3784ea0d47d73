"""What of the system is ready, each part asked with a time-out of its own."""

from dataclasses import dataclass, field
from typing import Any

import psycopg
import redis
from django.conf import settings

from benchweb.ops.health.database_writes import write_fault
from benchweb.ops.health.heartbeat import LIFE_SECONDS, TIMEOUT_SECONDS, Heart, client, pulse

_ENGINES_SQL = """
    select status, count(*) from hosts_endpoint where archived_at is null group by status order by status
"""
_QUEUE_SQL = """
    select count(*) filter (where state = 'pending'), count(*) filter (where state = 'running'),
        coalesce(extract(epoch from now() - min(created_at) filter (where state = 'pending')), 0)::float8
    from runs_run where state in ('pending', 'running')
"""


@dataclass(frozen=True)
class Part:
    """One part of the system: whether it is ready, and why not."""

    is_ready: bool
    reason: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the part for /healthz."""
        reason = {} if self.is_ready else {"reason": self.reason}
        return {"ready": self.is_ready, **reason, **self.details}


def parts() -> dict[str, Part]:
    """Ask every part that has to be ready; the queue's figures are told, and gate nothing."""
    database, engines, runs = _database()
    broker, worker, beat, messages = _broker()
    queue = Part(True, details=runs | messages)
    return {"database": database, "broker": broker, "worker": worker, "beat": beat, "engines": engines, "queue": queue}


def needs() -> dict[str, Part]:
    """Ask what the pages and the API need themselves; workers and engines come and go."""
    broker, *_ = _broker()
    return {"database": _writable_database(), "broker": broker}


def _database() -> tuple[Part, Part, dict[str, Any]]:
    try:
        with _connection() as connection:
            endpoints: dict[str, int] = dict(connection.execute(_ENGINES_SQL).fetchall())
            waiting, running, oldest = connection.execute(_QUEUE_SQL).fetchone() or (0, 0, 0.0)
            connection.rollback()
            fault = write_fault(connection)
    except psycopg.Error as error:
        return Part(False, _reason(error)), Part(False, "the database that knows them is not ready"), {}
    runs = {"runs_waiting": waiting, "runs_running": running, "oldest_waiting_seconds": round(oldest, 1)}
    return Part(not fault, fault), _engines(endpoints), runs


def _writable_database() -> Part:
    try:
        with _connection() as connection:
            fault = write_fault(connection)
    except psycopg.Error as error:
        return Part(False, _reason(error))
    return Part(not fault, fault)


def _connection() -> "psycopg.Connection[Any]":
    # A connection of its own: a pool that measurements exhausted must not read as a dead database.
    options = f"-c statement_timeout={TIMEOUT_SECONDS * 1000}"
    return psycopg.connect(settings.DATABASE_URL, connect_timeout=TIMEOUT_SECONDS, options=options)


def _reason(error: psycopg.Error) -> str:
    return str(error).strip().splitlines()[0]


def _engines(endpoints: dict[str, int]) -> Part:
    """Engines come and go: reported always, gating only until the demo is first there."""
    if settings.DEMO and not (settings.BENCHWEB_HOME / "stamps" / "demo").exists():
        return Part(False, "the demo's engines are starting", {"endpoints": endpoints})
    return Part(True, details={"endpoints": endpoints})


def _broker() -> tuple[Part, Part, Part, dict[str, Any]]:
    try:
        with client(settings.REDIS_URL) as broker:
            now = pulse(broker)
    except redis.RedisError as error:
        away = Part(False, "the broker that carries its heartbeat is not ready")
        return Part(False, str(error)), away, away, {}
    messages = {"messages": sum(now.queued.values())}
    return Part(True), _heart("worker", now.worker), _heart("beat", now.beat), messages


def _heart(name: str, heart: Heart) -> Part:
    age = {} if heart.seen_seconds_ago is None else {"seen_seconds_ago": round(heart.seen_seconds_ago, 1)}
    return Part(heart.is_alive, f"no sign of life from a {name} for {LIFE_SECONDS} s", age)
