"""Live progress over Redis pub/sub: wake-ups for watchers; losing every message loses no run."""

import json
import logging
from functools import cache
from typing import Any

import redis
from django.conf import settings

CANCEL_CHANNEL = "benchweb:cancel"
# A broker that hangs must not hold up a measurement.
_TIMEOUT_SECONDS = 2.0
_log = logging.getLogger(__name__)


def channel(run_id: int) -> str:
    """Name the channel on which a run's messages go out."""
    return f"benchweb:run:{run_id}"


def publish(run_id: int, message: dict[str, Any]) -> None:
    """Tell whoever watches a run; `type` is run, trial or interval."""
    _publish(channel(run_id), json.dumps(message, default=str))


def publish_cancel(run_id: int) -> None:
    """Tell the workers that a run's cancellation was asked for; their heartbeat finds it anyway."""
    _publish(CANCEL_CHANNEL, str(run_id))


@cache
def client() -> "redis.Redis":
    """Give the process's connection pool to Redis, with time-outs."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
    )


def _publish(name: str, message: str) -> None:
    try:
        client().publish(name, message)
    except redis.RedisError as error:
        _log.warning("Live message on %s lost: %s", name, error)
