"""Celery tasks: thin, idempotent, carrying ids only."""

from celery import shared_task

from benchweb.runs import execution
from benchweb.schedules import services as schedules
from workers import check, run
from workers.connections import let_database_go


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
    """Launch what is due; wake what waits: pending runs whose wake-up was lost, runs whose worker fell silent."""
    schedules.claim_due()
    execution.wake_waiting()
    schedules.settle_slots()
    let_database_go()
