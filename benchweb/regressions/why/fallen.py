"""What a fall looks like beside all series of the same measure: which pairs fell, and when."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from math import exp, log
from statistics import median
from typing import NamedTuple

from django.db.models import F
from django.db.models.functions import Coalesce

from benchweb.catalog import Metric
from benchweb.regressions.deciding import BAD_AGAIN_SHARE, VERDICT_LOOK_BACK
from benchweb.regressions.judging.grouping import naming_part
from benchweb.regressions.judging.watched import watched_metric
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.results.models import RunFigure, Series
from benchweb.statistics.attribution import Course, Panel

# Of larger fleets the pairs of the hosts concerned are looked at, and as many others as there is room for.
MOST_PAIRS = 400
# Of so long after an alert began: of a weekly plan some runs.
_LOOK_AHEAD = timedelta(days=30)


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
    """A measure on all of its pairs over two months before an alert and a month since, and which of them fell."""

    metric: Metric
    begun_at: datetime
    first: datetime
    last: datetime
    # The panel's units are these pairs, in this order.
    pairs: Sequence[PairOfSeries]
    panel: Panel
    # Units that the alert tells of.
    units: frozenset[int]
    is_logarithmic: bool
    versions: Sequence[PlanVersionSeen]
    # Pairs of the measure that are not looked at.
    pairs_left_out: int

    @cached_property
    def size(self) -> float | None:
        """Return by how much the alert's pairs got worse, on the panel's scale; None where that can't be told."""
        places = {unit: self.panel.courses[unit].place(self.begun_at.timestamp()) for unit in self.units}
        shifts = [self.panel.courses[unit].shift(place, 1) for unit, place in places.items()]
        sizes = [shift.size for shift in shifts if shift is not None]
        return median(sizes) if sizes and median(sizes) > 0 else None

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
        """Return what an excess on the panel's scale is: a ratio of the level, or a difference in the metric's unit."""
        worse = -excess if self.metric.better == "higher" else excess
        return exp(worse) - 1 if self.is_logarithmic else worse


def fallen_of(alerts: Sequence[Alert]) -> Fallen | None:
    """Return the fall that alerts tell of together, in the measure that names them; None without series."""
    parts = list(AlertSeries.objects.filter(alert__in=alerts).select_related("series").order_by("pk"))
    if not parts:
        return None
    named = naming_part(parts).series
    metric = watched_metric(named.kind, named.metric)
    if metric is None:
        return None
    return _fallen(
        min(alert.begun_at for alert in alerts), [part for part in parts if _is_alike(part, named)], named, metric
    )


def _is_alike(part: AlertSeries, named: Series) -> bool:
    ours = (part.series.kind, part.series.metric, part.series.identity_digest)
    return ours == (named.kind, named.metric, named.identity_digest)


def _fallen(begun_at: datetime, parts: Sequence[AlertSeries], named: Series, metric: Metric) -> Fallen:
    first, last = begun_at - VERDICT_LOOK_BACK, begun_at + _LOOK_AHEAD
    fallen_pairs = {part.series.pair_id for part in parts}
    series, left_out = _chosen_series(named, fallen_pairs)
    rows = RunFigure.objects.filter(series__in=series, at__range=(first, last))
    rows = rows.annotate(ended_at=Coalesce("run__finished_at", "at")).order_by("ended_at", "run")
    columns = ("series_id", "ended_at", "median", "run__plan_version__plan_id", "run__plan_version__number")
    figures: dict[int, list[tuple[datetime, float]]] = defaultdict(list)
    versions: list[PlanVersionSeen] = []
    for series_id, ended_at, value, plan_id, number in rows.values_list(*columns):
        figures[series_id].append((ended_at, value))
        versions.append(PlanVersionSeen(series[series_id].pair_id, plan_id, number, ended_at))
    is_logarithmic = metric.unit != "ratio" and all(value > 0 for runs in figures.values() for _at, value in runs)
    pairs = [series[pk] for pk in figures]
    courses = [_course(series[pk], runs, metric, is_logarithmic) for pk, runs in figures.items()]
    return Fallen(
        metric=metric,
        begun_at=begun_at,
        first=first,
        last=last,
        pairs=pairs,
        panel=Panel(courses),
        units=frozenset(unit for unit, pair in enumerate(pairs) if pair.pair_id in fallen_pairs),
        is_logarithmic=is_logarithmic,
        versions=versions,
        pairs_left_out=left_out,
    )


def _chosen_series(named: Series, fallen_pairs: Collection[int]) -> tuple[Mapping[int, PairOfSeries], int]:
    """Return the measure's series by id: those of the hosts concerned first, then others up to a number."""
    alike = Series.objects.filter(kind=named.kind, metric=named.metric, identity_digest=named.identity_digest)
    columns = (F("pair_id"), F("pair__environment_id"), F("pair__source__host_id"), F("pair__sink__host_id"))
    every = {row[0]: PairOfSeries(*row[1:]) for row in alike.order_by("pk").values_list("pk", *columns)}
    hosts = {host for pair in every.values() if pair.pair_id in fallen_pairs for host in pair.hosts}
    ordered = sorted(every, key=lambda pk: (every[pk].pair_id not in fallen_pairs, not every[pk].hosts & hosts, pk))
    return {pk: every[pk] for pk in ordered[:MOST_PAIRS]}, max(0, len(every) - MOST_PAIRS)


def _course(pair: PairOfSeries, runs: Sequence[tuple[datetime, float]], metric: Metric, is_logarithmic: bool) -> Course:
    sign = -1.0 if metric.better == "higher" else 1.0
    values = [sign * (log(value) if is_logarithmic else value) for _at, value in runs]
    return Course(pair.hosts, [at.timestamp() for at, _value in runs], values)
