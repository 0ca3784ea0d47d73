"""Figures against message size (or whatever a kind sweeps), overlaying environments, pairs, dates or runs."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.catalog import Chart, Kind, Parameter
from benchweb.charts.axes import MAXIMUM_TICKS
from benchweb.charts.history_choices import facets_of, parameter_text
from benchweb.charts.history_lines import MOST_SWEPT, Chosen, HistoryLine
from benchweb.charts.history_query import HistoryQuery
from benchweb.charts.history_series import Asked, Parts, chosen_lines, common_words, line_parts
from benchweb.charts.lines import Palette
from benchweb.charts.size_points import SizePoint, SizePoints, size_points
from benchweb.charts.spec import Axis, ChartPoint, ChartSeries, ChartSpec
from benchweb.charts.table import chart_table
from benchweb.phrasebook import sentence_gap
from benchweb.results.models import Point
from benchweb.runs.models import Run, State

MOST_OVERLAID = 8
_DATES = 6
# What lines are told apart by, or put together over, on purpose.
_OVERLAID = ("pair", "environment")
# What a line of a chart is: its number, its settings but for the size, and its name. Its points go by size.
_Group = tuple[int, str, str]
_Found = dict[_Group, dict[float, SizePoint]]
# Which line of which chart, at which size, the figures of a series belong to: metric, number, settings, size.
_Place = tuple[str, int, str, float]
# Points of fewer runs than this part of the line's most stand apart.
_FEW_TIMES = 2


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


def swept_parameter(kind: Kind, varying: Collection[str]) -> Parameter | None:
    """Give the parameter on the axis: the charts' own, unless only another number varies; None without such charts."""
    charts = swept_charts(kind)
    if not charts:
        return None
    if charts[0].x not in varying:
        for name, parameter in kind.parameters.items():
            if name in varying and parameter.is_number and parameter.default is not None:
                return parameter
    return kind.parameters[charts[0].x]


def size_charts(query: HistoryQuery, kind: Kind) -> Sizes:
    """Draw a kind's sweeps from all its series that match; three queries, and one for runs or a plan."""
    charts = swept_charts(kind)
    metrics = list(dict.fromkeys(chart.metrics[0] for chart in charts))
    chosen = chosen_lines(query, Asked(kind, "", "", metrics, "", []), most=MOST_SWEPT) if charts else Chosen([], 0)
    varying = facets_of(kind, [line.identity for line in chosen.lines])
    swept = swept_parameter(kind, [facet.parameter.name for facet in varying])
    if swept is None or not chosen.lines:
        return Sizes([], [], 0)
    parts = [{name: part[name] for name in part if name != swept.name} for part in line_parts(chosen.lines, kind)]
    keys = _setting_keys(chosen.lines, kind, swept)
    places, series = _places(query, swept, chosen.lines, keys, metrics)
    runs = _latest_runs(query, chosen.lines) if query.overlay == "run" else None
    points = size_points(
        series,
        pairs=list({line.pair.pk for line in chosen.lines}),
        shown=query.shown,
        is_fitted=query.is_fitted and not query.is_zoomed,
        part=query.overlay if query.overlay in {"run", "date"} else "",
        spans=_DATES,
        plan=query.plan,
        runs=list(runs) if runs is not None else None,
    )
    name = _names(query, chosen.lines, points, runs or {})
    found = _found(name, places, points, dict(zip(keys, _setting_words(parts), strict=True)))
    drawing = _Drawing(query, kind, swept, common_words(parts, kind), found)
    specs = [drawing.spec(chart) for chart in charts]
    return Sizes([spec for spec in specs if spec.series], chosen.lines, chosen.total)


def _setting_keys(lines: Sequence[HistoryLine], kind: Kind, swept: Parameter) -> list[str]:
    """Name each line's settings but for the size, for good: unlike tests are never one point."""
    return [
        ",".join(
            f"{name}={parameter_text(kind.parameters[name], value) if name in kind.parameters else value}"
            for name, value in sorted(line.identity.items())
            if name != swept.name
        )
        for line in lines
    ]


def _setting_words(parts: Parts) -> list[str]:
    """Say of each line the settings that others have otherwise."""
    names = [name for name in parts[0] if name not in _OVERLAID and len({part[name] for part in parts}) > 1]
    return [" · ".join(part[name] for name in names) for part in parts]


def _places(
    query: HistoryQuery, swept: Parameter, lines: Sequence[HistoryLine], settings: Sequence[str], metrics: Sequence[str]
) -> tuple[list[_Place], dict[int, int]]:
    """Give the places that have series, and each series' place among them."""
    places: dict[_Place, int] = {}
    series: dict[int, int] = {}
    for line, key in zip(lines, settings, strict=True):
        number = _number(query, line)
        size = float(line.identity.get(swept.name, swept.default))
        for metric in metrics:
            if metric in line.series:
                series[line.series[metric]] = places.setdefault((metric, number, key, size), len(places))
    return list(places), series


def _number(query: HistoryQuery, line: HistoryLine) -> int:
    """Give the line of a chart that a series is part of, unless it is the run or the date that tells."""
    return {"environment": line.pair.environment_id, "pair": line.pair.pk}.get(query.overlay, 0)


def _found(
    name: Callable[[int], str], places: Sequence[_Place], points: SizePoints, words: Mapping[str, str]
) -> dict[str, _Found]:
    """Sort the points by metric, line and size; `words` say a line's settings by its key."""
    found: dict[str, _Found] = {}
    for point in points.points:
        metric, number, key, size = places[point.place]
        number = number or point.part
        label = " · ".join(filter(None, [name(number), words[key]]))
        found.setdefault(metric, {}).setdefault((number, key, label), {})[size] = point
    return found


def _names(
    query: HistoryQuery, lines: Sequence[HistoryLine], points: SizePoints, runs: Mapping[int, int]
) -> Callable[[int], str]:
    """Give what names a line of a chart by its number; `runs` are those drawn, each with its pair."""
    if query.overlay == "date":
        return lambda number: _span_words(points.shown, number, query.zone)
    if query.overlay == "run":
        begun: dict[int, datetime] = {}
        for point in points.points:
            begun[point.part] = min(point.first_at, begun.get(point.part, point.first_at))
        words = {line.pair.pk: line.pair_words for line in lines}
        # One pair for all is told once, above the chart.
        of = {run: words[pair] for run, pair in runs.items() if len(words) > 1 and pair in words}
        comma = pgettext("between parts of a sentence", ", ")
        return lambda number: comma.join(
            filter(None, [f"{_('run')} {number}", of.get(number, ""), _date(begun[number], query.zone)])
        )
    if query.overlay == "pair":
        pairs = {line.pair.pk: f"{line.pair_words}, {line.pair.environment}" for line in lines}
        return pairs.__getitem__
    environments = {line.pair.environment_id: line.pair.environment for line in lines}
    return environments.__getitem__


@dataclass(frozen=True)
class _Drawing:
    """All that was read for a look."""

    query: HistoryQuery
    kind: Kind
    # On the axis.
    swept: Parameter
    # What all lines have in common.
    common: str
    # By metric.
    found: dict[str, _Found]

    def spec(self, chart: Chart) -> ChartSpec:
        metric, parameter = self.kind.metrics[chart.metrics[0]], self.swept
        found = self.found.get(chart.metrics[0], {})
        groups = sorted(found)
        # Of dates and runs the latest, of environments and pairs those that were there first.
        is_latest = self.query.overlay in {"date", "run"}
        kept = groups[-MOST_OVERLAID:] if is_latest else groups[:MOST_OVERLAID]
        palette = Palette()
        series = [
            _line(metric.key, group, self._label(group, points), points, palette, is_hollow=not is_full)
            for group in kept
            for is_full, points in _by_fullness(found[group])
        ]
        x = _x_axis(chart, parameter, sorted({size for group in kept for size in found[group]}))
        y = Axis(label=metric.label, unit=metric.unit, from_zero=True)
        return ChartSpec(
            id=f"sizes-{chart.id}",
            title=self._title(chart, y),
            subtitle=f"{self.common}{pgettext('between sentences', '. ')}"
            f"{_line_words(self.query.overlay, len(kept), len(groups))}{sentence_gap()}"
            f"{_point_words(self.query.overlay)}",
            x=x,
            y=y,
            series=series,
            table=chart_table(x, y),
        )

    def _label(self, group: _Group, points: Mapping[float, SizePoint]) -> str:
        """Name a line, with what its points are of: at most so much, where it isn't the same at every size."""
        name = group[2]
        if self.query.overlay == "run":
            ns = [point.n for point in points.values()]
            n = f"{min(ns)}" if min(ns) == max(ns) else f"{min(ns)}–{max(ns)}"
            return f"{name} (n={n})"
        runs, pairs = ({getattr(point, name) for point in points.values()} for name in ("runs", "pairs"))
        most, most_pairs = max(runs), max(pairs)
        of = [ngettext("%(runs)s run", "%(runs)s runs", most) % {"runs": f"{most:,}"}]
        if most_pairs > 1:
            of.append(ngettext("%(count)s pair", "%(count)s pairs", most_pairs) % {"count": f"{most_pairs:,}"})
        said = pgettext("between parts of a sentence", ", ").join(of)
        return f"{name} ({said if len(runs) == len(pairs) == 1 else _('up to %(count)s') % {'count': said}})"

    def _title(self, chart: Chart, y: Axis) -> str:
        if self.swept.name == chart.x:
            return chart.title
        return _("{quantity} by {parameter}").format(quantity=y.label, parameter=self.swept.label.lower())


def _by_fullness(points: Mapping[float, SizePoint]) -> list[tuple[bool, dict[float, SizePoint]]]:
    """Part the points that few runs measured from those that most did: a line through both would draw the difference.

    An environment's sizes may be of ten runs here and of one there, each with its own load and time of day.
    """
    most = max(point.runs for point in points.values())
    full = {size: point for size, point in points.items() if point.runs * _FEW_TIMES >= most}
    few = {size: point for size, point in points.items() if size not in full}
    return [(is_full, part) for is_full, part in ((True, full), (False, few)) if part]


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


def _point_words(overlay: str) -> str:
    if overlay == "run":
        return _(
            "Each point is the median of the run's repetitions; the whiskers reach from the lowest to the highest."
        )
    return _(
        "Each point is the median of the runs' medians; the whiskers reach from the lowest to the highest of all "
        "repetitions."
    )


def _x_axis(chart: Chart, parameter: Parameter, sizes: list[float]) -> Axis:
    # Zero has no logarithm.
    is_log = chart.x_scale == "log2" and bool(sizes) and sizes[0] > 0
    ticks = sizes if len(sizes) <= MAXIMUM_TICKS else []
    return Axis(label=parameter.label, unit=parameter.unit, scale="log2" if is_log else "linear", ticks=ticks)


def _line(
    metric: str,
    group: _Group,
    label: str,
    points: Mapping[float, SizePoint],
    palette: Palette,
    *,
    is_hollow: bool,
) -> ChartSeries:
    key = "/".join(filter(None, [str(group[0]), group[1]]))
    return ChartSeries(
        id=f"{metric}/{key}{'/few' if is_hollow else ''}",
        label=label,
        color=palette.color(key),
        dash="dotted" if is_hollow else "solid",
        marker=palette.marker(key),
        is_hollow=is_hollow,
        points=[_point(size, point) for size, point in sorted(points.items())],
    )


def _point(size: float, point: SizePoint) -> ChartPoint:
    return ChartPoint(
        x=size,
        y=point.median,
        n=point.n,
        low=point.low,
        high=point.high,
        href=f"/runs/{point.first_run}" if point.first_run == point.last_run else "",
    )


def _latest_runs(query: HistoryQuery, lines: Sequence[HistoryLine]) -> dict[int, int]:
    """Give the runs asked for, else the latest that ended on these pairs, each with its pair; one query."""
    if query.runs:
        return dict(Run.objects.filter(pk__in=query.runs[:MOST_OVERLAID]).values_list("pk", "pair_id"))
    pairs = {line.pair.pk for line in lines}
    runs = Run.objects.filter(pair__in=pairs, state__in=(State.FINISHED, State.FAILED), created_at__range=query.shown)
    # Of another test's runs nothing would be drawn, in the place of those that there are.
    drawn = [series for line in lines for series in line.series.values()]
    runs = runs.filter(Exists(Point.objects.filter(run=OuterRef("pk"), series__in=drawn)))
    if query.plan is not None:
        runs = runs.filter(plan_version__plan=query.plan)
    return dict(runs.order_by("-pk").values_list("pk", "pair_id")[:MOST_OVERLAID])


def _span_words(shown: tuple[datetime, datetime], number: int, zone: tzinfo) -> str:
    span = (shown[1] - shown[0]) / _DATES
    begin = shown[0] + number * span
    return f"{_date(begin, zone)} – {_date(begin + span, zone)}"


def _date(at: datetime, zone: tzinfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d}"
