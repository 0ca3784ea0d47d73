"""A host's indicators over time: response time, utilisation, bandwidth used and left."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from operator import attrgetter
from typing import Any, Literal

from django.utils.translation import get_language, gettext_noop, pgettext
from django.utils.translation import gettext as _

from benchweb.charts.lines import Palette
from benchweb.documents.charts import Axis, ChartPoint, ChartSeries, ChartSpec, ChartTable, ReferenceLine
from benchweb.documents.moments import rfc3339
from benchweb.hosts.probing.indicators import Hour, Indicators, ProbedMean, indicators

_X = Axis(label=gettext_noop("Time"), unit="", scale="time")
_Pick = Callable[[Indicators], ProbedMean | None]


@dataclass(frozen=True)
class _Line:
    """One quantity of an indicator's chart: its mean, and where one is kept its extreme."""

    name: str
    pick: _Pick
    extreme: Literal["most", "least", ""] = "most"
    # The name in the reader's language.
    label: str = ""


@dataclass(frozen=True)
class _Indicator:
    key: str
    title: str
    y: Axis
    lines: Sequence[_Line]
    extreme_name: str = ""
    has_link: bool = False


_INDICATORS = (
    _Indicator(
        "response-time",
        gettext_noop("Response time of the engine"),
        Axis(label=gettext_noop("Response time"), unit="s", from_zero=True),
        [_Line("", lambda figures: figures.response_seconds, extreme="")],
    ),
    _Indicator(
        "utilisation",
        gettext_noop("Utilisation of the CPUs"),
        Axis(label=gettext_noop("Busy share of all CPUs"), unit="ratio", from_zero=True),
        [_Line("", lambda figures: figures.cpu_ratio)],
        gettext_noop("busiest minute"),
    ),
    _Indicator(
        "bandwidth-used",
        gettext_noop("Bandwidth used"),
        Axis(label=gettext_noop("Bandwidth used"), unit="bit/s", from_zero=True),
        [
            _Line(gettext_noop("received"), lambda figures: figures.received_bps),
            _Line(gettext_noop("sent"), lambda figures: figures.sent_bps),
        ],
        gettext_noop("busiest minute"),
        has_link=True,
    ),
    _Indicator(
        "bandwidth-left",
        gettext_noop("Bandwidth left"),
        Axis(label=gettext_noop("Bandwidth left"), unit="bit/s", from_zero=True),
        [
            _Line(gettext_noop("to receive"), lambda figures: figures.left_to_receive_bps, extreme="least"),
            _Line(gettext_noop("to send"), lambda figures: figures.left_to_send_bps, extreme="least"),
        ],
        gettext_noop("busiest minute"),
    ),
)


@cache
def _indicators(_language: str | None) -> list[_Indicator]:
    """Keep the indicators with their texts in a language: each line of each endpoint has them."""
    return [
        replace(
            indicator,
            title=_(indicator.title),
            y=replace(indicator.y, label=_(indicator.y.label)),
            lines=[replace(line, label=_(line.name) if line.name else "") for line in indicator.lines],
            extreme_name=_(indicator.extreme_name) if indicator.extreme_name else "",
        )
        for indicator in _INDICATORS
    ]


def host_charts(
    *,
    names: Mapping[int, str],
    hours: Mapping[int, Sequence[Hour]],
    starts: Sequence[datetime],
    added: Mapping[int, datetime],
    entered_bps: Mapping[int, float | None] | None = None,
) -> list[ChartSpec]:
    """Return a chart for each indicator that any endpoint's probes told; a point is the time between two starts.

    `names` are the endpoints' labels by id; with one endpoint the lines need none. Nothing is missing of the time
    before the first of them was `added`. `entered_bps` are the links' speeds that people entered.
    """
    first = min(added.values(), default=starts[0])
    starts = [begin for begin, end in pairwise(starts[:-1]) if end > first] + list(starts[-2:])
    speeds = entered_bps or {}
    figures = {endpoint_id: bucketed(hours[endpoint_id], starts, speeds.get(endpoint_id)) for endpoint_id in names}
    times = [rfc3339(start) for start in starts]
    length = _length(starts[1] - starts[0])
    charts = [_chart(indicator, names, figures, times, length) for indicator in _indicators(get_language())]
    return [chart for chart in charts if chart is not None]


def bucketed(hours: Sequence[Hour], starts: Sequence[datetime], entered_bps: float | None = None) -> list[Indicators]:
    """Add up the hours between each two starts; both are in order."""
    begins = [hour.hour for hour in hours]
    edges = [bisect_left(begins, start) for start in starts]
    return [indicators(hours[first:last], entered_bps) for first, last in pairwise(edges)]


def _chart(
    indicator: _Indicator,
    names: Mapping[int, str],
    figures: Mapping[int, Sequence[Indicators]],
    times: Sequence[str],
    length: str,
) -> ChartSpec | None:
    palette = Palette()
    y = indicator.y
    series: list[ChartSeries] = []
    for endpoint_id, name in names.items():
        for line in indicator.lines:
            label = " ".join(filter(None, [name if len(names) > 1 else "", line.label])) or y.label
            points = [(time, line.pick(point)) for time, point in zip(times, figures[endpoint_id], strict=False)]
            key = f"{endpoint_id}-{line.name or indicator.key}"
            mean = _mean_series(key, label, points, palette)
            series += [mean, _extreme_series(mean, points, indicator, line)] if line.extreme else [mean]
    if not any(point.y is not None for line in series for point in line.points):
        return None
    return ChartSpec(
        id=indicator.key,
        title=indicator.title,
        subtitle=_caption(indicator).format(length=length),
        form="time",
        x=replace(_X, label=_(_X.label)),
        y=y,
        series=series,
        lines=_links(names, figures) if indicator.has_link else [],
        table=_table(y, series),
    )


def _caption(indicator: _Indicator) -> str:
    if indicator.extreme_name:
        return _("each point is the mean of the probes of {length}, or its busiest minute")
    return _("each point is the mean of the probes of {length}; whiskers show the minimum and maximum")


def _mean_series(
    key: str, label: str, points: Sequence[tuple[str, ProbedMean | None]], palette: Palette
) -> ChartSeries:
    missing = _("not reported")
    return ChartSeries(
        id=key,
        label=label,
        color=palette.color(key),
        marker=palette.marker(key),
        points=[_mean_point(time, measured, missing) for time, measured in points],
    )


def _extreme_series(
    mean: ChartSeries, points: Sequence[tuple[str, ProbedMean | None]], indicator: _Indicator, line: _Line
) -> ChartSeries:
    extreme_of = attrgetter(line.extreme)
    extreme = indicator.extreme_name
    missing = _("not reported")
    return replace(
        mean,
        id=f"{mean.id}-extreme",
        label=mean.label + pgettext("between parts of a sentence", ", ") + extreme
        if mean.label != indicator.y.label
        else extreme,
        dash="dashed",
        marker="triangle",
        points=[
            _point(time, extreme_of(measured) if measured else None, measured, missing) for time, measured in points
        ],
    )


def _mean_point(time: str, measured: ProbedMean | None, missing: str) -> ChartPoint:
    if measured is None:
        return ChartPoint(time, None, reason=missing)
    if measured.least is None or measured.most is None:
        return ChartPoint(time, measured.mean, measured.n)
    return ChartPoint(time, measured.mean, measured.n, measured.least, measured.most)


def _point(time: str, value: float | None, measured: ProbedMean | None, missing: str) -> ChartPoint:
    if measured is None or value is None:
        return ChartPoint(time, None, reason=missing)
    return ChartPoint(time, value, measured.n)


def _links(names: Mapping[int, str], figures: Mapping[int, Sequence[Indicators]]) -> list[ReferenceLine]:
    """Return the speeds of the links, the latest of each endpoint; equal ones are one line."""
    latest = [_latest_link(figures[key]) for key in names]
    links = sorted({(end.link_bps, end.is_link_entered) for end in latest if end and end.link_bps})
    return [
        ReferenceLine(label=_("link, as entered") if is_entered else _("link"), y=speed) for speed, is_entered in links
    ]


def _latest_link(figures: Sequence[Indicators]) -> Indicators | None:
    """Return the latest time whose link is known, one that the kernel told before one that was entered."""
    known = [figure for figure in figures if figure.link_bps]
    return next(
        (indicators for indicators in reversed(known) if not indicators.is_link_entered), known[-1] if known else None
    )


def _table(y: Axis, series: Sequence[ChartSeries]) -> ChartTable:
    """Return a row for each time with every series' figure: a tenth of a row for each point."""
    columns = [{"key": "x", "label": _("From"), "unit": ""}]
    columns += [{"key": line.id, "label": line.label, "unit": y.unit} for line in series]
    lows = {line.id: [point.low for point in line.points] for line in series}
    spread = [line for line in series if lows[line.id].count(None) < len(line.points)]
    for line in spread:
        columns.append({"key": f"{line.id}-low", "label": _("{line}, lowest").format(line=line.label), "unit": y.unit})
        columns.append(
            {"key": f"{line.id}-high", "label": _("{line}, highest").format(line=line.label), "unit": y.unit}
        )
    columns.append({"key": "n", "label": "n", "unit": ""})
    # Column by column: of cell by cell there would be a thousand.
    figures: dict[str, Iterable[Any]] = {
        "x": [point.x for point in series[0].points],
        "n": map(max, zip(*([point.n for point in line.points] for line in series), strict=True)),
    }
    figures |= {line.id: [point.y for point in line.points] for line in series}
    for line in spread:
        figures[f"{line.id}-low"] = lows[line.id]
        figures[f"{line.id}-high"] = [point.high for point in line.points]
    rows = [dict(zip(figures, row, strict=True)) for row in zip(*figures.values(), strict=True)]
    return ChartTable(columns=columns, rows=rows)


def _length(step: timedelta) -> str:
    hours = round(step.total_seconds() / 3600)
    return _("an hour") if hours == 1 else _("{hours} hours").format(hours=hours)
