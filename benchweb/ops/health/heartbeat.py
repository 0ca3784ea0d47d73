"""Signs of life of worker and beat in Redis, and the length of the queues; a lost sign only reads as not ready."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import redis

from benchweb.common.celery_client import QUEUE, TICK_QUEUE

TIMEOUT_SECONDS = 2
PERIOD_SECONDS = 2.0
# The key's life is the longest silence that still counts as alive.
LIFE_SECONDS = 10
WORKER_KEY = "benchweb:heartbeat:worker"
BEAT_KEY = "benchweb:heartbeat:beat"
QUEUES = (QUEUE, TICK_QUEUE)
# A second key outlives the first, to tell for how long there was none.
_LAST = ":last"
_WRITE_KEY = "benchweb:write-check"
_REMEMBERED_SECONDS = 30 * 86_400


@dataclass(frozen=True)
class Heart:
    """A process's signs of life: `seen_seconds_ago` is None when there was none for a month."""

    is_alive: bool
    seen_seconds_ago: float | None


@dataclass(frozen=True)
class Pulse:
    """Worker, beat, and how many messages wait in each queue; `write_fault` is why the broker can't be written.

    Then hearts tell nothing: a sign of life could not have been left.
    """

    write_fault: str
    worker: Heart
    beat: Heart
    queued: Mapping[str, int]


def client(redis_url: str) -> "redis.Redis":
    """Connect to the broker with the health check's time-outs."""
    return redis.Redis.from_url(redis_url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS)


def beat_heart(broker: "redis.Redis", key: str) -> None:
    """Tell that the process behind `key` is alive."""
    now = f"{time.time():.3f}"
    try:
        with broker.pipeline(transaction=False) as both:
            both.set(key, now, ex=LIFE_SECONDS)
            both.set(key + _LAST, now, ex=_REMEMBERED_SECONDS)
            both.execute()
    except redis.RedisError:
        return


def pulse(broker: "redis.Redis") -> Pulse:
    """Read everything at once; raises RedisError. Ages are by the broker's clock, which alone sets the keys' lives."""
    with broker.pipeline(transaction=False) as pipeline:
        pipeline.set(_WRITE_KEY, "1", ex=LIFE_SECONDS)
        pipeline.exists(WORKER_KEY)
        pipeline.pttl(WORKER_KEY + _LAST)
        pipeline.exists(BEAT_KEY)
        pipeline.pttl(BEAT_KEY + _LAST)
        for name in QUEUES:
            pipeline.llen(name)
        written, *answers = pipeline.execute(raise_on_error=False)
    if fault := next((answer for answer in answers if isinstance(answer, redis.RedisError)), None):
        raise fault
    worker, worker_left, beat, beat_left, *lengths = answers
    return Pulse(
        write_fault=str(written) if isinstance(written, redis.RedisError) else "",
        worker=_heart(worker, worker_left),
        beat=_heart(beat, beat_left),
        queued=dict(zip(QUEUES, lengths, strict=True)),
    )


def _heart(exists: int, left_milliseconds: int) -> Heart:
    """Return a heart from whether its short key is there, and from how long its long one still lives."""
    if left_milliseconds < 0:
        return Heart(bool(exists), None)
    return Heart(bool(exists), max(0.0, _REMEMBERED_SECONDS - left_milliseconds / 1000))
