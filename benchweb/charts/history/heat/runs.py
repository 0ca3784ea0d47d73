"""Which of a series' runs a heat map draws, and the histograms of their latencies."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from benchweb.charts.history.points import OF_PLAN
from benchweb.charts.history.query import HistoryQuery
from benchweb.common.rows import fetch
from benchweb.results.models import Result
from benchweb.statistics.hdr import Bins, HistogramError, binned

_CACHE_SIZE = 20_000
# Beyond a fifth of the columns gaps are no exception.
_MOST_GAPS_SHARE = 5
# A column reaches to the next one, unless that is further off than usual: then there is a gap.
LONGER_THAN_USUAL = 1.75
# Results never change: what was decoded once needs not be read again.
_cache: "OrderedDict[int, Bins | None]" = OrderedDict()
# Evenly spread over the series' runs, and the first after each gap while these are few; the trial of a run that is
# taken is that whose median is the middle one, as the history's point is. An island is a stretch of runs without a gap:
# no column reaches beyond the end of its own.
_SQL = """
WITH runs AS (
  SELECT run_id, min(at) AS at, count(*) AS trials, array_agg(trial_id ORDER BY value, at) AS ids,
    array_agg(value ORDER BY value, at) AS medians
  FROM results_point WHERE series_id = %(series)s AND at >= %(first)s AND at <= %(last)s {only} GROUP BY run_id
), numbered AS (
  SELECT *, row_number() OVER (ORDER BY at) - 1 AS position, count(*) OVER () AS total,
    at - lag(at) OVER (ORDER BY at) AS step
  FROM runs
), usual AS (
  SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY step) AS step FROM numbered
), parted AS (
  SELECT numbered.*, usual.step AS usual,
    count(*) FILTER (WHERE numbered.step > usual.step * %(longer)s) OVER (ORDER BY at) AS island
  FROM numbered CROSS JOIN usual
), whole AS (
  SELECT *, max(at) OVER (PARTITION BY island) AS island_end, min(position) OVER (PARTITION BY island) AS island_start,
    max(island) OVER () AS gaps
  FROM parted
)
SELECT run_id AS run, at, ids[(trials + 1) / 2] AS trial, medians[(trials + 1) / 2] AS median, total,
  least(lead(at) OVER (ORDER BY at), island_end + usual) AS "end", usual
FROM whole
WHERE total <= %(most)s
  OR floor(position * %(most)s::numeric / total) <> floor((position - 1) * %(most)s::numeric / total)
  OR position = island_start AND gaps <= %(most_gaps)s
ORDER BY at
"""


class ChosenRun(NamedTuple):
    """A run that a map draws, by the trial whose median is the middle one."""

    run: int
    at: datetime
    trial: int
    median: float
    total: int
    # Where the runs end for which it stands, and the usual time from one run to the next; None of a single run.
    end: datetime | None
    usual: timedelta | None


def chosen_runs(series: int, query: HistoryQuery, most: int) -> list[ChosenRun]:
    """Return at most so many runs of a series, spread evenly over its time; one query."""
    first, last = query.span
    values = {"series": series, "first": first, "last": last, "most": most, "plan": query.plan}
    values |= {"longer": LONGER_THAN_USUAL, "most_gaps": most // _MOST_GAPS_SHARE}
    return fetch(ChosenRun, _SQL.format(only="" if query.plan is None else OF_PLAN), values)


def bins_of(trials: Sequence[int]) -> Mapping[int, Bins | None]:
    """Return the latencies of trials, by trial; one query for those that are new to this process."""
    missing = [trial for trial in trials if trial not in _cache]
    rows = Result.objects.filter(trial__in=missing).values_list("trial_id", "histogram") if missing else []
    decoded = dict.fromkeys(missing) | {trial: _decoded(encoded) for trial, encoded in rows}
    known = {trial: _cache[trial] for trial in trials if trial in _cache}
    _cache.update(decoded)
    while len(_cache) > _CACHE_SIZE:
        _cache.popitem(last=False)
    return known | decoded


def _decoded(encoded: bytes | memoryview | None) -> Bins | None:
    if encoded is None:
        return None
    try:
        return binned(bytes(encoded))
    except HistogramError:
        return None
