"""The charts of an alert: the series that it is named by around the change, and others of its group, small."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta, tzinfo
from typing import NamedTuple

from django.utils.translation import gettext as _

from benchweb.catalog import Kind, Metric, catalog
from benchweb.catalog.translation import sentence_space
from benchweb.charts.alerts.points import Around, around
from benchweb.charts.canary_charts import canary_charts
from benchweb.charts.changes.levels import levels_of
from benchweb.charts.export import pair_ids
from benchweb.charts.history.charts import history
from benchweb.charts.history.line_names import setting_parts
from benchweb.charts.history.query import HistoryQuery
from benchweb.charts.lines import COLORS, marker_of
from benchweb.charts.table import chart_table
from benchweb.common.addresses import site_path
from benchweb.documents.charts import (
    Axis,
    ChartBand,
    ChartLevel,
    ChartRing,
    ChartSeries,
    ChartSpec,
    Measured,
    ReferenceLine,
)
from benchweb.documents.moments import rfc3339
from benchweb.documents.references import Label, endpoint_ref, host_ref, joined_label, pair_ref
from benchweb.hosts.canaries import UNITS
from benchweb.regressions.alert_texts import canary_text
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.regressions.selectors import parts_named_first

# Beside the series that names the alert so many others are drawn; a page of fifty charts is none.
MOST_BESIDE = 8
# What a host measured alone is of a run's night where it lies no further from it.
_NEAR_RUN = timedelta(hours=6)
_SUSPECT = (Alert.State.SUSPECT, Alert.State.CONFIRMING)


class _Drawn(NamedTuple):
    """A series' part in an alert, with all that draws it."""

    part: AlertSeries
    kind: Kind
    metric: Metric
    around: Around
    title: Label


def alert_charts(alert: Alert, *, zone: tzinfo) -> list[ChartSpec]:
    """Draw an alert's series, the one that names it first and large, then what its host measured alone; nine queries.

    Series that have left the catalog are left out, and none is drawn of an alert about missing results.
    """
    drawn = _drawn(_parts(alert))
    if not drawn:
        return []
    return [*_large(alert, drawn[0], zone), *_canary(alert, drawn[0]), *(_small(series) for series in drawn[1:])]


def part_titles(parts: Sequence[AlertSeries]) -> dict[int, Label]:
    """Name each series by its metric and by the settings that any of its kind states, defaults included.

    Those whose kind has left the catalog are left out.
    """
    titles = {}
    for kind in {part.series.kind: catalog().kinds.get(part.series.kind) for part in parts}.values():
        its = [part for part in parts if kind and part.series.kind == kind.name]
        if kind is None:
            continue
        for part, settings in zip(its, setting_parts([part.series.identity for part in its], kind), strict=True):
            metric = kind.metrics.get(part.series.metric)
            titles[part.pk] = joined_label([metric.label if metric else part.series.metric, *settings.values()])
    return titles


def _parts(alert: Alert) -> Sequence[AlertSeries]:
    """Return the series that are drawn."""
    parts = parts_named_first(alert).select_related("first_bad_run", "recovered_run", "alert")
    return list(parts[: MOST_BESIDE + 1])


def _drawn(parts: Sequence[AlertSeries]) -> list[_Drawn]:
    rows, titles = around([part.pk for part in parts]), part_titles(parts)
    drawn = []
    for part in parts:
        kind = catalog().kinds.get(part.series.kind)
        metric = kind.metrics.get(part.series.metric) if kind else None
        if kind and metric and part.pk in rows:
            drawn.append(_Drawn(part, kind, metric, rows[part.pk], titles[part.pk]))
    return drawn


def _large(alert: Alert, drawn: _Drawn, zone: tzinfo) -> list[ChartSpec]:
    """Draw the series as its history is drawn, with notes, facts and gaps; the axis fits the change."""
    series, rows = drawn.part.series, drawn.around.figures
    span = rows[0].at, rows[-1].at
    query = HistoryQuery(kind=series.kind, metric=series.metric, series=(series.pk,), whole=span, span=span, zone=zone)
    return [_of_alert(chart, alert, drawn) for chart in history(query, drawn.kind).charts]


def _of_alert(chart: ChartSpec, alert: Alert, drawn: _Drawn) -> ChartSpec:
    part, rows = drawn.part, drawn.around.figures
    strip = chart.strip.y if chart.strip else None
    others = [mark for mark in chart.marks if mark.href != site_path(f"/alerts/{alert.pk}")]
    return replace(
        chart,
        id="alert",
        title=drawn.title,
        subtitle=chart.subtitle + sentence_space() + _level_words(part),
        y=replace(chart.y, from_zero=_is_of_limit(part)),
        levels=_levels(part, rows),
        lines=[*chart.lines, *_limit_lines(part)],
        rings=_rings(part, rows),
        marks=others,
        table=chart_table(chart.x, chart.y, strip=strip, has_levels=True, has_rings=True),
    )


def _canary(alert: Alert, drawn: _Drawn) -> list[ChartSpec]:
    """Draw what the alert's host measured alone in the same nights, where that is told."""
    canary, pair, figures = alert.params.get("canary"), drawn.part.series.pair, drawn.around.figures
    if not canary or not canary_text(alert):
        return []
    ends = [end for end in (pair.source, pair.sink) if end.host_id == canary["host"]]
    charts = canary_charts(
        names={end.pk: endpoint_ref(end) for end in ends},
        from_time=figures[0].at - _NEAR_RUN,
        to_time=figures[-1].at + _NEAR_RUN,
        metrics=[metric for metric in UNITS if metric == canary.get("metric")],
    )
    name = host_ref(ends[0].host_id, ends[0].host.name) if ends else Label()
    return [replace(chart, title=joined_label([name, chart.title])) for chart in charts]


def _small(drawn: _Drawn) -> ChartSpec:
    part, kind, metric, (position, rows), title = drawn
    series = part.series
    label = metric.quantity[:1].upper() + metric.quantity[1:]
    x, y = Axis(label=_("Time"), unit="", scale="time"), Axis(label=label, unit=metric.unit)
    line = ChartSeries(
        id=f"series-{series.pk}",
        label=pair_ref(series.pair),
        color=position % COLORS,
        marker=marker_of(position),
        measured=rows,
        bands=[ChartBand(_("lowest to highest"))],
        ids=pair_ids(series.pair),
    )
    return ChartSpec(
        id=f"alert-{series.pk}",
        title=title,
        subtitle=joined_label([kind.label, pair_ref(series.pair)]),
        form="time",
        x=x,
        y=y,
        series=[line],
        levels=_levels(part, rows),
        lines=_limit_lines(part),
        rings=_rings(part, rows),
        table=chart_table(x, y, has_levels=True, has_rings=True),
        x_from=rfc3339(rows[0].at),
        x_to=rfc3339(rows[-1].at),
        # Each has its own axis: how far it moved is what is looked at.
        scale_group=f"alert-{series.pk}",
    )


def _is_of_limit(part: AlertSeries) -> bool:
    return part.threshold_id is not None


def _levels(part: AlertSeries, rows: Sequence[Measured]) -> list[ChartLevel]:
    """Return the levels before and after a change; what breaks a limit has changed from nothing."""
    return [] if _is_of_limit(part) else levels_of([part], rows)


def _limit_lines(part: AlertSeries) -> list[ReferenceLine]:
    return [ReferenceLine(_("limit"), part.before)] if _is_of_limit(part) else []


def _rings(part: AlertSeries, rows: Sequence[Measured]) -> list[ChartRing]:
    first_bad = _("suspect") if part.alert.state in _SUSPECT else _("first bad run")
    if _is_of_limit(part):
        first_bad = _("first run beyond the limit")
    rings = []
    for row in rows:
        if row.run == part.first_bad_run_id:
            rings.append(ChartRing(rfc3339(row.at), row.median, first_bad, "change"))
        if row.run == part.rerun_id:
            rings.append(ChartRing(rfc3339(row.at), row.median, _("measured again"), "again"))
    return rings


def _level_words(part: AlertSeries) -> str:
    if _is_of_limit(part):
        return _("The thin line is the limit.")
    if part.interval_low_ratio is None:
        return _("Thick lines are the levels before and after. The vertical axis does not begin at zero.")
    return _(
        "Thick lines are the levels before and after, the shaded part the interval of the difference."
        " The vertical axis does not begin at zero."
    )
