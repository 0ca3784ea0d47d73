"""What a fall looks like beside all series of the same measure: which pairs fell, and when."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from math import exp, log
from statistics import median
from typing import Literal, NamedTuple

from django.db.models import F

from benchweb.catalog import Metric
from benchweb.common.rows import fetch
from benchweb.regressions.deciding import (
    ALERT_FLOOR_RATIO,
    BAD_AGAIN_SHARE,
    LEAST_DIFFERENCE_OF_RATIOS,
    VERDICT_LOOK_BACK,
)
from benchweb.regressions.judging.grouping import naming_part
from benchweb.regressions.judging.watched import watched_metric
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.results.models import Series
from benchweb.statistics.attribution import Course, Panel

# Of larger fleets the pairs of the hosts concerned are looked at, and as many others as there is room for.
MOST_PAIRS = 400
# Of each pair, before an alert and since: a slot a minute has a million runs in two months.
_MOST_RUNS_BEFORE, _MOST_RUNS_SINCE = 90, 12
# Of so long after an alert began: of a weekly plan some runs.
_LOOK_AHEAD = timedelta(days=30)
# The exponent of what is off by more is no number.
_LARGEST_LOG = 700.0

_SQL = """
SELECT figure.series_id, coalesce(run.finished_at, figure.at) AS ended_at, figure.median,
  version.plan_id, version.number
FROM unnest(%(series)s::bigint[]) AS wanted(series_id)
CROSS JOIN LATERAL (
  (SELECT series_id, run_id, at, median FROM results_runfigure
   WHERE series_id = wanted.series_id AND at < %(begun)s AND at >= %(first)s ORDER BY at DESC LIMIT %(before)s)
  UNION ALL
  (SELECT series_id, run_id, at, median FROM results_runfigure
   WHERE series_id = wanted.series_id AND at >= %(begun)s AND at <= %(last)s ORDER BY at LIMIT %(since)s)
) figure
JOIN runs_run run ON run.id = figure.run_id
JOIN plans_planversion version ON version.id = run.plan_version_id
ORDER BY ended_at, figure.run_id
"""

# Why nothing can be told of a fall.
Unknown = Literal["", "unjudged", "too_few", "no_fall"]


class _Row(NamedTuple):
    series_id: int
    ended_at: datetime
    median: float
    plan_id: int
    number: int


class PairOfSeries(NamedTuple):
    """A pair that has the measure, with its place and ends."""

    pair_id: int
    environment_id: int
    source_host_id: int
    sink_host_id: int

    @property
    def hosts(self) -> frozenset[int]:
        return frozenset((self.source_host_id, self.sink_host_id))


class PlanVersionSeen(NamedTuple):
    """That a pair's run ended at a time with this version of its plan."""

    pair_id: int
    plan_id: int
    number: int
    ended_at: datetime


@dataclass(frozen=True)
class Fallen:
    """A measure on all of its pairs before an alert and since, and which of them fell."""

    metric: Metric
    # Of the units that alerts tell of, since when.
    begun: Mapping[int, datetime]
    # The panel's units are these pairs, in this order.
    pairs: Sequence[PairOfSeries]
    panel: Panel
    is_logarithmic: bool
    versions: Sequence[PlanVersionSeen]
    # Pairs of the measure that are not looked at.
    pairs_left_out: int

    @property
    def units(self) -> frozenset[int]:
        return frozenset(self.begun)

    @cached_property
    def begun_at(self) -> datetime:
        """Return when the first of them fell."""
        return min(self.begun.values())

    @cached_property
    def span(self) -> tuple[datetime, datetime]:
        """Return from when to when there are runs."""
        times = [at for course in self.panel.courses for at in (course.times[0], course.times[-1])]
        return datetime.fromtimestamp(min(times), UTC), datetime.fromtimestamp(max(times), UTC)

    @cached_property
    def size(self) -> float | None:
        """Return by how much the alert's pairs got worse, on the panel's scale; None where too few runs are before."""
        courses = {unit: self.panel.courses[unit] for unit in self.units}
        places = {unit: courses[unit].place(begun.timestamp()) for unit, begun in self.begun.items()}
        shifts = [courses[unit].shift(place, 1) for unit, place in places.items()]
        sizes = [shift.size for shift in shifts if shift is not None]
        return median(sizes) if sizes else None

    @property
    def unknown(self) -> Unknown:
        """Tell why the fall can't be weighed: too few runs before, or none beside them, as of a new limit."""
        if self.size is None:
            return "too_few"
        least = ALERT_FLOOR_RATIO if self.is_logarithmic else LEAST_DIFFERENCE_OF_RATIOS
        return "" if self.size >= least else "no_fall"

    @property
    def least(self) -> float:
        """Return the excess from which on a pair fell as the alert's did."""
        return BAD_AGAIN_SHARE * (self.size or 0.0)

    def units_of(self, pair_ids: Collection[int]) -> frozenset[int]:
        """Return the units of these pairs."""
        wanted = set(pair_ids)
        return frozenset(unit for unit, pair in enumerate(self.pairs) if pair.pair_id in wanted)

    def units_of_host(self, host_id: int) -> frozenset[int]:
        """Return the units of a host's pairs."""
        return frozenset(unit for unit, pair in enumerate(self.pairs) if host_id in pair.hosts)

    def change(self, excess: float) -> float:
        """Return what an excess on the panel's scale is: a share of the level, or a difference in the metric's unit."""
        worse = -excess if self.metric.better == "higher" else excess
        return exp(min(worse, _LARGEST_LOG)) - 1 if self.is_logarithmic else worse


def fallen_of(alerts: Sequence[Alert]) -> Fallen | None:
    """Return the fall that alerts tell of together, in the measure that names them; None of one that isn't judged."""
    parts = list(
        AlertSeries.objects.filter(alert__in=alerts).select_related("series__pair__environment", "alert").order_by("pk")
    )
    judged = [part for part in parts if watched_metric(part.series.kind, part.series.metric)]
    named = naming_part(judged).series if judged else None
    metric = watched_metric(named.kind, named.metric) if named else None
    if named is None or metric is None:
        return None
    alike = [part for part in judged if _measure(part.series) == _measure(named)]
    begun: dict[int, datetime] = {}
    for part in alike:
        pair_id, at = part.series.pair_id, part.alert.begun_at
        begun[pair_id] = min(at, begun.get(pair_id, at))
    return _fallen(begun, named, metric)


def _measure(series: Series) -> tuple[str, str, str]:
    return series.kind, series.metric, series.identity_digest


def _fallen(begun: Mapping[int, datetime], named: Series, metric: Metric) -> Fallen:
    begun_at = min(begun.values())
    series, left_out = _chosen_series(named, begun)
    values = {
        "series": sorted(series),
        "begun": begun_at,
        "first": begun_at - VERDICT_LOOK_BACK,
        "last": begun_at + _LOOK_AHEAD,
        "before": _MOST_RUNS_BEFORE,
        "since": _MOST_RUNS_SINCE,
    }
    figures: dict[int, list[tuple[datetime, float]]] = defaultdict(list)
    versions: list[PlanVersionSeen] = []
    for row in fetch(_Row, _SQL, values):
        figures[row.series_id].append((row.ended_at, row.median))
        versions.append(PlanVersionSeen(series[row.series_id].pair_id, row.plan_id, row.number, row.ended_at))
    is_logarithmic = metric.unit != "ratio" and all(_has_level(runs) for runs in figures.values())
    pairs = [series[pk] for pk in figures]
    courses = [_course(series[pk], runs, metric, is_logarithmic) for pk, runs in figures.items()]
    return Fallen(
        metric=metric,
        begun={unit: begun[pair.pair_id] for unit, pair in enumerate(pairs) if pair.pair_id in begun},
        pairs=pairs,
        panel=Panel(courses),
        is_logarithmic=is_logarithmic,
        versions=versions,
        pairs_left_out=left_out,
    )


def _chosen_series(named: Series, fallen_pairs: Collection[int]) -> tuple[Mapping[int, PairOfSeries], int]:
    """Return the measure's series by id: those of the hosts concerned first, then others up to a number.

    Samples are compared with samples only.
    """
    is_sample = named.pair.environment.is_synthetic
    alike = Series.objects.filter(kind=named.kind, metric=named.metric, identity_digest=named.identity_digest)
    alike = alike.filter(pair__environment__is_synthetic=is_sample)
    columns = (F("pair_id"), F("pair__environment_id"), F("pair__source__host_id"), F("pair__sink__host_id"))
    every = {row[0]: PairOfSeries(*row[1:]) for row in alike.order_by("pk").values_list("pk", *columns)}
    hosts = {host for pair in every.values() if pair.pair_id in fallen_pairs for host in pair.hosts}
    ordered = sorted(every, key=lambda pk: (every[pk].pair_id not in fallen_pairs, not every[pk].hosts & hosts, pk))
    return {pk: every[pk] for pk in ordered[:MOST_PAIRS]}, max(0, len(every) - MOST_PAIRS)


def _has_level(runs: Sequence[tuple[datetime, float]]) -> bool:
    """Tell whether a pair's values are shares of a level: none below 0, and most above it; a run of 0 is an outage."""
    values = [value for _at, value in runs]
    return min(values) >= 0 and median(values) > 0


def _course(pair: PairOfSeries, runs: Sequence[tuple[datetime, float]], metric: Metric, is_logarithmic: bool) -> Course:
    sign = -1.0 if metric.better == "higher" else 1.0
    values = [value for _at, value in runs]
    if is_logarithmic:
        # What was 0 is as bad as the worst that was more.
        least = min(value for value in values if value > 0)
        values = [log(max(value, least)) for value in values]
    return Course(pair.hosts, [at.timestamp() for at, _value in runs], [sign * value for value in values])
