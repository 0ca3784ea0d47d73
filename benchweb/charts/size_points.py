"""Figures against message size, combined where they are: the median of all runs' medians that make a point."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from benchweb.charts.history_points import OF_PLAN, run_figures
from benchweb.rows import fast_rows, planned_rows

# `place` says which point of which line a series' runs belong to; `part` parts it further, by run or by span of time.
_SQL = """
WITH runs AS MATERIALIZED ({figures}), shown AS (
  SELECT CASE WHEN %(is_fitted)s THEN min(at) ELSE %(first)s END AS first,
    CASE WHEN %(is_fitted)s THEN max(at) ELSE %(last)s END AS last FROM runs
), parts AS (
  SELECT array_agg(first + (last - first) / %(spans)s * number) AS begins
  FROM shown CROSS JOIN generate_series(1, %(spans)s - 1) AS number
)
SELECT of.place, {part}, min(at), min(run_id), max(run_id), sum(n)::bigint, count(*), count(DISTINCT series_id),
  percentile_cont(0.5) WITHIN GROUP (ORDER BY median), min(low), max(high),
  (SELECT first FROM shown), (SELECT last FROM shown)
FROM runs JOIN unnest(%(series)s::bigint[], %(places)s::int[]) AS of (series_id, place) USING (series_id)
GROUP BY 1, 2 ORDER BY 1, 2
"""
# Where a time is a border of two spans it is in the later one.
_PARTS = {"": "0", "run": "run_id", "date": "width_bucket(at, (SELECT begins FROM parts))"}
_OF_RUNS = "AND run_id = ANY(%(runs)s)"


class SizePoint(NamedTuple):
    """What so many runs, from `first_run` to `last_run`, gave together: the median of their medians, and extremes."""

    place: int
    part: int
    first_at: datetime
    first_run: int
    last_run: int
    n: int
    runs: int
    # In one place each has its own.
    pairs: int
    median: float
    low: float
    high: float


@dataclass(frozen=True)
class SizePoints:
    """The points by place and part, and the time that the spans of dates part."""

    points: list[SizePoint]
    shown: tuple[datetime, datetime]


def size_points(
    places: dict[int, int],
    *,
    pairs: Sequence[int],
    shown: tuple[datetime, datetime],
    is_fitted: bool,
    part: str = "",
    spans: int = 1,
    plan: int | None = None,
    runs: Sequence[int] | None = None,
) -> SizePoints:
    """Read what series (by id, each with its place) of these pairs give; one query.

    `part` is "" for one point a place, "run" for one a run, "date" for one in each of so many equal `spans` of the time
    shown: of the time in which something was measured where `is_fitted`.
    """
    values: dict[str, Any] = {
        "series": list(places),
        "places": list(places.values()),
        "pairs": list(pairs),
        "first": shown[0],
        "last": shown[1],
        "is_fitted": is_fitted,
        "spans": spans,
        "plan": plan,
        "runs": runs,
    }
    only = " ".join([OF_PLAN if plan is not None else "", _OF_RUNS if runs is not None else ""])
    statement = _SQL.format(figures=run_figures(only), part=_PARTS[part])
    rows = (fast_rows if only.strip() else planned_rows)(statement, values)
    return SizePoints([SizePoint._make(row[:-2]) for row in rows], rows[0][-2:] if rows else shown)
