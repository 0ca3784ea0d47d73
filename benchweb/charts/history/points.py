"""Points of series as a chart shows them: the median of each run, or of each hour, day, week where there are many."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from benchweb.common.rows import fetch
from benchweb.documents.charts import Measured

# The longest that each of them is.
STEPS = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=31),
}
# A day of a zone that changes its clock is an hour longer.
_CLOCK_CHANGE = timedelta(hours=1)


@dataclass(frozen=True)
class Step:
    """What each point stands for: a run, or all runs of an hour, day, week or month in the reader's zone."""

    name: str = "run"
    zone: tzinfo = UTC

    @property
    def covered(self) -> timedelta:
        """Return the time that a point stands for: none of a single run."""
        return STEPS.get(self.name, timedelta())

    def begin(self, at: datetime) -> datetime:
        """Return when the step of a time begins, in UTC; of a run it is that time."""
        if self.name not in STEPS:
            return at
        local = at.astimezone(self.zone).replace(minute=0, second=0, microsecond=0)
        if self.name != "hour":
            local = local.replace(hour=0)
        if self.name == "week":
            local -= timedelta(days=local.weekday())
        if self.name == "month":
            local = local.replace(day=1)
        return local.astimezone(UTC)

    def is_one(self, first: datetime, other: datetime) -> bool:
        """Tell whether two times are of one step."""
        if abs(other - first) > self.covered + _CLOCK_CHANGE:
            return False
        return self.begin(first) == self.begin(other)


# What a chart draws at most: of one line, and of all its lines together. A point takes some 30 µs from the database to
# the page, so all of them stay within its 50 ms; a zoom brings the finer ones. A year has 53 weeks.
MOST_OF_A_LINE = 1_000
MOST_OF_ALL = 1_200
_LEAST_OF_A_LINE = 54

# Of a run that is summed up its figure is read, by an index-only scan of figure_by_series; of the few others, which
# ended a moment ago, the points. What a run gives before it is over, one repetition of three, is no result of it yet.
_RUN_FIGURES = """
  (SELECT series_id, run_id, at, n, median, low, high FROM results_runfigure
  WHERE series_id = {series} AND at >= %(first)s AND at <= %(last)s {only})
  UNION ALL
  SELECT series_id, run_id, at, n, median, low, high FROM (
    SELECT fresh.id AS run_id, point.* FROM runs_run fresh CROSS JOIN LATERAL (
      SELECT series_id, min(at) AS at, count(*)::int AS n, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median,
        min(value) AS low, max(value) AS high
      FROM results_point WHERE run_id = fresh.id AND series_id = {series} GROUP BY series_id
    ) point WHERE NOT fresh.has_figures AND fresh.state NOT IN ('pending', 'running') AND fresh.pair_id = ANY(%(pairs)s)
  ) unsummed WHERE at >= %(first)s AND at <= %(last)s {only}
"""
OF_PLAN = """AND run_id IN (
    SELECT r.id FROM runs_run r JOIN plans_planversion v ON v.id = r.plan_version_id WHERE v.plan_id = %(plan)s)"""

# The run's own median and extremes come first; only where a line would have more than its share they are combined by
# time: the medians' median, and the extremes of all. To look a time up among those where a day begins takes a tenth of
# what it takes to cut it off to its day.
_SQL = """
WITH runs AS MATERIALIZED ({figures}), lines AS (
  SELECT count(*) AS runs, min(at) AS first, max(at) AS last FROM runs GROUP BY series_id
), step AS (
  SELECT CASE WHEN max(runs) <= %(most)s THEN 'run' WHEN max(last - first) <= %(most)s * interval '1 hour' THEN 'hour'
    WHEN max(last - first) <= %(most)s * interval '1 day' THEN 'day'
    WHEN max(last - first) <= %(most)s * interval '1 week' THEN 'week' ELSE 'month' END AS name,
    min(first) AS first, max(last) AS last FROM lines
), begins AS (
  SELECT array_agg(begin ORDER BY begin) AS each FROM (
    SELECT generate_series(date_trunc('hour', first, %(zone)s), last, '1 hour') FROM step WHERE name = 'hour'
    UNION ALL
    SELECT generate_series(
      date_trunc(name, first AT TIME ZONE %(zone)s), last AT TIME ZONE %(zone)s, ('1 ' || name)::interval
    ) AT TIME ZONE %(zone)s FROM step WHERE name NOT IN ('run', 'hour')
  ) AS every (begin)
)
SELECT series_id AS series, at, median, n, low, high, run_id AS run, 'run' AS step
FROM runs WHERE (SELECT name FROM step) = 'run'
UNION ALL
SELECT series_id, min(at), percentile_cont(0.5) WITHIN GROUP (ORDER BY median), sum(n)::bigint,
  min(low), max(high), min(run_id), (SELECT name FROM step)
FROM runs WHERE (SELECT name FROM step) <> 'run'
GROUP BY series_id, width_bucket(at, (SELECT each FROM begins))
UNION ALL
SELECT series_id, at, median, n, low, high, run_id, 'ceiling' FROM (
  SELECT *, lag(median) OVER (PARTITION BY series_id ORDER BY at, run_id) AS before FROM ({ceilings}) every
) changed WHERE before IS DISTINCT FROM median
ORDER BY 1, 2
"""


class _Row(NamedTuple):
    """A point of a series, or with `step` "ceiling" a value from which on its runs had it."""

    series: int
    at: datetime
    median: float
    n: int
    low: float
    high: float
    run: int
    step: str


def run_figures(only: str = "", series: str = "ANY(%(series)s)") -> str:
    """Return the statement of series' figures run by run, with further conditions."""
    return _RUN_FIGURES.format(series=series, only=only)


@dataclass(frozen=True)
class HistoryPoints:
    """Points by series id, in order of time; `step` is run, hour, day, week or month.

    A point is a run's figure, or that of all runs of a step: its run is their first, and it counts their repetitions.
    """

    step: str
    series: dict[int, list[Measured]]
    # By series id the values of each ceiling, each with the time from which on runs had it.
    ceilings: dict[int, list[tuple[datetime, float]]]


def history_points(
    series: Sequence[int],
    *,
    pairs: Sequence[int],
    period: tuple[datetime, datetime],
    zone: tzinfo,
    plan: int | None = None,
    ceilings: Sequence[int] = (),
) -> HistoryPoints:
    """Return points of series of these pairs; one query.

    A run belongs to the time when it began to measure.
    """
    values: dict[str, Any] = {
        "series": list(series),
        "pairs": list(pairs),
        "ceilings": list(ceilings),
        "first": period[0],
        "last": period[1],
        "plan": plan,
        "zone": str(zone),
        "most": min(MOST_OF_A_LINE, max(_LEAST_OF_A_LINE, MOST_OF_ALL // max(1, len(series)))),
    }
    only = "" if plan is None else OF_PLAN
    statement = _SQL.format(figures=run_figures(only), ceilings=run_figures(only, "ANY(%(ceilings)s::bigint[])"))
    return _points(series, fetch(_Row, statement, values))


def _points(series: Sequence[int], rows: Sequence[_Row]) -> HistoryPoints:
    points: dict[int, list[Measured]] = {pk: [] for pk in series}
    ceilings: dict[int, list[tuple[datetime, float]]] = {}
    step = "run"
    for (series_id, name), group in groupby(rows, attrgetter("series", "step")):
        if name == "ceiling":
            ceilings[series_id] = [(row.at, row.median) for row in group]
            continue
        step = name
        points[series_id] += [Measured(row.at, row.median, row.n, row.low, row.high, row.run) for row in group]
    return HistoryPoints(step, points, ceilings)
