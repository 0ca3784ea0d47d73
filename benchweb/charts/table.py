"""The table behind a chart: every point with its count and spread, as raw values."""

from django.utils.translation import gettext as _

from benchweb.charts.spec import Axis, ChartPoint, ChartSeries, ChartTable


def chart_table(x: Axis, y: Axis, series: list[ChartSeries]) -> ChartTable:
    """Give a row per point; a missing value is None with its reason beside it."""
    columns = [
        {"key": "series", "label": _("Series"), "unit": ""},
        {"key": "x", "label": x.label, "unit": x.unit},
        {"key": "n", "label": "n", "unit": ""},
        {"key": "median", "label": _("Median"), "unit": y.unit},
        {"key": "low", "label": _("Lowest"), "unit": y.unit},
        {"key": "high", "label": _("Highest"), "unit": y.unit},
        {"key": "spread", "label": _("± half range"), "unit": "ratio"},
        {"key": "reason", "label": _("Missing"), "unit": ""},
    ]
    return ChartTable(columns=columns, rows=[_row(line, point) for line in series for point in line.points])


def _row(line: ChartSeries, point: ChartPoint) -> dict[str, object]:
    return {
        "series": line.label,
        "x": point.x,
        "n": point.n,
        "median": point.y,
        "low": point.low,
        "high": point.high,
        "spread": _half_range_ratio(point),
        "reason": point.reason,
    }


def _half_range_ratio(point: ChartPoint) -> float | None:
    """Give the ± of a point, from the extremes: a long history's points don't carry their repetitions."""
    if point.n < 2 or not point.y or point.low is None or point.high is None:
        return None
    return (point.high - point.low) / (2 * abs(point.y))
