"""Live progress over Redis pub/sub: wake-ups for watchers; losing every message loses no run."""

import json
import logging
from collections.abc import Sequence
from functools import cache
from typing import Any

import redis
from django.conf import settings

from benchweb.common.celery_client import warn

CANCEL_CHANNEL = "benchweb:cancel"
# A broker that hangs must not hold up a measurement.
_TIMEOUT_SECONDS = 2.0
_BATCH = 1_000
# A browser that opens late is told these; they outlive the run's last interval by as long.
INTERVALS_RETAINED = 240
_INTERVALS_RETAINED_SECONDS = 600
_log = logging.getLogger(__name__)


def channel(run_id: int) -> str:
    """Name the channel on which a run's messages go out."""
    return f"benchweb:run:{run_id}"


def intervals_key(run_id: int) -> str:
    """Name the list of a run's last intervals."""
    return f"{channel(run_id)}:intervals"


def publish(run_id: int, message: dict[str, Any]) -> None:
    """Tell whoever watches a run; `type` is run, trial or interval."""
    publish_all([(run_id, message)])


def publish_interval(run_id: int, message: dict[str, Any]) -> None:
    """Tell an interval, and keep it for those who come later; `index` (trial) and `event` say its place in the run."""
    text, key = json.dumps(message, default=str), intervals_key(run_id)
    try:
        with client().pipeline(transaction=False) as pipeline:
            pipeline.rpush(key, text)
            pipeline.ltrim(key, -INTERVALS_RETAINED, -1)
            pipeline.expire(key, _INTERVALS_RETAINED_SECONDS)
            pipeline.publish(channel(run_id), text)
            pipeline.execute()
    except redis.RedisError as error:
        warn(_log, "live progress of runs is lost", error)


def publish_all(messages: Sequence[tuple[int, dict[str, Any]]]) -> None:
    """Tell the watchers of many runs, (run id, message) each, in few round trips."""
    _publish([(channel(run_id), json.dumps(message, default=str)) for run_id, message in messages])


def publish_cancel(run_ids: Sequence[int]) -> None:
    """Tell the workers that cancellation was asked for, a message a run; their heartbeat finds it anyway."""
    _publish([(CANCEL_CHANNEL, str(run_id)) for run_id in run_ids])


@cache
def client() -> "redis.Redis":
    """Return the process's connection pool to Redis, with time-outs."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
    )


def _publish(messages: Sequence[tuple[str, str]]) -> None:
    try:
        for first in range(0, len(messages), _BATCH):
            with client().pipeline(transaction=False) as pipeline:
                for name, message in messages[first : first + _BATCH]:
                    pipeline.publish(name, message)
                pipeline.execute()
    except redis.RedisError as error:
        warn(_log, "live messages are lost", error)
