"""What a host measured alone, night by night."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from benchweb.charts.lines import Palette
from benchweb.charts.table import chart_table
from benchweb.documents.charts import Axis, ChartPoint, ChartSeries, ChartSpec
from benchweb.documents.moments import rfc3339
from benchweb.hosts.canaries import UNITS, canary_figures
from benchweb.hosts.models import CanaryFigure, CanaryMetric

_NIGHT = timedelta(hours=24)
# Two of neighbouring nights are no further apart, however the hours of their runs differ.
_MOST_APART = timedelta(hours=36)


def canary_charts(
    *, names: Mapping[int, str], from_time: datetime, to_time: datetime, metrics: Sequence[str] = CanaryMetric.values
) -> list[ChartSpec]:
    """Return a chart for each of these figures that any endpoint's host measured in a time; one query.

    `names` are the endpoints' labels by id; with one endpoint the line needs none. A night without a figure is a gap.
    """
    figures = list(canary_figures(endpoint_ids=names, from_time=from_time, to_time=to_time))
    by_metric = {metric: [figure for figure in figures if figure.metric == metric] for metric in metrics}
    return [_chart(CanaryMetric(metric), names, its, from_time, to_time) for metric, its in by_metric.items() if its]


def _chart(
    metric: CanaryMetric,
    names: Mapping[int, str],
    figures: Sequence[CanaryFigure],
    from_time: datetime,
    to_time: datetime,
) -> ChartSpec:
    x, y = Axis(label=_("Time"), unit="", scale="time"), Axis(label=str(metric.label), unit=UNITS[metric])
    palette = Palette()
    lines = []
    for endpoint_id, name in names.items():
        its = [figure for figure in figures if figure.endpoint_id == endpoint_id]
        key = f"canary-{endpoint_id}"
        label = name if len(names) > 1 else y.label
        if its:
            points = _points(its, to_time)
            lines.append(ChartSeries(key, label, palette.color(key), marker=palette.marker(key), points=points))
    return ChartSpec(
        id=f"canary-{metric}",
        title=str(metric.label),
        subtitle=_(
            "measured by the host alone once a night; each point is the median of n passes, "
            "whiskers show the minimum and maximum"
        ),
        form="time",
        x=x,
        y=y,
        series=lines,
        table=chart_table(x, y),
        x_from=rfc3339(from_time),
        x_to=rfc3339(to_time),
        scale_group=f"canary-{metric}",
    )


def _points(figures: Sequence[CanaryFigure], until: datetime) -> list[ChartPoint]:
    """Return a line's points with the nights that are missing between them, and after the last."""
    points: list[ChartPoint] = []
    for figure, following in zip(figures, [*(figure.at for figure in figures[1:]), until], strict=True):
        at = figure.at
        points.append(ChartPoint(rfc3339(at), figure.median, figure.n, figure.least, figure.most))
        while following - at > _MOST_APART:
            at += _NIGHT
            points.append(ChartPoint(rfc3339(at), None, reason=_("not measured")))
    return points
