"""Figures against message size, combined where they are: the median of all runs' or nights' medians of a point."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from benchweb.charts.history.points import OF_PLAN, run_figures
from benchweb.common.rows import fetch

# `position`: the point and line that a series, or environment, belongs to. `part` parts it further, by run
# or by span of time.
_SQL = """
WITH figures AS ({figures}){spans}
SELECT of.position, {part} AS part, min(at) AS first_at, max(at) AS last_at, min(run_id) AS first_run,
  max(run_id) AS last_run, sum(n)::bigint AS n, {runs} AS runs, {pairs} AS pairs,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY median) AS median, min(low) AS low, max(high) AS high
FROM figures JOIN unnest(%(ids)s::bigint[], %(positions)s::int[]) AS of (id, position) ON of.id = figures.{id}
GROUP BY 1, 2 ORDER BY 1, 2
"""
# Where a time is a border of two spans it is in the later one.
_PARTS = {"": "0", "run": "run_id", "date": "width_bucket(at, (SELECT begins FROM parts))"}
_SPANS = """, shown AS (
  SELECT CASE WHEN %(is_fitted)s THEN min(at) ELSE %(first)s END AS first,
    CASE WHEN %(is_fitted)s THEN max(at) ELSE %(last)s END AS last FROM figures
), parts AS (
  SELECT array_agg(first + (last - first) / %(spans)s * number) AS begins
  FROM shown CROSS JOIN generate_series(1, %(spans)s - 1) AS number
)"""
_OF_RUNS = "AND run_id = ANY(%(runs)s)"
# In one place each series is a pair's own.
_BY_RUNS = {"id": "series_id", "runs": "count(*)", "pairs": "count(DISTINCT series_id)"}
_BY_NIGHTS = {"id": "of_id", "runs": "sum(runs)::bigint", "pairs": "max(pairs)"}
# A night belongs to the time when its first run began.
_NIGHTS = """
  SELECT of_id, NULL::bigint AS run_id, at, runs, pairs, n, median, low, high
  FROM results_nightfigure WHERE of_id = ANY(%(ids)s) AND at >= %(first)s AND at <= %(last)s
"""


class SizePoint(NamedTuple):
    """What so many runs gave together: the median of their medians, or of their nights' medians, and extremes."""

    position: int
    part: int
    first_at: datetime
    last_at: datetime
    # None where they are not told one by one.
    first_run: int | None
    last_run: int | None
    n: int
    runs: int
    # Of nights the most of one.
    pairs: int
    median: float
    low: float
    high: float


@dataclass(frozen=True)
class SizePoints:
    """The points by position and part, and the time that the spans of dates part."""

    points: list[SizePoint]
    period: tuple[datetime, datetime]


@dataclass(frozen=True)
class Times:
    """The time that is looked at, and into how many equal spans it is parted; `is_fitted`: where it was measured in."""

    period: tuple[datetime, datetime]
    is_fitted: bool
    spans: int = 1

    @property
    def values(self) -> dict[str, Any]:
        return {"first": self.period[0], "last": self.period[1], "is_fitted": self.is_fitted, "spans": self.spans}


def size_points(
    positions: Mapping[int, int],
    times: Times,
    *,
    pairs: Sequence[int],
    part: str = "",
    plan: int | None = None,
    runs: Sequence[int] | None = None,
) -> SizePoints:
    """Read what series (by id, each with its position) of these pairs give, run by run; one query.

    `part` is "" for one point a position, "run" for one a run, "date" for one in each span of time.
    """
    values = _values(positions, times) | {"series": list(positions), "pairs": list(pairs), "plan": plan, "runs": runs}
    only = " ".join([OF_PLAN if plan is not None else "", _OF_RUNS if runs is not None else ""])
    statement = _statement(run_figures(only), part, _BY_RUNS)
    return _points(fetch(SizePoint, statement, values), times)


def night_points(positions: Mapping[int, int], times: Times, *, part: str = "") -> SizePoints:
    """Read what EnvironmentNights (by id, each with its position) give, night by night; one query."""
    return _points(fetch(SizePoint, _statement(_NIGHTS, part, _BY_NIGHTS), _values(positions, times)), times)


def _statement(figures: str, part: str, names: Mapping[str, str]) -> str:
    return _SQL.format(figures=figures, spans=_SPANS if part == "date" else "", part=_PARTS[part], **names)


def _values(positions: Mapping[int, int], times: Times) -> dict[str, Any]:
    return {"ids": list(positions), "positions": list(positions.values())} | times.values


def _points(points: list[SizePoint], times: Times) -> SizePoints:
    if not points or not times.is_fitted:
        return SizePoints(points, times.period)
    return SizePoints(points, (min(point.first_at for point in points), max(point.last_at for point in points)))
