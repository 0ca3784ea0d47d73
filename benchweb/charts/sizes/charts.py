"""Figures against message size (or whatever a kind sweeps), overlaying environments, pairs, dates or runs."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.catalog import Chart, Kind, Parameter
from benchweb.catalog.translation import sentence_space
from benchweb.charts.axes import MAXIMUM_TICKS
from benchweb.charts.export import pair_ids
from benchweb.charts.history.choices import facets_of, parameter_text
from benchweb.charts.history.line_names import Parts, common_words
from benchweb.charts.history.query import HistoryQuery
from benchweb.charts.lines import Palette
from benchweb.charts.sizes.lines import MOST_OVERLAID, SizeLine, SizeLines, size_lines
from benchweb.charts.sizes.points import SizePoint, SizePoints, Times, night_points, size_points
from benchweb.charts.sizes.words import hollow_words, line_words, point_words, untold_words
from benchweb.charts.table import chart_table
from benchweb.common.addresses import site_path
from benchweb.documents.charts import Axis, ChartPoint, ChartSeries, ChartSpec
from benchweb.documents.references import Label, environment_ref, joined_label, run_ref

_DATES = 6
# What lines are told apart by, or put together over, on purpose.
_OVERLAID = ("pair", "environment")
# What a line of a chart is: its number, its settings but for the size, and its name. Its points go by size.
_Group = tuple[int, str, str]
_Points = dict[_Group, dict[float, SizePoint]]
# Which line of which chart, at which size, the figures of a test belong to: metric, number, settings, size.
_Position = tuple[str, int, str, float]
# Points of fewer runs than this part of the line's most stand apart.
_FEW_TIMES = 2


@dataclass(frozen=True)
class Sizes:
    """The charts, on how many series they rest, and how many there would be."""

    charts: list[ChartSpec]
    series: int
    total: int


def swept_parameter(kind: Kind, varying: Collection[str]) -> Parameter | None:
    """Return the parameter on the axis: the charts' own, unless only another number varies. None without charts."""
    if not kind.sweeps:
        return None
    if kind.sweeps[0].x not in varying:
        for name, parameter in kind.parameters.items():
            if name in varying and parameter.is_number and parameter.default is not None:
                return parameter
    return kind.parameters[kind.sweeps[0].x]


def size_charts(query: HistoryQuery, kind: Kind) -> Sizes:
    """Draw a kind's sweeps from all that match; three queries at most, and one for runs or a plan."""
    if not kind.sweeps:
        return Sizes([], 0, 0)
    rest = size_lines(query, kind)
    lines = rest.lines
    varying = facets_of(kind, [dict(line.identity) for line in lines])
    swept = swept_parameter(kind, [facet.parameter.name for facet in varying])
    if swept is None or not lines:
        return Sizes([], 0, 0)
    parts = [{name: part[name] for name in part if name != swept.name} for part in rest.parts(kind)]
    keys = _setting_keys(lines, kind, swept)
    positions, ids = _positions(query, swept, lines, keys, kind.swept_metrics)
    points = _points(query, rest, ids)
    name = _names(query, rest, points)
    by_metric = _by_metric(name, positions, points, dict(zip(keys, _setting_words(parts), strict=True)))
    drawing = _Drawing(query, kind, swept, common_words(parts, kind), by_metric, rest)
    specs = [drawing.spec(chart) for chart in kind.sweeps]
    return Sizes([spec for spec in specs if spec.series], rest.series, rest.total)


def _points(query: HistoryQuery, rest: SizeLines, ids: Mapping[int, int]) -> SizePoints:
    times = Times(query.span, query.is_fitted and not query.is_zoomed, _DATES)
    part = query.overlay if query.overlay in {"run", "date"} else ""
    if rest.is_by_night:
        return night_points(ids, times, part=part)
    pairs = [pair.pk for pair in rest.pairs]
    of = list(rest.runs) if query.overlay == "run" else None
    return size_points(ids, times, pairs=pairs, part=part, plan=query.plan, runs=of)


def _setting_keys(lines: Sequence[SizeLine], kind: Kind, swept: Parameter) -> list[str]:
    """Name each line's settings but for the size, for good: unlike tests are never one point."""
    return [
        ",".join(
            f"{name}={parameter_text(kind.series_parameters[name], value) if name in kind.series_parameters else value}"
            for name, value in sorted(line.identity.items())
            if name != swept.name
        )
        for line in lines
    ]


def _setting_words(parts: Parts) -> list[Label]:
    """Say of each line the settings that others have otherwise."""
    names = [name for name in parts[0] if name not in _OVERLAID and len({part[name] for part in parts}) > 1]
    return [joined_label(part[name] for name in names) for part in parts]


def _positions(
    query: HistoryQuery, swept: Parameter, lines: Sequence[SizeLine], settings: Sequence[str], metrics: Sequence[str]
) -> tuple[list[_Position], dict[int, int]]:
    """Return the places that something was measured for, and by id each one's place among them.

    What an imported text doesn't tell has no place.
    """
    positions: dict[_Position, int] = {}
    ids: dict[int, int] = {}
    for line, key in zip(lines, settings, strict=True):
        number = _number(query, line)
        swept_value = line.identity.get(swept.name, swept.default)
        if swept_value is None:
            continue
        size = float(swept_value)
        for metric in metrics:
            if metric in line.ids:
                ids[line.ids[metric]] = positions.setdefault((metric, number, key, size), len(positions))
    return list(positions), ids


def _number(query: HistoryQuery, line: SizeLine) -> int:
    """Return the line of a chart that a test is part of, unless it is the run or the date that tells."""
    if query.overlay == "pair" and line.pair:
        return line.pair.pk
    return line.environment_id if query.overlay == "environment" else 0


def _by_metric(
    name: Callable[[int], str], positions: Sequence[_Position], points: SizePoints, words: Mapping[str, str]
) -> dict[str, _Points]:
    """Sort the points by metric, line and size; `words` say a line's settings by its key."""
    by_metric: dict[str, _Points] = {}
    for point in points.points:
        metric, number, key, size = positions[point.position]
        number = number or point.part
        label = joined_label([name(number), words[key]])
        by_metric.setdefault(metric, {}).setdefault((number, key, label), {})[size] = point
    return by_metric


def _names(query: HistoryQuery, rest: SizeLines, points: SizePoints) -> Callable[[int], str]:
    """Return what names a line of a chart by its number."""
    if query.overlay == "date":
        return lambda number: _span_words(points.period, number, query.zone)
    if query.overlay == "run":
        begun: dict[int, datetime] = {}
        for point in points.points:
            begun[point.part] = min(point.first_at, begun.get(point.part, point.first_at))
        words = {pair.pk: pair.words for pair in rest.pairs}
        # One pair for all is told once, above the chart.
        of = {run: words[pair] for run, pair in rest.runs.items() if len(words) > 1 and pair in words}
        comma = pgettext("between parts of a sentence", ", ")
        return lambda number: joined_label(
            [Label(_("run"), " ", run_ref(number)), of.get(number, ""), _date(begun[number], query.zone)], comma
        )
    if query.overlay == "pair":
        pairs = {pair.pk: joined_label([pair.words, environment_ref(pair.environment)], ", ") for pair in rest.pairs}
        return pairs.__getitem__
    environments = {line.environment_id: environment_ref(line.environment) for line in rest.lines}
    return environments.__getitem__


@dataclass(frozen=True)
class _Drawing:
    """All that was read for a look."""

    query: HistoryQuery
    kind: Kind
    # On the axis.
    swept: Parameter
    # What all lines have in common.
    common: Label
    # By metric.
    by_metric: dict[str, _Points]
    rest: SizeLines

    def spec(self, chart: Chart) -> ChartSpec:
        metric, parameter = self.kind.metrics[chart.metrics[0]], self.swept
        by_line = self.by_metric.get(chart.metrics[0], {})
        groups = sorted(by_line)
        # Of dates and runs the latest, of environments and pairs those that were there first.
        is_latest = self.query.overlay in {"date", "run"}
        runs_text = groups[-MOST_OVERLAID:] if is_latest else groups[:MOST_OVERLAID]
        palette = Palette()
        ids = {pair.pk: pair_ids(pair) for pair in self.rest.pairs} if self.query.overlay == "pair" else {}
        series = [
            replace(
                _line(metric.key, group, self._label(group, points), points, palette, is_hollow=not is_full),
                ids=ids.get(group[0], {}),
            )
            for group in runs_text
            for is_full, points in _by_fullness(by_line[group])
        ]
        x = _x_axis(chart, parameter, sorted({size for group in runs_text for size in by_line[group]}))
        y = Axis(label=metric.label, unit=metric.unit, from_zero=True)
        return ChartSpec(
            id=f"sizes-{chart.id}",
            title=self._title(chart, y),
            subtitle=self.common + f"{pgettext('between sentences', '. ')}"
            f"{line_words(self.query.overlay, len(runs_text), len(groups), are_more_runs=self.rest.are_more_runs)}"
            f"{sentence_space()}"
            f"{point_words(self.query.overlay, is_by_night=self.rest.is_by_night)}"
            f"{hollow_words() if any(line.is_hollow for line in series) else ''}"
            f"{untold_words(self.rest, parameter)}",
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
            return Label(name, f" (n={n})")
        runs, pairs = ({getattr(point, name) for point in points.values()} for name in ("runs", "pairs"))
        most, most_pairs = max(runs), max(pairs)
        of = [ngettext("%(runs)s run", "%(runs)s runs", most) % {"runs": f"{most:,}"}]
        is_same = len(runs) == 1
        if self.rest.is_by_night:
            words = ngettext("at most %(count)s pair a night", "at most %(count)s pairs a night", most_pairs)
            of.append(words % {"count": f"{most_pairs:,}"})
        elif most_pairs > 1:
            of.append(ngettext("%(count)s pair", "%(count)s pairs", most_pairs) % {"count": f"{most_pairs:,}"})
            is_same = is_same and len(pairs) == 1
        text = pgettext("between parts of a sentence", ", ").join(of)
        return Label(name, f" ({text if is_same else _('up to %(count)s') % {'count': text}})")

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
        href=site_path(f"/runs/{point.first_run}") if point.first_run and point.first_run == point.last_run else "",
    )


def _span_words(period: tuple[datetime, datetime], number: int, zone: tzinfo) -> str:
    span = (period[1] - period[0]) / _DATES
    begin = period[0] + number * span
    return f"{_date(begin, zone)} – {_date(begin + span, zone)}"


def _date(at: datetime, zone: tzinfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d}"
