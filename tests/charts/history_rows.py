"""A history made by hand: runs at chosen times with chosen figures, straight into the tables."""

from datetime import UTC, datetime, timedelta
from typing import Any

from benchweb.catalog import catalog
from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.results.ingest import identity_digest
from benchweb.results.models import Point, Result, Series
from benchweb.runs.models import Campaign, Run, State, Trial

NIGHT = datetime(2026, 3, 1, 2, tzinfo=UTC)
DAY = timedelta(days=1)


def past_run(
    plan: Plan,
    pair: Pair,
    at: datetime,
    *metrics: dict[str, float],
    state: State = State.FINISHED,
    reason: str = "",
    histogram: bytes | None = None,
) -> Run:
    """Make a run that began at a time; each dict of metrics is a finished trial of the plan's first kind."""
    version = plan.versions.get()
    campaign = Campaign.objects.create(plan_version=version)
    times = {"started_at": at, "finished_at": at + timedelta(seconds=30)}
    run = Run.objects.create(
        campaign=campaign, pair=pair, plan_version=version, state=state, reason=reason, planned_at=at, **times
    )
    Run.objects.filter(pk=run.pk).update(created_at=at)
    step = version.steps[0]
    for index, values in enumerate(metrics, start=1):
        trial = Trial.objects.create(
            run=run, index=index, kind=step["kind"], params=step["params"], repetition=index, state="finished", **times
        )
        Result.objects.create(trial=trial, metrics=values, document={}, histogram=histogram)
        points_of(trial, pair, at + timedelta(seconds=index), values)
    return run


def points_of(trial: Trial, pair: Pair, at: datetime, values: dict[str, float]) -> None:
    """Add a trial's values to their series."""
    identity: dict[str, Any] = catalog().kinds[trial.kind].identity(trial.params)
    for metric, value in values.items():
        series, _ = Series.objects.get_or_create(
            pair=pair,
            kind=trial.kind,
            metric=metric,
            identity_digest=identity_digest(identity),
            defaults={"identity": identity},
        )
        Point.objects.create(series=series, at=at, value=value, run=trial.run, trial=trial)
