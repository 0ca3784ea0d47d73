"""Runs that were measured at a time, with exact values; no engine has to be asked."""

from datetime import UTC, datetime, timedelta
from typing import Any

from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan, PlanVersion
from benchweb.results.ingest import identity_digest
from benchweb.results.models import Point, Series
from benchweb.runs.models import Campaign, Run, Trial
from tests.factories import ONE_TRIAL

DAY = timedelta(days=1)
NIGHT = datetime(2026, 11, 21, 2, tzinfo=UTC)


def measured(
    pair: Pair,
    at: datetime,
    *values: float,
    kind: str = "tcp_stream",
    metric: str = "throughput_bps",
    identity: dict[str, Any] | None = None,
    state: str = "finished",
) -> Run:
    """Make a run on the pair that ended a minute after `at`, each value being a repetition."""
    run = _ended_run(pair, at, state)
    add_values(run, pair, at, *values, kind=kind, metric=metric, identity=identity)
    return run


def _ended_run(pair: Pair, at: datetime, state: str) -> Run:
    """Write a run of a plan of its own, straight into the tables: a history has hundreds."""
    plan = Plan.objects.create(name="sizes")
    version = PlanVersion.objects.create(
        plan=plan, number=1, steps=ONE_TRIAL, repetitions=1, order=PlanVersion.Order.INTERLEAVED
    )
    campaign = Campaign.objects.create(plan_version=version)
    return Run.objects.create(
        campaign=campaign,
        pair=pair,
        plan_version=version,
        state=state,
        planned_at=at,
        started_at=at,
        finished_at=at + timedelta(minutes=1),
    )


def add_values(
    run: Run,
    pair: Pair,
    at: datetime,
    *values: float,
    kind: str = "tcp_stream",
    metric: str = "throughput_bps",
    identity: dict[str, Any] | None = None,
) -> Series:
    """Add repetitions, one a second, to a run."""
    digest = identity_digest(identity or {})
    series, _ = Series.objects.get_or_create(
        pair=pair, kind=kind, metric=metric, identity_digest=digest, defaults={"identity": identity or {}}
    )
    first = run.trials.count() + 1
    trials = [
        Trial(run=run, index=first + number, kind=kind, params={}, repetition=number + 1)
        for number in range(len(values))
    ]
    Trial.objects.bulk_create(trials)
    Point.objects.bulk_create(
        Point(series=series, at=at + timedelta(seconds=number), value=value, run=run, trial=trial)
        for number, (trial, value) in enumerate(zip(trials, values, strict=True))
    )
    return series
