"""Celery tasks: thin, idempotent, carrying ids only."""

import time

from celery import shared_task
from django.db import connection

from benchweb.runs import execution, live
from workers import check, run

# When the worker and the beat were last alive, for /healthz; Redis alone, for a lost key only reads as not ready.
TICK_KEY = "benchweb:tick"
_TICK_KEY_SECONDS = 30


@shared_task(name="workers.tasks.execute_run")
def execute_run(run_id: int) -> None:
    """Execute a run, if it is this worker's turn."""
    run.execute(run_id)


@shared_task(name="workers.tasks.check_endpoint")
def check_endpoint(endpoint_id: int) -> None:
    """Check an endpoint's engine."""
    check.check(endpoint_id)


@shared_task(name="workers.tasks.tick")
def tick() -> None:
    """Wake what waits: pending runs whose wake-up was lost, runs whose worker fell silent."""
    execution.wake_waiting()
    live.client().set(TICK_KEY, int(time.time()), ex=_TICK_KEY_SECONDS)
    connection.close()
