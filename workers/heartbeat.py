"""The worker and its broker: the sign of life for /healthz, and patience with a broker that can't be written."""

import logging
import time
from typing import Any

import redis
from celery import bootsteps
from celery.worker import state
from django.conf import settings

from benchweb.common.celery_client import warn
from benchweb.ops.health.heartbeat import PERIOD_SECONDS, WORKER_KEY, beat_heart, client, pulse

_log = logging.getLogger(__name__)


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


class WritableBroker(bootsteps.StartStopStep):
    """Wait until the broker can be written: Celery would else end the worker, and with it what its runs do."""

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        # A refusal is met as a lost connection is: the consumer stops, and starts anew.
        parent.connection_errors = (*parent.connection_errors, redis.ResponseError)

    def stop(self, parent: Any) -> None:
        """Let the consumer start anew, unless the worker ends, once tasks can be taken off their queues."""
        with client(settings.REDIS_URL) as broker:
            while state.should_stop is None and state.should_terminate is None and (fault := _write_fault(broker)):
                warn(_log, "No task is taken, the broker can't be written", redis.ResponseError(fault))
                time.sleep(PERIOD_SECONDS)


def _write_fault(broker: "redis.Redis") -> str:
    try:
        return pulse(broker).write_fault
    except redis.RedisError:
        # Celery itself waits for a broker that is away.
        return ""
