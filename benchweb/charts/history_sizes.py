"""Figures against message size (or whatever a kind sweeps), overlaying environments, pairs, dates or runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from benchweb.catalog import Chart, Kind, Parameter
from benchweb.charts.axes import MAXIMUM_TICKS
from benchweb.charts.history_lines import MOST_SWEPT, HistoryLine
from benchweb.charts.history_points import HistoryPoints, PointRow, history_points
from benchweb.charts.history_query import HistoryQuery
from benchweb.charts.history_series import Asked, chosen_lines
from benchweb.charts.lines import Palette
from benchweb.charts.spec import Axis, ChartPoint, ChartSeries, ChartSpec
from benchweb.charts.table import chart_table
from benchweb.runs.models import Run, State
from benchweb.statistics import summary

MOST_OVERLAID = 8
_DATES = 6
_A_MOMENT = timedelta(seconds=1)
# Which line of a chart a figure belongs to: its number, and its name.
_Key = Callable[[HistoryLine, PointRow], tuple[int, str]]


@dataclass(frozen=True)
class Sizes:
    """The charts, how many series they rest on, and how many there would be."""

    charts: list[ChartSpec]
    lines: list[HistoryLine]
    total: int


def swept_charts(kind: Kind) -> list[Chart]:
    """Give a kind's charts over the parameter that its first one is swept over; one metric each is drawn."""
    charts = [chart for chart in kind.charts if chart.form == "sweep" and chart.x in kind.parameters]
    return [chart for chart in charts if chart.x == charts[0].x]


def size_charts(query: HistoryQuery, kind: Kind) -> Sizes:
    """Draw a kind's sweeps from all its series that match; three queries, and one for runs or a plan."""
    charts = swept_charts(kind)
    if not charts:
        return Sizes([], [], 0)
    metrics = list(dict.fromkeys(chart.metrics[0] for chart in charts))
    chosen = chosen_lines(query, Asked(kind, "", "", metrics, "", []), most=MOST_SWEPT)
    runs = _latest_runs(query, chosen.lines) if query.overlay == "run" else None
    points = history_points(
        [line.series[metric] for line in chosen.lines for metric in metrics if metric in line.series],
        pairs=list({line.pair.pk for line in chosen.lines}),
        shown=query.shown,
        zone=query.zone,
        plan=query.plan,
        runs=runs,
    )
    drawing = _Drawing(query, kind, chosen.lines, points, _KEYS[query.overlay](_spread_over(query, points)))
    specs = [drawing.spec(chart) for chart in charts]
    return Sizes([spec for spec in specs if spec.series], chosen.lines, chosen.total)


@dataclass(frozen=True)
class _Drawing:
    """All that was read for a look."""

    query: HistoryQuery
    kind: Kind
    lines: Sequence[HistoryLine]
    points: HistoryPoints
    key: _Key

    def spec(self, chart: Chart) -> ChartSpec:
        metric, parameter = self.kind.metrics[chart.metrics[0]], self.kind.parameters[chart.x]
        found = self._grouped(chart)
        groups = sorted(found)
        # Of dates and runs the latest, of environments and pairs those that were there first.
        is_latest = self.query.overlay in {"date", "run"}
        kept = groups[-MOST_OVERLAID:] if is_latest else groups[:MOST_OVERLAID]
        palette = Palette()
        series = [_line(metric.key, group, found[group], palette) for group in kept]
        x = _x_axis(chart, parameter, sorted({size for group in kept for size in found[group]}))
        y = Axis(label=metric.quantity[:1].upper() + metric.quantity[1:], unit=metric.unit, from_zero=True)
        return ChartSpec(
            id=f"sizes-{chart.id}",
            title=chart.title,
            subtitle=f"{self.kind.label}{pgettext('between sentences', '. ')}"
            f"{_line_words(self.query.overlay, len(kept), len(groups))} {_point_words()}",
            x=x,
            y=y,
            series=series,
            table=chart_table(x, y),
        )

    def _grouped(self, chart: Chart) -> dict[tuple[int, str], dict[float, list[PointRow]]]:
        found: dict[tuple[int, str], dict[float, list[PointRow]]] = {}
        for line in self.lines:
            size = float(line.identity.get(chart.x, self.kind.parameters[chart.x].default))
            for row in self.points.series.get(line.series.get(chart.metrics[0], 0), []):
                found.setdefault(self.key(line, row), {}).setdefault(size, []).append(row)
        return found


def _line_words(overlay: str, drawn: int, total: int) -> str:
    words = {
        "environment": _("A line for each environment"),
        "pair": _("A line for each pair"),
        "date": _("A line for each span of dates"),
        "run": _("A line for each run"),
    }[overlay]
    left_out = _("%(drawn)s of %(total)s shown") % {"drawn": drawn, "total": total}
    if drawn < total:
        words += pgettext("between parts of a sentence", "; ") + left_out
    return words + pgettext("end of a sentence", ".")


def _point_words() -> str:
    return _("Each point is the median of the runs' medians; the whiskers reach from the lowest to the highest.")


def _x_axis(chart: Chart, parameter: Parameter, sizes: list[float]) -> Axis:
    # Zero has no logarithm.
    is_log = chart.x_scale == "log2" and bool(sizes) and sizes[0] > 0
    ticks = sizes if len(sizes) <= MAXIMUM_TICKS else []
    return Axis(label=parameter.label, unit=parameter.unit, scale="log2" if is_log else "linear", ticks=ticks)


def _line(
    metric: str, group: tuple[int, str], places: Mapping[float, Sequence[PointRow]], palette: Palette
) -> ChartSeries:
    key = str(group[0])
    points = [_point(size, rows) for size, rows in sorted(places.items())]
    return ChartSeries(
        id=f"{metric}/{key}", label=group[1], color=palette.color(key), marker=palette.marker(key), points=points
    )


def _point(size: float, rows: Sequence[PointRow]) -> ChartPoint:
    middle = summary([row.median for row in rows])
    runs = {row.run for row in rows}
    return ChartPoint(
        x=size,
        y=middle.median if middle else None,
        n=sum(row.n for row in rows),
        low=min(row.low for row in rows),
        high=max(row.high for row in rows),
        href=f"/runs/{runs.pop()}" if len(runs) == 1 else "",
    )


def _latest_runs(query: HistoryQuery, lines: Sequence[HistoryLine]) -> list[int]:
    """Give the runs asked for, else the latest that ended on these pairs."""
    if query.runs:
        return list(query.runs)[:MOST_OVERLAID]
    pairs = {line.pair.pk for line in lines}
    runs = Run.objects.filter(pair__in=pairs, state__in=(State.FINISHED, State.FAILED), created_at__range=query.shown)
    if query.plan is not None:
        runs = runs.filter(plan_version__plan=query.plan)
    return list(runs.order_by("-pk").values_list("pk", flat=True)[:MOST_OVERLAID])


def _by_environment(query: HistoryQuery) -> _Key:
    return lambda line, row: (line.pair.environment_id, line.pair.environment)


def _by_pair(query: HistoryQuery) -> _Key:
    return lambda line, row: (line.pair.pk, f"{line.pair_words}, {line.pair.environment}")


def _by_run(query: HistoryQuery) -> _Key:
    return lambda line, row: (row.run, f"{_('run')} {row.run}, {row.at:%Y-%m-%d}")


def _spread_over(query: HistoryQuery, points: HistoryPoints) -> HistoryQuery:
    """Narrow the time to what was measured, where all there is is asked for."""
    times = [row.at for rows in points.series.values() for row in rows]
    if not query.is_fitted or query.is_zoomed or not times:
        return query
    return replace(query, shown=(min(times), max(times) + _A_MOMENT))


def _by_date(query: HistoryQuery) -> _Key:
    """Part the time that is shown into equal spans."""
    first, last = query.shown
    span = (last - first) / _DATES

    def key(line: HistoryLine, row: PointRow) -> tuple[int, str]:
        place = min(_DATES - 1, int((row.at - first) / span))
        begin = first + place * span
        return place, f"{_date(begin)} – {_date(begin + span)}"

    return key


def _date(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


_KEYS: dict[str, Callable[[HistoryQuery], _Key]] = {
    "environment": _by_environment,
    "pair": _by_pair,
    "run": _by_run,
    "date": _by_date,
}
