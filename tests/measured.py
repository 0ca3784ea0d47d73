"""Runs that have measured, for tests of what reads them: made by the services and the ingest that the product uses."""

from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.models import Run, State
from benchweb.runs.services import launch


def measured_run(plan: Plan, pair: Pair, values: list[float], metric: str = "throughput_bps") -> Run:
    """Launch a plan on a pair and give each of its trials one value; the run is finished."""
    run = pending_run(plan, pair)
    for trial, value in zip(run.trials.order_by("index"), values, strict=True):
        result = parsed_result(trial.kind, {"kind": trial.kind, "metrics": {metric: value}})
        assert ingest(trial=trial, result=result, state=State.FINISHED)
    return ended(run, State.FINISHED)


def failed_run(plan: Plan, pair: Pair, reason: str) -> Run:
    """Launch a plan on a pair; the run failed before anything was measured."""
    return ended(pending_run(plan, pair), State.FAILED, reason)


def pending_run(plan: Plan, pair: Pair) -> Run:
    return launch(plan=plan, pairs=[pair], user=None).runs.get()


def ended(run: Run, state: State, reason: str = "") -> Run:
    Run.objects.filter(pk=run.pk).update(state=state, reason=reason)
    run.refresh_from_db()
    return run
