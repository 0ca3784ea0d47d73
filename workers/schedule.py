"""Send the beat's one tick; what is due when is the database's to say."""

import logging
import time
from typing import Any

import redis
from celery.beat import Scheduler, SchedulingError

from benchweb.common.celery_client import TICK_QUEUE, warn
from benchweb.ops.health.heartbeat import BEAT_KEY, beat_heart, client
from benchweb.settings import REDIS_URL

TICK_SECONDS = 1.0
# Ticks that nobody has taken yet: more would only be done one after the other when a worker is back.
_WAITING_TICKS = 3
_log = logging.getLogger(__name__)


class HeartbeatScheduler(Scheduler):
    """Celery's own scheduler, without its schedule file: one interval needs no memory of the last time.

    It goes by the monotonic clock: were the wall clock set back by an hour, Celery's would be silent for that hour. And
    it bounds the ticks by the queue's length, not by a time of expiry that a worker with another clock would misread.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._client = client(REDIS_URL)
        self._due = time.monotonic()
        super().__init__(*arguments, **options)

    def tick(self, *_: Any, **__: Any) -> float:
        """Send the tick when it is due; return the seconds to the next."""
        now = time.monotonic()
        if now >= self._due:
            # Those that were missed while the machine slept are not made up for.
            self._due = max(self._due + TICK_SECONDS, now)
            for entry in self.schedule.values():
                self._send(entry)
        return max(0.0, self._due - time.monotonic())

    def _send(self, entry: Any) -> None:
        """Send a tick; Celery's own `apply_entry` would log each that fails with two stacks."""
        try:
            self.apply_async(entry, producer=self.producer)
        except SchedulingError as error:
            warn(_log, "No tick is sent, the broker can't be used", error)

    def apply_async(self, entry: Any, *arguments: Any, **options: Any) -> Any:
        """Send what is due, then tell that the beat is alive: it is only as good as its sending."""
        result = super().apply_async(entry, *arguments, **options) if self._is_wanted() else None
        beat_heart(self._client, BEAT_KEY)
        return result

    def _is_wanted(self) -> bool:
        try:
            return self._client.llen(TICK_QUEUE) < _WAITING_TICKS
        except redis.RedisError:
            # The sending tells what is wrong with the broker.
            return True


BEAT: dict[str, Any] = {
    "beat_scheduler": HeartbeatScheduler,
    "beat_schedule": {
        "tick": {"task": "workers.tasks.tick", "schedule": TICK_SECONDS, "options": {"queue": TICK_QUEUE}},
    },
}
