"""Runs that were measured at a time, with exact values; no engine has to be asked."""

from datetime import UTC, datetime, timedelta
from typing import Any

from benchweb.hosts.models import Pair
from benchweb.results.ingest import identity_digest
from benchweb.results.models import Point, Series
from benchweb.runs.models import Run, Trial
from tests.factories import make_run

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
    run = make_run(pair=pair)
    Run.objects.filter(pk=run.pk).update(state=state, started_at=at, finished_at=at + timedelta(minutes=1))
    add_values(run, pair, at, *values, kind=kind, metric=metric, identity=identity)
    return run


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
    for number, value in enumerate(values):
        trial = Trial.objects.create(run=run, index=first + number, kind=kind, params={}, repetition=number + 1)
        moment = at + timedelta(seconds=number)
        Point.objects.create(series=series, at=moment, value=value, run=run, trial=trial)
    return series
