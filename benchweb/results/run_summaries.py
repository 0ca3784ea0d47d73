"""Sum runs up: a figure of each run in each of its series, and each series' latest runs beside it.

Charts over a year read the figures, lists and overviews of thousands of series the latest runs: neither reads points.
A run is summed up once it is final, for half of its repetitions compare with nothing. Its flag is set in the same
transaction, so that a run is in its series' recent medians once, whatever happens in between.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from benchweb.catalog import Metric, catalog
from benchweb.catalog.reasons import Reason
from benchweb.common.in_parts import in_parts
from benchweb.common.rows import fetch
from benchweb.results import nightly_summaries as nights
from benchweb.results.models import EnvironmentNights, RecentMedians, Series
from benchweb.runs.events import event_add
from benchweb.runs.models import OPEN_STATES, Run
from benchweb.runs.queueing.break_offs import MAXIMUM
from benchweb.statistics import Deviation, deviation

# The latest run and thirty before it.
RETAINED = 31
# The tick does so many at once, some 50 ms each of a hundred series: what only pages read must not keep runs waiting.
_RUNS_AT_ONCE = 3
# A difference of so much, in its unit, is never worth a look, where a ratio of it would be: 0 to 0.1 % loss.
_LEAST = {"ratio": 0.001}
_SERIES_AT_ONCE = 500

# Of a run that has figures already they are made again, from the same points: whatever happened, the two agree.
_SUM_UP = """{fresh}
    insert into results_runfigure (run_id, series_id, at, n, median, low, high)
    select run_id, series_id, min(at), count(*), percentile_cont(0.5) within group (order by value), min(value),
           max(value)
    from results_point where {which} group by series_id, run_id
    on conflict (run_id, series_id) do update
        set (at, n, median, low, high) = (excluded.at, excluded.n, excluded.median, excluded.low, excluded.high)
"""
_SUM_UP_RUNS = (
    _SUM_UP.format(fresh="", which="run_id = any(%(runs)s)")
    + "returning series_id as series, run_id as run, at, median, n, low, high"
)
_SUM_UP_ALL = _SUM_UP.format(
    fresh="""
    with fresh as (
        update runs_run set has_figures = true where not has_figures and state <> all(%(open)s) returning id
    )""",
    which="run_id in (select id from fresh)",
)
_LATEST = """
    select wanted.series_id as series, run_id as run, at, median, n, low, high
    from unnest(%(series)s::bigint[]) as wanted(series_id)
    cross join lateral (
        select run_id, at, median, n, low, high from results_runfigure where series_id = wanted.series_id
        order by at desc limit %(most)s
    ) as figure
"""


@dataclass(frozen=True)
class RunMedian:
    """A run's median in a series with its repetitions."""

    run: int
    at: datetime
    median: float
    n: int
    low: float
    high: float


@dataclass(frozen=True)
class _FigureOfSeries(RunMedian):
    """A row of the statements above."""

    series: int


@transaction.atomic
def sum_up() -> int:
    """Add the final runs that are not yet among the recent ones, the newest first; return how many. For the tick."""
    if not nights.take_lock():
        return 0
    waiting = Run.objects.filter(has_figures=False).exclude(state__in=OPEN_STATES).order_by("-pk")
    return in_parts(list(waiting.values_list("pk", flat=True)[:_RUNS_AT_ONCE]), _summed_up, _set_aside)


@transaction.atomic
def _summed_up(runs: Sequence[int]) -> int:
    fresh = _medians(_SUM_UP_RUNS, {"runs": list(runs)})
    known = RecentMedians.objects.in_bulk(list(fresh))
    _write(fresh, known)
    return Run.objects.filter(pk__in=runs).update(has_figures=True)


def _set_aside(run_id: int, error: Exception) -> None:
    """Count a run that can't be summed up; after three tries it stays without figures, and says so."""
    failed = Run.objects.filter(pk=run_id, has_figures=False)
    failed.update(break_offs=F("break_offs") + 1)
    if failed.filter(break_offs__gte=MAXIMUM).update(has_figures=True):
        event_add(run_id=run_id, text=Reason("event_not_summarised", why=f"{type(error).__name__}: {error}"))


def write_figures_unseen(runs: Sequence[int]) -> None:
    """Write the figures of final runs that nobody else sees yet, as the caller's own transaction wrote them."""
    with connection.cursor() as cursor:
        cursor.execute(_SUM_UP_RUNS, {"runs": list(runs)})
    Run.objects.filter(pk__in=runs).update(has_figures=True)


def make_recent_unseen(pairs: Collection[int]) -> None:
    """Make the recent medians, and the nights, of pairs whose environments nobody else sees yet."""
    _write_recent(list(Series.objects.filter(pair__in=pairs).order_by("pk").values_list("pk", flat=True)))
    nights.make_anew(set(Series.objects.filter(pair__in=pairs).values_list("pair__environment", flat=True)))


@transaction.atomic
def write_figures() -> None:
    """Write the figures that final runs lack, all at once: after a bulk load. `rebuild` does it too."""
    nights.take_lock(wait=True)
    with connection.cursor() as cursor:
        cursor.execute(_SUM_UP_ALL, {"open": [state.value for state in OPEN_STATES]})


@transaction.atomic
def rebuild() -> int:
    """Make the recent medians of all series anew from their runs' figures; return how many series."""
    write_figures()
    RecentMedians.objects.all().delete()
    EnvironmentNights.objects.all().delete()
    ids = list(Series.objects.order_by("pk").values_list("pk", flat=True))
    _write_recent(ids)
    nights.make_anew()
    return len(ids)


def recent_make_anew(ids: Sequence[int]) -> None:
    """Make the recent medians of some series anew, in the caller's transaction: runs of theirs are gone."""
    RecentMedians.objects.filter(series__in=ids).delete()
    _write_recent(ids)


def _write_recent(ids: Sequence[int]) -> None:
    for first in range(0, len(ids), _SERIES_AT_ONCE):
        _write(_medians(_LATEST, {"series": ids[first : first + _SERIES_AT_ONCE], "most": RETAINED}), {})


def deviation_of(medians: Sequence[float], metric: Metric | None) -> Deviation | None:
    """Compare the latest of a series' medians with those before it."""
    least = _LEAST.get(metric.unit, 0.0) if metric else 0.0
    return deviation(medians[-1], medians[:-1], least)


def _medians(statement: str, values: Mapping[str, Any]) -> dict[int, list[RunMedian]]:
    by_series: dict[int, list[RunMedian]] = defaultdict(list)
    for row in fetch(_FigureOfSeries, statement, values):
        by_series[row.series].append(row)
    return by_series


def _write(fresh: Mapping[int, list[RunMedian]], known: Mapping[int, RecentMedians]) -> None:
    named = Series.objects.select_related("pair").in_bulk(list(fresh))
    rows = [_row(named[series_id], medians, known.get(series_id)) for series_id, medians in sorted(fresh.items())]
    RecentMedians.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["series"],
        update_fields=[field.name for field in RecentMedians._meta.fields if not field.primary_key],
    )
    nights.mark_stale(
        named.values(), {series_id: [median.at for median in medians] for series_id, medians in fresh.items()}
    )


def _row(series: Series, fresh: Collection[RunMedian], known: RecentMedians | None) -> RecentMedians:
    entries = {entry.run: entry for entry in [*_entries(known), *fresh]}
    retained = sorted(entries.values(), key=lambda entry: (entry.at, entry.run))[-RETAINED:]
    latest = retained[-1]
    metric = _metric(series)
    deviation = deviation_of([entry.median for entry in retained], metric)
    return RecentMedians(
        series=series,
        runs=[entry.run for entry in retained],
        ats=[entry.at for entry in retained],
        medians=[entry.median for entry in retained],
        at=latest.at,
        median=latest.median,
        n=latest.n,
        low=latest.low,
        high=latest.high,
        baseline=deviation.baseline if deviation else None,
        # Of a few runs nobody can tell the noise: such scores must not lead a list.
        score=None if deviation is None or deviation.is_learning else deviation.score,
    )


def _entries(known: RecentMedians | None) -> list[RunMedian]:
    """Return the retained runs; only of the latest the repetitions are known, and read."""
    if known is None:
        return []
    rows = zip(known.runs, known.ats, known.medians, strict=True)
    return [RunMedian(run, at, median, known.n, known.low, known.high) for run, at, median in rows]


def _metric(series: Series) -> Metric | None:
    """Return the series' metric; None when it has left the catalog."""
    kind = catalog().kinds.get(series.kind)
    return kind.metrics.get(series.metric) if kind else None
