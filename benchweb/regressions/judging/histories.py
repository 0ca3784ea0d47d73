"""The latest runs of series, as they are judged: medians in order of time, with their runs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Min

from benchweb.catalog import Metric
from benchweb.common.rows import fetch
from benchweb.regressions.judging.canaries import Canary, canaries_of_pairs
from benchweb.regressions.judging.sensitivity import COLUMNS_SQL, JOINS_SQL, SeriesSensitivity, sensitivity_of
from benchweb.regressions.judging.watched import watched_metric
from benchweb.regressions.models import AlertSeries
from benchweb.runs.models import Run
from benchweb.statistics.changes import Change, ExplainedSeries, explained_series
from benchweb.statistics.deciding import WINDOW_RUNS

_SQL = f"""
SELECT series.id AS series_id, series.pair_id, series.kind, series.metric, series.identity, {COLUMNS_SQL},
  figure.run_id, figure.at, figure.median, figure.n
FROM results_series series
JOIN hosts_pair pair ON pair.id = series.pair_id
{JOINS_SQL}
CROSS JOIN LATERAL (
  SELECT run_id, at, median, n FROM results_runfigure WHERE series_id = series.id
  ORDER BY at DESC, run_id DESC LIMIT %(most)s
) figure
WHERE series.id = ANY(%(series)s)
ORDER BY series.id, figure.at, figure.run_id
"""  # noqa: S608  (statements of our own)
_OF_RUN = """
SELECT series.id AS series_id, series.kind, series.metric
FROM results_runfigure figure JOIN results_series series ON series.id = figure.series_id
WHERE figure.run_id = %(run)s
"""


class _Row(NamedTuple):
    series_id: int
    pair_id: int
    kind: str
    metric: str
    identity: dict[str, Any]
    taught_ratio: float | None
    floor_ratio: float | None
    noise_times: float | None
    run_id: int
    at: datetime
    median: float
    n: int


class _SeriesOfRun(NamedTuple):
    series_id: int
    kind: str
    metric: str


class RunValue(NamedTuple):
    """A run's value of a series: the median of its repetitions, and how many they were."""

    run_id: int
    at: datetime
    median: float
    n: int


@dataclass(frozen=True)
class History:
    """A series that is judged, with its latest runs, oldest first."""

    series_id: int
    pair_id: int
    kind: str
    identity: dict[str, Any]
    metric: Metric
    sensitivity: SeriesSensitivity
    runs: list[RunValue]
    # By the place that they were looked for from: they are asked for several times.
    changes: dict[int, list[Change]] = field(default_factory=dict, compare=False)
    # What the hosts of its pair measured alone meanwhile.
    canaries: Sequence[Canary] = ()

    @property
    def floor_ratio(self) -> float:
        """Return the smallest change that is told, as a share of the level."""
        return self.sensitivity.floor_ratio

    @cached_property
    def values(self) -> list[float]:
        return [run.median for run in self.runs]

    @cached_property
    def beside(self) -> list[list[float | None]]:
        """Return each canary's figure of each run, as the values go: of a time a slower host has more."""
        ats = [run.at for run in self.runs]
        figures = [canary.beside(ats) for canary in self.canaries]
        if self.metric.better == "higher":
            return figures
        return [[1 / figure if figure else None for figure in of_canary] for of_canary in figures]

    @cached_property
    def explained(self) -> ExplainedSeries | None:
        """Return the values without the swings of the pair's hosts; None where no canary explains them."""
        return explained_series(self.values, self.beside) if self.canaries else None

    @cached_property
    def places(self) -> dict[int, int]:
        """Return each run's place by its id."""
        return {run.run_id: index for index, run in enumerate(self.runs)}

    def until(self, run_id: int) -> "History":
        """Return the history as it was after one of its runs."""
        return replace(self, runs=self.runs[: self.places[run_id] + 1], changes={})

    def of_slot(self, run_id: int, began: datetime | None, known: Collection[AlertSeries]) -> "History":
        """Return the history as it was when a slot began, with one run of that slot, or one that measured it again.

        What measures a fault again is no other occasion of it: a fault that a re-run's control met a second before
        would be usual, where a series has few runs. Where a lasting part of an alert, of those known, began since then,
        all is returned: that is the level now.
        """
        history = self.until(run_id)
        runs = [run for run in history.runs if began is None or run.at < began or run.run_id == run_id]
        since = {run.run_id for run in history.runs} - {run.run_id for run in runs}
        if any(part.first_bad_run_id in since and part.recovered_run_id is None for part in known):
            return history
        return replace(history, runs=runs, changes={})


def slot_began_at(run_ids: Collection[int]) -> datetime | None:
    """Return when the first run of the campaigns of some runs began."""
    campaigns = Run.objects.filter(pk__in=run_ids).values("campaign")
    began: datetime | None = Run.objects.filter(campaign__in=campaigns).aggregate(at=Min("started_at"))["at"]
    return began


def series_of_run(run_id: int) -> list[int]:
    """Return the series to which a run gave a figure, and which are judged."""
    rows = fetch(_SeriesOfRun, _OF_RUN, {"run": run_id})
    return [row.series_id for row in rows if watched_metric(row.kind, row.metric)]


def histories(series_ids: Collection[int], most: int = WINDOW_RUNS, *, has_canaries: bool = True) -> list[History]:
    """Return the histories of these series, of those that are judged; two queries, one without canaries."""
    rows = fetch(_Row, _SQL, {"series": sorted(series_ids), "most": most}) if series_ids else []
    ats = [row.at for row in rows]
    canaries = canaries_of_pairs({row.pair_id for row in rows}, min(ats), max(ats)) if rows and has_canaries else {}
    grouped = [list(group) for _, group in groupby(rows, key=lambda row: row.series_id)]
    return [history for group in grouped if (history := _history(group, canaries.get(group[0].pair_id, ())))]


def _history(rows: Sequence[_Row], canaries: Sequence[Canary]) -> History | None:
    first = rows[0]
    metric = watched_metric(first.kind, first.metric)
    if metric is None:
        return None
    return History(
        series_id=first.series_id,
        pair_id=first.pair_id,
        kind=first.kind,
        identity=first.identity,
        metric=metric,
        sensitivity=sensitivity_of(first.taught_ratio, first.floor_ratio, first.noise_times),
        runs=[RunValue(row.run_id, row.at, row.median, row.n) for row in rows],
        canaries=canaries,
    )
