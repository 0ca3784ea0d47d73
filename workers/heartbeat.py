"""The worker's sign of life, for /healthz."""

from typing import Any

from celery import bootsteps
from django.conf import settings

from benchweb.ops.health.heartbeat import PERIOD_SECONDS, WORKER_KEY, beat_heart, client


class WorkerHeartbeat(bootsteps.StartStopStep):
    """Write the worker's sign of life while it consumes."""

    requires = ("celery.worker.components:Timer",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._client = client(settings.REDIS_URL)
        self._timer: Any = None

    def start(self, parent: Any) -> None:
        """Start with the worker's timer, which does nothing else that could wait."""
        beat_heart(self._client, WORKER_KEY)
        self._timer = parent.timer.call_repeatedly(PERIOD_SECONDS, beat_heart, (self._client, WORKER_KEY))

    def stop(self, parent: Any) -> None:
        """Stop with the worker."""
        if self._timer is not None:
            self._timer.cancel()
