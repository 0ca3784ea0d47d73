"""What of the system is ready, each part asked with a time-out of its own."""

import threading
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import psycopg
import redis
from django.conf import settings
from psycopg.rows import class_row

from benchweb.ops.health.heartbeat import LIFE_SECONDS, TIMEOUT_SECONDS, Heart, client, pulse

_ENGINES_SQL = """
    select status, count(*) as number from hosts_endpoint where archived_at is null group by status order by status
"""
_QUEUE_SQL = """
    select count(*) filter (where state = 'pending') as waiting, count(*) filter (where state = 'running') as running,
        coalesce(extract(epoch from now() - min(created_at) filter (where state = 'pending')), 0)::float8
        as oldest_seconds
    from runs_run where state in ('pending', 'running')
"""


@dataclass(frozen=True)
class SystemPart:
    """One part of the system: whether it is ready, and why not."""

    is_ready: bool
    reason: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the part for /healthz."""
        reason = {} if self.is_ready else {"reason": self.reason}
        return {"ready": self.is_ready, **reason, **self.details}


def parts() -> dict[str, SystemPart]:
    """Ask every part that has to be ready; the queue's figures are told, and gate nothing."""
    stored, carried = _database(), _broker()
    return {
        "database": stored.database,
        "broker": carried.broker,
        "worker": carried.worker,
        "beat": carried.beat,
        "engines": stored.engines,
        "queue": SystemPart(True, details=stored.queue_details | carried.queue_details),
    }


def needs() -> dict[str, SystemPart]:
    """Ask what the pages and the API need themselves; workers and engines come and go."""
    return {"database": _writable_database(), "broker": _broker().broker}


class _Endpoints(NamedTuple):
    """How many endpoints have a status."""

    status: str
    number: int


class _Queue(NamedTuple):
    """How many runs wait and run, and the age of the oldest that waits."""

    waiting: int
    running: int
    oldest_seconds: float

    def details(self) -> dict[str, Any]:
        """Return it as the health check's document has it."""
        return {
            "runs_waiting": self.waiting,
            "runs_running": self.running,
            "oldest_waiting_seconds": round(self.oldest_seconds, 1),
        }


class _DatabaseParts(NamedTuple):
    """The database itself, and what it knows of the engines and the queue."""

    database: SystemPart
    engines: SystemPart
    queue_details: dict[str, Any]


class _BrokerParts(NamedTuple):
    """The broker itself, and what it knows of the worker, of beat and of the queue."""

    broker: SystemPart
    worker: SystemPart
    beat: SystemPart
    queue_details: dict[str, Any]


def _database() -> _DatabaseParts:
    try:
        with _connection() as connection:
            statuses = connection.cursor(row_factory=class_row(_Endpoints)).execute(_ENGINES_SQL).fetchall()
            (queue,) = connection.cursor(row_factory=class_row(_Queue)).execute(_QUEUE_SQL).fetchall()
            connection.rollback()
            fault = write_fault(connection)
    except psycopg.Error as error:
        unknown = SystemPart(False, "the database that knows them is not ready")
        return _DatabaseParts(SystemPart(False, _reason(error)), unknown, {})
    engines = _engines({row.status: row.number for row in statuses})
    return _DatabaseParts(SystemPart(not fault, fault), engines, queue.details())


def _writable_database() -> SystemPart:
    try:
        with _connection() as connection:
            fault = write_fault(connection)
    except psycopg.Error as error:
        return SystemPart(False, _reason(error))
    return SystemPart(not fault, fault)


def _connection() -> "psycopg.Connection[Any]":
    # A connection of its own: a pool that measurements exhausted must not read as a dead database.
    options = f"-c statement_timeout={TIMEOUT_SECONDS * 1000}"
    return psycopg.connect(settings.DATABASE_URL, connect_timeout=TIMEOUT_SECONDS, options=options)


def _reason(error: psycopg.Error) -> str:
    return str(error).strip().splitlines()[0]


def _engines(endpoints: dict[str, int]) -> SystemPart:
    """Engines come and go: reported always, gating only until the demo is first there."""
    if settings.DEMO and not (settings.BENCHWEB_HOME / "stamps" / "demo").exists():
        return SystemPart(False, "the demo's engines are starting", {"endpoints": endpoints})
    return SystemPart(True, details={"endpoints": endpoints})


def _broker() -> _BrokerParts:
    try:
        with client(settings.REDIS_URL) as broker:
            now = pulse(broker)
    except redis.RedisError as error:
        away = SystemPart(False, "the broker that carries its heartbeat is not ready")
        return _BrokerParts(SystemPart(False, str(error)), away, away, {})
    messages = {"messages": sum(now.queued.values())}
    if now.write_fault:
        unknown = SystemPart(False, "the broker that carries its heartbeat can't be written")
        return _BrokerParts(
            SystemPart(False, f"the broker can't be written: {now.write_fault}"), unknown, unknown, messages
        )
    return _BrokerParts(SystemPart(True), _heart("worker", now.worker), _heart("beat", now.beat), messages)


def _heart(name: str, heart: Heart) -> SystemPart:
    age = {} if heart.seen_seconds_ago is None else {"seen_seconds_ago": round(heart.seen_seconds_ago, 1)}
    return SystemPart(heart.is_alive, f"no sign of life from a {name} for {LIFE_SECONDS} s", age)


# Somebody who asks all the time must not make the database write all the time.
_KEPT_SECONDS = 2.0
# A file of its own, so that no room left in another one hides a full disk; its end is written to the database's log.
# Its 128 rows fill 32 pages; each is as long as one can be that isn't compressed.
_WRITE_SQL = (
    "CREATE TEMPORARY TABLE benchweb_write_check (filler text) ON COMMIT DROP",
    "INSERT INTO benchweb_write_check SELECT repeat(md5(n::text), 60) FROM generate_series(1, 128) AS n",
)
_lock = threading.Lock()
_last: dict[str, tuple[float, str]] = {}


def write_fault(connection: "psycopg.Connection[Any]") -> str:
    """Return why the database can't be written, empty when it can; raises psycopg.Error when it can't be asked."""
    if connection.execute("SHOW transaction_read_only").fetchone() == ("on",):
        return "the database can't be written: it is read-only"
    connection.rollback()
    with _lock:
        until, fault = _last.get(connection.info.dsn, (0.0, ""))
        if time.monotonic() >= until:
            fault = _fault_of_writing(connection)
            _last[connection.info.dsn] = (time.monotonic() + _KEPT_SECONDS, fault)
        return fault


def _fault_of_writing(connection: "psycopg.Connection[Any]") -> str:
    try:
        with connection.transaction():
            for statement in _WRITE_SQL:
                connection.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        # A role that may not make temporary tables: nothing is known then, and nothing is wrong.
        return ""
    except psycopg.OperationalError as error:
        return f"the database can't be written: {str(error).strip().splitlines()[0]}"
    return ""
