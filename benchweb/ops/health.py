"""What of the system is ready, each part asked with a time-out of its own."""

import time
from dataclasses import dataclass, field
from typing import Any

import psycopg
import redis
from django.conf import settings

from benchweb.ops.heartbeat import BEAT_KEY, LIFE_SECONDS, TIMEOUT_SECONDS, WORKER_KEY, client

_ENGINES_SQL = """
    select status, count(*) from hosts_endpoint where archived_at is null group by status order by status
"""


@dataclass(frozen=True)
class Part:
    """One part of the system: whether it is ready, and why not."""

    is_ready: bool
    reason: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Give the part for /healthz."""
        reason = {} if self.is_ready else {"reason": self.reason}
        return {"ready": self.is_ready, **reason, **self.details}


def parts() -> dict[str, Part]:
    """Ask every part that has to be ready."""
    database, engines = _database()
    broker, worker, beat = _broker()
    return {"database": database, "broker": broker, "worker": worker, "beat": beat, "engines": engines}


def _database() -> tuple[Part, Part]:
    # A connection of its own: a pool that measurements exhausted must not read as a dead database.
    options = f"-c statement_timeout={TIMEOUT_SECONDS * 1000}"
    try:
        with psycopg.connect(settings.DATABASE_URL, connect_timeout=TIMEOUT_SECONDS, options=options) as connection:
            endpoints: dict[str, int] = dict(connection.execute(_ENGINES_SQL).fetchall())
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[0]
        return Part(False, reason), Part(False, "the database that knows them is not ready")
    return Part(True), _engines(endpoints)


def _engines(endpoints: dict[str, int]) -> Part:
    """Engines come and go: reported always, gating only until the demo is first there."""
    if settings.DEMO and not (settings.BENCHWEB_HOME / "stamps" / "demo").exists():
        return Part(False, "the demo's engines are starting", {"endpoints": endpoints})
    return Part(True, details={"endpoints": endpoints})


def _broker() -> tuple[Part, Part, Part]:
    try:
        with client(settings.REDIS_URL) as broker:
            worker, beat = broker.mget(WORKER_KEY, BEAT_KEY)
    except redis.RedisError as error:
        away = Part(False, "the broker that carries its heartbeat is not ready")
        return Part(False, str(error)), away, away
    return Part(True), _heart("worker", worker), _heart("beat", beat)


def _heart(name: str, value: bytes | None) -> Part:
    if value is None:
        return Part(False, f"no sign of life from a {name} for {LIFE_SECONDS} s")
    return Part(True, details={"seen_seconds_ago": round(max(0.0, time.time() - float(value)), 1)})
