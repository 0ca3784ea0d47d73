"""Send a Celery task by its name, once the database has it; imports no room and no task."""

import logging
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction

_log = logging.getLogger(__name__)


def send_on_commit(task: str, *arguments: Any) -> None:
    """Enqueue `task` after the surrounding transaction; a lost wake-up is repeated by the beat's tick."""
    transaction.on_commit(partial(send, task, *arguments))


def send(task: str, *arguments: Any, expires_seconds: float | None = None) -> None:
    """Enqueue `task` now; a broker that is down loses the wake-up only, never the row it speaks of."""
    try:
        current_app.send_task(task, args=list(arguments), retry=False, ignore_result=True, expires=expires_seconds)
    except current_app.connection_for_write().connection_errors as error:
        _log.warning("Broker unreachable, %s waits for the next tick: %s", task, error)
