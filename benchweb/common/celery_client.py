"""Send a Celery task by its name, once the database has it; imports no room and no task."""

import logging
import threading
import time
from functools import cache, partial
from typing import Any
from urllib.parse import urlsplit

import redis
from celery import Celery
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

QUEUE = "benchweb"
# The tick has its own: it waits behind no wake-up, and its length tells whether anybody takes it.
TICK_QUEUE = "benchweb-tick"
# A broker that hangs must not hold up a page or a measurement.
TRANSPORT_OPTIONS = {"socket_timeout": 5, "socket_connect_timeout": 5}
WARNING_SECONDS = 60.0
_log = logging.getLogger(__name__)
_lock = threading.Lock()
_told_until: dict[str, float] = {}


def send_on_commit(task: str, *arguments: Any) -> None:
    """Enqueue `task` after the surrounding transaction; a lost wake-up is repeated by the beat's tick."""
    transaction.on_commit(partial(send, task, *arguments))


def send(task: str, *arguments: Any) -> bool:
    """Enqueue `task` now; a broker that is down, then False, loses the wake-up only, never the row it speaks of."""
    try:
        _client().send_task(task, args=list(arguments), retry=False, ignore_result=True)
    except (OperationalError, redis.RedisError) as error:
        # Kombu passes on as it is that the broker can't be written.
        warn(_log, "Wake-ups wait for the next tick, the broker can't be used", error)
        return False
    return True


def warn(log: logging.Logger, what: str, error: Exception) -> None:
    """Log a fault of the broker's once a minute while it lasts: it would else fill the log."""
    with _lock:
        now = time.monotonic()
        if now < _told_until.get(what, now):
            return
        _told_until[what] = now + WARNING_SECONDS
    log.warning("%s: %s", what, error)


def broker_url(redis_url: str) -> str:
    """Return kombu's spelling of a redis-py URL: unix:///path becomes redis+socket:///path."""
    parts = urlsplit(redis_url)
    return redis_url.replace("unix://", "redis+socket://", 1) if parts.scheme == "unix" else redis_url


@cache
def _client() -> Celery:
    client = Celery("benchweb-client", broker=broker_url(settings.REDIS_URL), set_as_current=False)
    client.conf.update(task_default_queue=QUEUE, broker_transport_options=TRANSPORT_OPTIONS)
    return client
