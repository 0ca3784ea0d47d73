"""The beat: sends the tick, and nothing else; it loads no room, so it stays small and starts fast."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")

from typing import Any

from celery import Celery
from celery.beat import Scheduler
from django.conf import settings

from benchweb.ops.heartbeat import BEAT_KEY, beat_heart, client
from benchweb.queue import QUEUE, TRANSPORT_OPTIONS, broker_url

TICK_SECONDS = 1.0


class HeartbeatScheduler(Scheduler):
    """Celery's own scheduler, without its schedule file: one interval needs no memory of the last time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._client = client()
        super().__init__(*arguments, **options)

    def apply_async(self, entry: Any, *arguments: Any, **options: Any) -> Any:
        """Send what is due, then tell that the beat is alive: it is only as good as its sending."""
        result = super().apply_async(entry, *arguments, **options)
        beat_heart(self._client, BEAT_KEY)
        return result


app = Celery("benchweb-beat", broker=broker_url(settings.REDIS_URL))
app.conf.update(
    task_ignore_result=True,
    task_default_queue=QUEUE,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options=TRANSPORT_OPTIONS,
    beat_scheduler=HeartbeatScheduler,
    # A tick that waited longer than its period is stale: the next one does the same work.
    beat_schedule={"tick": {"task": "workers.tasks.tick", "schedule": TICK_SECONDS, "options": {"expires": 5}}},
)
