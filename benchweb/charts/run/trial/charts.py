"""A trial's course: what each interval measured, over the time since the traffic began."""

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.catalog import Metric, catalog
from benchweb.charts.lines import Palette
from benchweb.charts.table import chart_table
from benchweb.documents.charts import Axis, ChartBand, ChartPoint, ChartSeries, ChartSpec
from benchweb.results.course import MOST_DISPLAYED, extremes_of, is_count, thinned
from benchweb.results.models import Result

_X = Axis(label=gettext_noop("Time since the traffic began"), unit="s", scale="linear")


def course_charts(result: Result) -> list[ChartSpec]:
    """Return a chart for each quantity that the intervals measured; a single interval has no course."""
    intervals = sorted(result.document.get("intervals") or [], key=lambda interval: interval["end_seconds"])
    # A long test's are few enough; one of before that was stored with all of them.
    intervals = thinned(intervals, MOST_DISPLAYED)
    if len(intervals) < 2:
        return []
    known = catalog().metrics
    measured = {key for interval in intervals for key in interval.get("metrics") or {}}
    quantities: dict[str, list[Metric]] = {}
    for key, metric in known.items():
        if key in measured:
            quantities.setdefault(metric.quantity, []).append(metric)
    return [_chart(metrics, intervals) for metrics in quantities.values()]


def _chart(metrics: list[Metric], intervals: list[dict[str, Any]]) -> ChartSpec:
    quantity = metrics[0].quantity
    y = Axis(label=quantity[:1].upper() + quantity[1:], unit=metrics[0].unit, from_zero=True)
    palette = Palette()
    x = replace(_X, label=_(_X.label))
    series = [_line(metric, intervals, palette) for metric in metrics]
    return ChartSpec(
        id=f"course-{metrics[0].key}",
        title=_("{label} over time").format(label=y.label),
        subtitle=_subtitle(intervals),
        x=x,
        y=y,
        series=series,
        table=chart_table(x, y),
    )


def _subtitle(intervals: list[dict[str, Any]]) -> str:
    plain = _("each point is the interval that ends there; the warm-up is not part of the result")
    parts = max(interval.get("parts") or 1 for interval in intervals)
    if parts == 1:
        return plain
    joined = _("each point combines up to {count} intervals; shaded from the lowest to the highest")
    return f"{plain}; {joined.format(count=parts)}"


def _line(metric: Metric, intervals: list[dict[str, Any]], palette: Palette) -> ChartSeries:
    points = [_point(metric.key, interval) for interval in intervals]
    # The extremes of a count are of one interval each, far below the sum of them.
    has_band = not is_count(metric.key) and any(interval.get("parts") for interval in intervals)
    return ChartSeries(
        id=metric.key,
        label=metric.label,
        color=palette.color(metric.key),
        marker=palette.marker(metric.key),
        points=points,
        bands=[ChartBand(label=_("lowest to highest"))] if has_band else [],
    )


def _point(key: str, interval: dict[str, Any]) -> ChartPoint:
    value = (interval.get("metrics") or {}).get(key)
    reason = _("warm-up") if interval.get("warmup") else _("after the window") if interval.get("drain") else ""
    if value is None:
        return ChartPoint(x=interval["end_seconds"], y=None, reason=reason or _("not measured in this interval"))
    low, high = (None if is_count(key) else extremes_of(interval, key)) or (value, value)
    return ChartPoint(
        x=interval["end_seconds"], y=value, n=interval.get("parts") or 1, low=low, high=high, reason=reason
    )
