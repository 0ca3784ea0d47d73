"""A view of the dashboard made into charts and texts that can be shared: history, matrix, comparison, alert, pair."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.http import HttpRequest, QueryDict
from django.urls import Resolver404, resolve
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.catalog import catalog
from benchweb.catalog.translation import reason_text
from benchweb.charts.alerts.charts import alert_charts
from benchweb.common.formatting import quantity, repetitions
from benchweb.documents.charts import ChartSpec, charts_text
from benchweb.hosts.models import Pair
from benchweb.regressions.models import Alert
from benchweb.regressions.selectors import alerts
from benchweb.reports.content import report_document
from benchweb.reports.models import Report
from benchweb.results.latest_medians import matrix_environments
from benchweb.results.run_summaries import deviation_of
from benchweb.results.series_summaries import SeriesScope, series_summaries
from benchweb.runs.models import FAULTY_STATES
from benchweb.schedules.models import Schedule
from benchweb.sharing.frozen import unlinked
from benchweb.sharing.frozen_views import LONGEST_PATH, FrozenSection, FrozenTable, FrozenView, NotShareable
from benchweb.state_words import state_word
from benchweb.web.alerts.morning import morning_of
from benchweb.web.alerts.page import alert_page
from benchweb.web.history.page import history_view
from benchweb.web.matrix.cells import DisplayedCell
from benchweb.web.matrix.page import filled_matrix, matrix_view
from benchweb.web.matrix.query import matrix_query
from benchweb.web.schedules.rows import SlotRow, slot_rows
from benchweb.web.schedules.words import when_words
from benchweb.web.shared.zones import COOKIE, reader_zone
from benchweb.web.tags.show import kind_label, params_text
from benchweb.web.tags.sparklines import signed_percent
from benchweb.web.view_shares.comparing import compared_view


def built_in_languages(path: str, zone: str) -> dict[str, FrozenView]:
    """Make a view in each language; raise NotShareable."""
    return {language: built(path, zone, language) for language, _name in settings.LANGUAGES}


def built(path: str, zone: str, language: str) -> FrozenView:
    """Make the view at an address of the dashboard as a reader in a zone sees it; raise NotShareable."""
    parts = urlsplit(path)
    try:
        match = resolve(parts.path)
    except Resolver404 as error:
        raise NotShareable(path) from error
    builder = _BUILDERS.get(match.url_name or "")
    if builder is None or parts.scheme or parts.netloc or len(path) > LONGEST_PATH:
        raise NotShareable(path)
    request = HttpRequest()
    request.method, request.path = "GET", parts.path
    request.GET = QueryDict(parts.query)
    request.COOKIES = {COOKIE: zone}
    with translation.override(language):
        return builder(request, **match.kwargs)


def _history(request: HttpRequest) -> FrozenView:
    view = history_view(request)
    first, last = (at.astimezone(view.query.zone) for at in view.query.span)
    return FrozenView(
        title=f"{view.heading} · {_('History')}" if view.heading else _("History"),
        lines=[f"{first:%Y-%m-%d %H:%M} – {last:%Y-%m-%d %H:%M} {view.query.zone}"],
        made_at=timezone.now(),
        charts=_charts(view.charts),
    )


def _matrix(request: HttpRequest) -> FrozenView:
    environments = matrix_environments()
    view = matrix_view(filled_matrix(matrix_query(request, environments)))
    test = view.test
    lines = [" · ".join([kind_label(test.kind), params_text(test.kind, view.settings)])] if test else []
    lines += [f"{table.environment.name}: {table.words}." for table in view.tables if table.words]
    return FrozenView(
        title=f"{view.metric.label} · {_('Matrix')}",
        lines=lines,
        made_at=timezone.now(),
        tables=[
            FrozenTable(
                title=table.environment.name,
                columns=[_("from ↓ to →"), *(_item(item) for item in table.columns)],
                rows=[[_item(row.item), *map(_cell, row.cells)] for row in table.rows],
                numeric=list(range(1, len(table.columns) + 1)),
            )
            for table in view.tables
        ],
        is_synthetic=any(table.environment.is_synthetic for table in view.tables),
    )


def _item(item: Any) -> str:
    return f"{item.label} ({item.detail})" if item.detail else str(item.label)


def _cell(cell: DisplayedCell) -> str:
    if cell.figure is None:
        return cell.word
    missed = _("missed") if cell.is_missed else ""
    return "\n".join(filter(None, [str(cell.figure), cell.meta, cell.change, f"{cell.target} {missed}".strip()]))


def _alert(request: HttpRequest, alert_id: int) -> FrozenView:
    row = alerts().filter(pk=alert_id).first()
    if row is None:
        raise NotShareable(alert_id)
    page = alert_page(row)
    columns = [_("Figure"), _("Pair"), _("Before"), _("After"), _("Difference"), _("Interval")]
    rows = [
        [
            line.figure,
            str(line.part.series.pair),
            str(quantity(line.part.before, line.unit)),
            str(quantity(line.part.after, line.unit)),
            line.difference,
            line.interval,
        ]
        for line in page.series
    ]
    begun = row.begun_at.astimezone(reader_zone(request))
    facts = [f"{fact.host}: {'; '.join(fact.words)}" for fact in page.explanation.facts]
    return FrozenView(
        title=page.title,
        lines=[
            f"{row.get_state_display()} · {row.get_severity_display()}",
            _("Began %(at)s.") % {"at": f"{begun:%Y-%m-%d %H:%M} {begun.tzinfo}"},
            *facts,
        ],
        made_at=timezone.now(),
        charts=_charts(alert_charts(row, zone=reader_zone(request))),
        tables=[FrozenTable(title=_("Series"), columns=columns, rows=rows, numeric=[2, 3, 4, 5])] if rows else [],
        badge_label=_("alert"),
        badge_value=str(row.get_state_display()),
        is_bad=row.state in (Alert.State.OPEN, Alert.State.ACKNOWLEDGED, Alert.State.CONFIRMING),
    )


def _morning(request: HttpRequest) -> FrozenView:
    """Return what a night gave; its badge is whether all is quiet, or how many alerts are left."""
    page = morning_of(request.GET)
    left = ngettext("%(count)s open alert", "%(count)s open alerts", page.left) % {"count": page.left}
    columns = [_("Alert"), _("State"), _("Began")]
    tables = [
        FrozenTable(title=title, columns=columns, rows=[row.texts for row in rows])
        for title, _empty, rows in page.sections
        if rows
    ]
    return FrozenView(
        title=" · ".join([_("Night of {night}").format(night=page.night), *page.scope.names]),
        lines=[" ".join(filter(None, [page.verdict, page.rests_on]))],
        made_at=timezone.now(),
        tables=tables,
        badge_label=_("last night"),
        badge_value=left if page.left else page.verdict or page.rests_on,
        is_bad=bool(page.left),
    )


def _pair(request: HttpRequest, pair_id: int) -> FrozenView:
    """Return the headlines of a pair, and the first of them as its badge."""
    pair = Pair.objects.select_related("source__host", "sink__host", "environment").filter(pk=pair_id).first()
    if pair is None:
        raise NotShareable(pair_id)
    summaries = series_summaries(scope=SeriesScope(pair=pair_id), most=_MOST_SERIES)
    rows, badge = [], ("", "", False)
    kinds = catalog().kinds
    order = list(kinds)
    for summary in sorted(summaries, key=lambda summary: (order.index(summary.kind), -summary.median)):
        metric = kinds[summary.kind].metrics[summary.metric]
        change = deviation_of(summary.medians, metric)
        is_changed = change is not None and change.is_significant
        ratio = change.ratio if change else None
        changed = signed_percent(ratio) if is_changed and ratio is not None else _("no significant change")
        value = str(quantity(summary.median, metric.unit))
        spread = repetitions(summary.median, (summary.low, summary.high), metric.unit, summary.n)
        test = " · ".join([kind_label(summary.kind), metric.label, params_text(summary.kind, summary.identity)])
        rows.append([test, f"{value} · {spread}", changed, f"{summary.at:%Y-%m-%d %H:%M} UTC"])
        if not badge[0]:
            is_bad = is_changed and ratio is not None and (ratio > 0) == (metric.better == "lower")
            badge = (f"{pair} {metric.label.lower()}", f"{value} {changed}" if is_changed else value, is_bad)
    columns = [_("Test"), _("Latest"), _("Against the runs before"), _("Measured")]
    return FrozenView(
        title=f"{pair} · {pair.environment.name}",
        lines=[],
        made_at=timezone.now(),
        tables=[FrozenTable(title=_("Latest results"), columns=columns, rows=rows, numeric=[1, 2])],
        is_synthetic=pair.source.host.is_synthetic or pair.sink.host.is_synthetic,
        badge_label=badge[0],
        badge_value=badge[1],
        is_bad=badge[2],
    )


def _schedule(request: HttpRequest, schedule_id: int) -> FrozenView:
    """Return the latest slots of a schedule; its badge is how many runs of the latest are complete."""
    schedule = Schedule.objects.select_related("plan").filter(pk=schedule_id).first()
    if schedule is None:
        raise NotShareable(schedule_id)
    zone = reader_zone(request)
    slots = slot_rows(list(schedule.slots.select_related("campaign").order_by("-at")[:_MOST_SLOTS]))
    rows = [
        [
            f"{row.slot.at.astimezone(zone):%Y-%m-%d %H:%M}",
            state_word(row.slot.state),
            _complete(row) if row.summary else "",
            reason_text(row.why),
        ]
        for row in slots
    ]
    latest = next((row for row in slots if row.summary), None)
    live = Alert.objects.filter(schedule=schedule_id, state=Alert.State.OPEN).count()
    alerts_open = ngettext("%(count)s open alert", "%(count)s open alerts", live) % {"count": live} if live else ""
    complete = _("%(runs)s runs complete") % {"runs": _complete(latest)} if latest else ""
    return FrozenView(
        title=f"{schedule.name} · {_('Schedule')}",
        lines=[
            f"{schedule.plan.name} · {when_words(schedule.cron, schedule.every)} · {schedule.timezone}",
            alerts_open,
        ],
        made_at=timezone.now(),
        tables=[
            FrozenTable(
                title=_("Slots"), columns=[_("Slot"), _("State"), _("Runs"), _("Reason")], rows=rows, numeric=[2]
            )
        ],
        is_synthetic=schedule.plan.is_synthetic,
        badge_label=schedule.name,
        badge_value=" · ".join(filter(None, [complete, alerts_open])),
        is_bad=bool(live) or (latest is not None and latest.slot.state in FAULTY_STATES),
    )


def _complete(row: SlotRow) -> str:
    total = row.summary.total if row.summary else 0
    return _("%(finished)s of %(total)s") % {"finished": row.finished, "total": total}


def _compare(request: HttpRequest) -> FrozenView:
    title, lines, charts, table = compared_view(request)
    tables = [table] if table else []
    return FrozenView(title=title, lines=lines, made_at=timezone.now(), charts=_charts(charts), tables=tables)


def _report(request: HttpRequest, report_id: int) -> FrozenView:
    report = Report.objects.filter(pk=report_id).first()
    if report is None:
        raise NotShareable(report_id)
    document = report_document(report)
    return FrozenView(
        title=document.title,
        lines=[" · ".join(document.lines)],
        made_at=timezone.now(),
        charts=[chart for section in document.sections for chart in _charts(section.charts)],
        sections=[
            FrozenSection(
                key=section.key,
                title=section.title,
                text=section.text,
                tables=[FrozenTable(**asdict(table)) for table in section.tables],
                charts=_charts(section.charts),
            )
            for section in document.sections
        ],
        is_synthetic=document.is_synthetic,
    )


def _charts(charts: Sequence[ChartSpec]) -> list[dict[str, Any]]:
    return [unlinked(chart) for chart in orjson.loads(charts_text(charts))]


_MOST_SERIES, _MOST_SLOTS = 100, 20
_BUILDERS: dict[str, Callable[..., FrozenView]] = {
    "history": _history,
    "matrix": _matrix,
    "compare": _compare,
    "alert": _alert,
    "morning": _morning,
    "pair": _pair,
    "schedule": _schedule,
    "report": _report,
}
