"""Work out how small a change each series of a plan can show, and how many repetitions would halve that."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from django.db.models import Q

from benchweb.catalog import catalog
from benchweb.common.rows import fetch
from benchweb.regressions.judging.histories import History, histories
from benchweb.regressions.models import AlertSeries
from benchweb.results.models import RunFigure, Series
from benchweb.runs.models import Run
from benchweb.statistics.changes import repetitions_to_halve, smallest_detectable_change
from benchweb.statistics.deciding import LEAST_RUNS

# A plan's series are those that its latest runs gave a figure to.
_LATEST_RUNS = 20
# More are counted no further.
MOST_COUNTED = 500

_SPREADS = """
SELECT series_id, run_id, stddev_samp(value) AS spread FROM results_point
WHERE series_id = ANY(%(series)s) AND run_id = ANY(%(runs)s) GROUP BY series_id, run_id
"""


class _Spread(NamedTuple):
    series_id: int
    run_id: int
    spread: float | None


@dataclass(frozen=True)
class Detectable:
    """A series with what it can show: None while it is learning, or where its level is 0."""

    series: Series
    runs: int
    # Of a run, by their median.
    repetitions: int
    ratio: float | None
    # Nothing smaller is told of this series, however quiet it is.
    floor_ratio: float
    # None where no number of them would, or none is needed.
    repetitions_to_halve: int | None

    @property
    def is_learning(self) -> bool:
        return self.runs < LEAST_RUNS

    @property
    def is_at_floor(self) -> bool:
        return self.ratio is not None and self.ratio <= self.floor_ratio


def detectable_changes(plan_id: int, most: int) -> tuple[list[Detectable], int]:
    """Return what the first `most` series of a plan can show, the main figure of each kind; and how many there are.

    Four queries.
    """
    headlines = Q(pk=None)
    for kind in catalog().kinds.values():
        headlines |= Q(kind=kind.name, metric=kind.headline)
    latest = Run.objects.filter(plan_version__plan=plan_id, has_figures=True).order_by("-pk").values("pk")
    measured = RunFigure.objects.filter(run__in=latest[:_LATEST_RUNS]).values("series")
    ends = ("pair__source__host", "pair__sink__host", "pair__environment")
    candidates = list(
        Series.objects.filter(headlines, pk__in=measured).select_related(*ends).order_by("pk")[:MOST_COUNTED]
    )
    listed = {series.pk: series for series in candidates[:most]}
    known = histories(listed)
    boundaries, spreads = _boundaries(listed), _spreads(known)
    return [_detectable(listed[history.series_id], history, boundaries, spreads) for history in known], len(candidates)


def _boundaries(series_ids: Collection[int]) -> Mapping[int, set[int]]:
    """Return the runs with which levels begin, by series, as alerts know them."""
    boundaries: dict[int, set[int]] = defaultdict(set)
    for part in AlertSeries.objects.filter(series__in=series_ids).only(
        "series_id", "first_bad_run_id", "recovered_run_id"
    ):
        boundaries[part.series_id] |= {part.first_bad_run_id, part.recovered_run_id or 0}
    return boundaries


def _spreads(known: Sequence[History]) -> Mapping[tuple[int, int], float | None]:
    runs = sorted({run.run_id for history in known for run in history.runs})
    rows = fetch(_Spread, _SPREADS, {"series": [history.series_id for history in known], "runs": runs})
    return {(row.series_id, row.run_id): row.spread for row in rows}


def _detectable(
    series: Series,
    history: History,
    boundaries: Mapping[int, set[int]],
    spreads: Mapping[tuple[int, int], float | None],
) -> Detectable:
    start, end = _level(history, boundaries.get(series.pk, set()))
    runs = history.runs[start:end]
    values = [run.median for run in runs]
    repetitions = round(median(run.n for run in runs))
    ratio = smallest_detectable_change(values, floor=history.floor_ratio)
    detectable = Detectable(series, len(history.runs), repetitions, ratio, history.floor_ratio, None)
    if ratio is None or detectable.is_at_floor:
        return detectable
    spreads_of_runs = [spreads.get((series.pk, run.run_id)) for run in runs]
    needed = repetitions_to_halve(values, spreads_of_runs, repetitions=repetitions)
    return Detectable(series, len(history.runs), repetitions, ratio, history.floor_ratio, needed)


def _level(history: History, boundaries: Collection[int]) -> tuple[int, int]:
    """Return from where to where the latest level goes that is long enough to tell its noise; else all runs."""
    places = {history.places[run_id] for run_id in boundaries if run_id in history.places}
    ends = [0, *sorted(places - {0}), len(history.runs)]
    levels = ((start, end) for start, end in reversed(list(pairwise(ends))) if end - start >= LEAST_RUNS)
    return next(levels, (0, len(history.runs)))
