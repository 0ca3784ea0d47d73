"""An environment night by night, and its last night by message size, both over what is usual: charts, no query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.utils.translation import gettext as _

from benchweb.catalog import Kind, Metric
from benchweb.charts.axes import MAXIMUM_TICKS
from benchweb.documents.charts import (
    Axis,
    ChartBand,
    ChartMark,
    ChartPoint,
    ChartRing,
    ChartSeries,
    ChartSpec,
    ChartTable,
    Detail,
    Measured,
)
from benchweb.documents.moments import rfc3339
from benchweb.results.run_summaries import deviation_of
from benchweb.results.series_summaries import FigureNights
from benchweb.statistics import Deviation
from benchweb.statistics.deciding import NOISE_TIMES

# A night is from noon to noon UTC, named by the day of its end.
_NOON = time(12)


@dataclass(frozen=True)
class NightsShown:
    """Which nights a chart has: so many up to `last`, of which the first may be from before anything was measured."""

    last: date
    count: int
    before: int = 0

    @property
    def nights(self) -> list[date]:
        """Return the nights that have a place, oldest first."""
        return [self.last - timedelta(days=ago) for ago in range(self.count - 1, -1, -1)]


@dataclass(frozen=True)
class SizeNight:
    """The last night at one value of what is swept; `median` is None where it gave nothing there."""

    value: float
    median: float | None
    pairs: int
    # The nights before; None where there were none.
    usual: Deviation | None


def usual_band(usual: Deviation | None) -> tuple[float, float] | None:
    """Return from what to what is usual, as a run's figures have it; None while that is learnt."""
    if usual is None or usual.is_learning:
        return None
    reach = NOISE_TIMES * usual.noise
    return max(0.0, usual.baseline - reach), usual.baseline + reach


def night_chart(
    chart_id: str,
    row: FigureNights,
    metric: Metric,
    shown: NightsShown,
    *,
    change: Deviation | None,
    marks: Sequence[ChartMark],
    detail: Detail,
) -> ChartSpec:
    """Draw a figure's nights: the median over the pairs over what is usual, gaps, and what changed.

    A point's extremes are those of all repetitions of its night; its n is that of the pairs, or of one pair alone that
    of its repetitions where it is known.
    """
    told, band = _told(row), usual_band(change)
    medians = dict(zip(row.nights, zip(row.medians, row.pairs, strict=True), strict=True))
    measured, gaps = [], []
    for night in shown.nights[shown.before :]:
        at, low, high, number = told.get(night, (datetime.combine(night, time(), UTC), None, None, None))
        if night in medians:
            median, pairs = medians[night]
            n = number if pairs == 1 and number else pairs
            low, high = (median, median) if low is None or high is None else (low, high)
            measured.append(Measured(at, median, n, low, high, None))
        else:
            gaps.append(ChartPoint(rfc3339(at), None, reason=_("no result in this night")))
    line = ChartSeries(
        id=chart_id,
        label=metric.label,
        color=0,
        points=gaps,
        measured=measured,
        bands=[_band([band] * (len(measured) + len(gaps)))] if band else [],
    )
    x, y = Axis(label=_("Time"), unit="", scale="time"), Axis(label=_quantity(metric), unit=metric.unit)
    return ChartSpec(
        id=chart_id,
        title=metric.label,
        form="time",
        x=x,
        y=y,
        series=[line],
        table=ChartTable([]),
        marks=list(marks),
        rings=_rings(measured, change),
        x_from=rfc3339(datetime.combine(shown.nights[0], _NOON, UTC) - timedelta(days=1)),
        x_to=rfc3339(datetime.combine(shown.last, _NOON, UTC)),
        scale_group=chart_id,
        detail=detail,
    )


def size_nights(row: FigureNights, kind: Kind, metric: Metric) -> list[SizeNight]:
    """Return the latest night of a figure at each value that its kind sweeps, in their order."""
    if not row.sizes or not row.nights:
        return []
    default = kind.parameters[kind.sweeps[0].x].default
    found = [_size_night(each, default, row.nights[-1], metric) for each in row.sizes]
    return sorted((each for each in found if each is not None), key=lambda each: each.value)


def size_chart(chart_id: str, kind: Kind, metric: Metric, sizes: Sequence[SizeNight], *, detail: Detail) -> ChartSpec:
    """Draw the last night by size over what is usual at each."""
    swept = kind.sweeps[0]
    parameter = kind.parameters[swept.x]
    values = [each.value for each in sizes]
    bands = [usual_band(each.usual) for each in sizes]
    line = ChartSeries(
        id=chart_id,
        label=_("last night"),
        color=0,
        points=[
            ChartPoint(each.value, each.median, each.pairs if each.median is not None else 0, reason=_missing(each))
            for each in sizes
        ],
        bands=[_band(bands)] if any(bands) else [],
    )
    is_log = swept.x_scale == "log2" and values[0] > 0
    return ChartSpec(
        id=chart_id,
        title=swept.title,
        x=Axis(
            label=parameter.label,
            unit=parameter.unit,
            scale="log2" if is_log else "linear",
            ticks=values if len(values) <= MAXIMUM_TICKS else [],
        ),
        y=Axis(label=_quantity(metric), unit=metric.unit, from_zero=True),
        series=[line],
        table=ChartTable([]),
        scale_group=chart_id,
        detail=detail,
    )


def _band(usual: Sequence[tuple[float, float] | None]) -> ChartBand:
    return ChartBand(_("usual"), [each and each[0] for each in usual], [each and each[1] for each in usual])


def _told(row: FigureNights) -> Mapping[date, tuple[datetime, float, float, int | None]]:
    """Return by night when its first run began, and the extremes and number of its repetitions."""
    columns = (row.told or [], row.ats or [], row.lows or [], row.highs or [], row.ns or [])
    return {night: (at, low, high, n) for night, at, low, high, n in zip(*columns, strict=True)}


def _rings(measured: Sequence[Measured], change: Deviation | None) -> list[ChartRing]:
    """Tell the latest night apart where it stands out from those before."""
    if change is None or not change.is_significant or not measured:
        return []
    latest = measured[-1]
    return [ChartRing(rfc3339(latest.at), latest.median, _("stands out, not confirmed"), "change")]


def _size_night(row: Mapping[str, object], default: object, night: date, metric: Metric) -> SizeNight | None:
    value = default if row["value"] is None else row["value"]
    medians = row["medians"]
    # What an imported text doesn't tell has no place on the axis.
    if not isinstance(value, int | float) or not isinstance(medians, list):
        return None
    is_of_night = row["night"] == night.isoformat()
    before = medians[:-1] if is_of_night else medians
    pairs = row["pairs"]
    return SizeNight(
        value=float(value),
        median=medians[-1] if is_of_night else None,
        pairs=pairs if isinstance(pairs, int) else 0,
        usual=deviation_of([*before, medians[-1]], metric) if before else None,
    )


def _missing(size: SizeNight) -> str:
    return "" if size.median is not None else _("no result in this night")


def _quantity(metric: Metric) -> str:
    return metric.quantity[:1].upper() + metric.quantity[1:]
