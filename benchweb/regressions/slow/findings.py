"""Find what changed slowly in a series' nights and nobody was told of yet. No queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from benchweb.catalog import Metric
from benchweb.regressions.deciding import SLOW_GROWTH_FACTOR, WORSE_RATIO
from benchweb.regressions.judging.watched import is_on_log_scale, is_worse, least_difference
from benchweb.statistics.changes import Change, slow_change
from benchweb.statistics.deciding import LARGEST_P_OF_SLOW, LEAST_SLOW_RATIO

# A series of none of whose last nights anything is known tells nothing of now.
_LATEST_NIGHTS = 7


@dataclass(frozen=True)
class ToldSpan:
    """Nights of which an alert told that they are worse: from one on until another, or until now."""

    begins: date
    ends: date | None


@dataclass(frozen=True)
class ToldSlow:
    """The latest slow change that was told of a series: in which night, and between which levels."""

    pk: int
    night: date
    before: float
    after: float


@dataclass(frozen=True)
class NightSeries:
    """A series with one value a night, the oldest first, until `night`, and what was told of it."""

    series_id: int
    pair_id: int
    kind: str
    metric: Metric
    night: date
    values: Sequence[float | None]
    floor_ratio: float = LEAST_SLOW_RATIO
    alerts: Sequence[ToldSpan] = ()
    told: ToldSlow | None = None

    @property
    def first_night(self) -> date:
        return self.night - timedelta(days=len(self.values) - 1)


@dataclass(frozen=True)
class SlowSeriesFinding:
    """A series that got worse slowly, and since which night."""

    series: NightSeries
    change: Change

    @property
    def since(self) -> date:
        return self.series.first_night + timedelta(days=self.change.index)

    @property
    def nights(self) -> int:
        """Return how many nights it rests on."""
        return sum(value is not None for value in untold_values(self.series))

    @property
    def is_news(self) -> bool:
        """Tell whether nobody was told of it: what began before it was told is the same, until it has clearly grown."""
        told = self.series.told
        if told is None or self.since > told.night:
            return True
        grown = max((SLOW_GROWTH_FACTOR - 1) * abs(told.after - told.before), WORSE_RATIO * abs(told.before))
        worse = told.after + grown if told.after > told.before else told.after - grown
        return not is_worse(self.series.metric, self.change.after, worse)


def slow_finding(series: NightSeries, *, largest_p: float = LARGEST_P_OF_SLOW) -> SlowSeriesFinding | None:
    """Return what got worse slowly in a series' nights, beside what alerts told; news or not."""
    values = untold_values(series)
    if all(value is None for value in values[-_LATEST_NIGHTS:]):
        return None
    change = slow_change(
        values,
        floor=series.floor_ratio,
        least=least_difference(series.metric),
        log_scale=is_on_log_scale(series.metric),
    )
    if change is None or change.p > largest_p or not is_worse(series.metric, change.before, change.after):
        return None
    return SlowSeriesFinding(series, change)


def untold_values(series: NightSeries) -> list[float | None]:
    """Return the values since the latest change that an alert told of and that lasts, without those that ended."""
    values = list(series.values)
    first = series.first_night
    for span in series.alerts:
        begins = max(0, (span.begins - first).days)
        ends = None if span.ends is None else max(0, (span.ends - first).days)
        gone = range(min(begins, len(values))) if ends is None else range(begins, min(ends, len(values)))
        for index in gone:
            values[index] = None
    return values
