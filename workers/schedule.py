"""What the beat sends: one tick; what is due when is the database's to say."""

from typing import Any

from celery.beat import Scheduler

from benchweb.ops.heartbeat import BEAT_KEY, beat_heart, client
from benchweb.settings import REDIS_URL

TICK_SECONDS = 1.0


class HeartbeatScheduler(Scheduler):
    """Celery's own scheduler, without its schedule file: one interval needs no memory of the last time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._client = client(REDIS_URL)
        super().__init__(*arguments, **options)

    def apply_async(self, entry: Any, *arguments: Any, **options: Any) -> Any:
        """Send what is due, then tell that the beat is alive: it is only as good as its sending."""
        result = super().apply_async(entry, *arguments, **options)
        beat_heart(self._client, BEAT_KEY)
        return result


BEAT: dict[str, Any] = {
    "beat_scheduler": HeartbeatScheduler,
    # A tick that waited longer than its period is stale: the next one does the same work.
    "beat_schedule": {"tick": {"task": "workers.tasks.tick", "schedule": TICK_SECONDS, "options": {"expires": 5}}},
}
