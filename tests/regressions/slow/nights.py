"""Ninety nights of figures in the database, with exact values; and the look at them."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from benchweb.hosts.models import Pair
from benchweb.regressions.models import SlowChange, SlowChangeSeries, SlowLook
from benchweb.regressions.slow.looks import take_look
from benchweb.results.ingest import identity_digest
from benchweb.results.models import RunFigure, Series
from benchweb.runs.models import Campaign, Run
from tests.factories import make_run
from tests.statistics.changes.noisy import noisy

DAY = timedelta(days=1)
LAST = date(2026, 11, 21)
LEVEL = 9.4e9
NIGHTS = 90
ZONE = ZoneInfo("UTC")


def step(share: float = -0.03, at: int = 60, *, nights: int = NIGHTS, seed: int = 1) -> list[float]:
    """Return nights with a step, in noise of 1 %."""
    return noisy([LEVEL * (1 + share * (night >= at)) for night in range(nights)], seed)


def write_nights(
    pair: Pair,
    *values_of_series: Sequence[float | None],
    last: date = LAST,
    hour: int = 2,
    kind: str = "tcp_stream",
    metric: str = "throughput_bps",
) -> list[Series]:
    """Write a night's run each, the last one ending with `last`, whose series are message sizes of one test."""
    count = len(values_of_series[0])
    ats = [datetime.combine(last - (count - 1 - index) * DAY, time(hour), UTC) for index in range(count)]
    runs = runs_at(pair, ats)
    series = []
    for number, values in enumerate(values_of_series):
        identity: dict[str, Any] = {"message_size_bytes": 2**number} if number else {}
        one, _ = Series.objects.get_or_create(
            pair=pair,
            kind=kind,
            metric=metric,
            identity_digest=identity_digest(identity),
            defaults={"identity": identity},
        )
        RunFigure.objects.bulk_create(
            RunFigure(series=one, run=run, at=at, n=5, median=value, low=value, high=value)
            for run, at, value in zip(runs, ats, values, strict=True)
            if value is not None
        )
        series.append(one)
    return series


def runs_at(pair: Pair, ats: Iterable[datetime]) -> list[Run]:
    """Make finished runs that began at these times; launched one by one they would take seconds."""
    first = make_run(pair=pair)
    moments = list(ats)
    campaigns = Campaign.objects.bulk_create([_copy(first.campaign) for _ in moments])
    runs = [_copy(first, campaign=campaign) for campaign in campaigns]
    for run, at in zip(runs, moments, strict=True):
        run.state, run.started_at, run.finished_at, run.has_figures = "finished", at, at + timedelta(minutes=1), True
    first.campaign.runs.all().delete()
    return Run.objects.bulk_create(runs)


def _copy(row: Any, **changed: Any) -> Any:
    fields = {
        field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if not field.primary_key
    }
    return type(row)(**fields | {f"{name}_id": other.pk for name, other in changed.items()})


def make_slow_change(series: Series, night: date = LAST) -> SlowChange:
    """Let a look have found that a series got worse slowly; its nights need not say so."""
    environment = series.pair.environment
    taken = SlowLook.objects.create(environment=environment, night=night, claimed_until=timezone.now())
    change = SlowChange.objects.create(look=taken, pair=series.pair, pair_count=1)
    SlowChangeSeries.objects.create(
        change=change,
        series=series,
        since=night - 30 * DAY,
        nights=NIGHTS,
        is_drift=False,
        before=LEVEL,
        after=0.97 * LEVEL,
        difference_ratio=-0.03,
        interval_low_ratio=-0.036,
        interval_high_ratio=-0.024,
        p=1e-6,
    )
    return change


def look(pair: Pair, night: date = LAST) -> list[SlowChange]:
    """Take the look at the nights of a pair's environment until one, and return what was found."""
    assert take_look(pair.environment_id, night, ZONE)
    return list(SlowChange.objects.filter(look__environment=pair.environment_id, look__night=night))


def part_of(change: SlowChange) -> SlowChangeSeries:
    """Return the only series of a slow change."""
    return change.series.get()
