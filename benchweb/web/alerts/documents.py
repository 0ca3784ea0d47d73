"""An alert, and the alerts of a night, as documents."""

from collections.abc import Sequence
from datetime import tzinfo

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.charts.alerts.charts import alert_charts
from benchweb.documents.document import (
    Badge,
    Document,
    DocumentCell,
    DocumentSection,
    DocumentTable,
    MeasuredValue,
    Moment,
)
from benchweb.documents.references import Label, environment_ref, free_text, host_ref, joined_label, pair_ref
from benchweb.regressions.models import Alert
from benchweb.regressions.outliers import NightOutlier
from benchweb.web.alerts.morning import MorningAlert, MorningPage
from benchweb.web.alerts.page import AlertPage, alert_page
from benchweb.web.alerts.why_page import WhyPage, WhyRow, why_page

_LIVE = (Alert.State.OPEN, Alert.State.ACKNOWLEDGED, Alert.State.CONFIRMING)


def alert_document(alert: Alert, zone: tzinfo) -> Document:
    """Return what the page of an alert shows, its charts included; the alert comes as `selectors.alerts` has it."""
    page = alert_page(alert)
    sections = [
        DocumentSection("charts", _("Charts"), charts=alert_charts(alert, zone=zone)),
        DocumentSection("series", _("Series"), tables=_series(page)),
        _why(why_page(alert)),
    ]
    begun = alert.begun_at.astimezone(zone)
    facts = [
        Label(host_ref(fact.host_id, fact.host), ": ", free_text("; ".join(fact.words)))
        for fact in page.explanation.facts
    ]
    state = str(alert.get_state_display())
    return Document(
        title=page.title,
        lines=[
            f"{state} · {alert.get_severity_display()}",
            _("Began %(at)s.") % {"at": f"{begun:%Y-%m-%d %H:%M} {begun.tzinfo}"},
            *facts,
        ],
        sections=[section for section in sections if not section.is_empty],
        made_at=timezone.now(),
        badge=Badge(_("alert"), state, is_bad=alert.state in _LIVE),
    )


def _why(page: WhyPage | None) -> DocumentSection:
    """Return what may be why; nothing of an alert without series.

    Who reads a share may know the alert's own hosts alone: others are counted, and notes are left out.
    """
    if page is None:
        return DocumentSection("why", "")
    columns = [_("What happened"), _("Hosts"), _("Evidence"), _("Chance")]
    rows: list[Sequence[DocumentCell]] = [
        [row.evidence.words, _hosts(page, row), row.text, row.chance]
        for row in (*page.likely, *page.unlikely)
        if row.evidence.kind != "note"
    ]
    return DocumentSection("why", _("Why?"), tables=[DocumentTable("", columns, rows, notes=[page.conclusion])])


def _hosts(page: WhyPage, row: WhyRow) -> Label:
    hosts = row.evidence.hosts
    own = [host_ref(host_id, name) for host_id, name in hosts.items() if host_id in page.why.own_hosts]
    left = len(hosts) - len(own)
    more = ngettext("{count:,} other", "{count:,} others", left).format(count=left) if left else ""
    return joined_label([*own, more], ", ")


def _series(page: AlertPage) -> list[DocumentTable]:
    words = page.words
    columns = [_("Figure"), _("Pair"), words.before, words.after, words.difference, _("Interval"), words.back]
    rows: list[Sequence[DocumentCell]] = [
        [
            line.figure,
            pair_ref(line.part.series.pair),
            MeasuredValue(line.part.before, line.unit),
            MeasuredValue(line.part.after, line.unit),
            line.difference,
            line.interval,
            Moment(line.back_at) if line.back_at else "",
        ]
        for line in page.series
    ]
    return [DocumentTable("", columns, rows, [2, 3, 4, 5])] if rows else []


def morning_document(page: MorningPage) -> Document:
    """Return what a night gave; its badge is whether all is quiet, or how many alerts are left."""
    left = ngettext("%(count)s open alert", "%(count)s open alerts", page.left) % {"count": page.left}
    columns = [_("Alert"), _("State"), _("Began")]
    sections = [
        DocumentSection(
            f"alerts-{number}",
            title,
            tables=[
                DocumentTable(
                    "",
                    columns,
                    list(map(_night_row, rows)),
                )
            ],
        )
        for number, (title, _empty, rows) in enumerate(page.sections)
        if rows
    ]
    if stands_out := [*map(_night_row, page.suspects), *map(_outlier_row, page.summary.outliers)]:
        table = DocumentTable("", [_("What"), _("State"), _("Began")], stands_out)
        sections.insert(1, DocumentSection("unconfirmed", _("What stands out, not confirmed"), tables=[table]))
    if page.slow:
        lines: list[Sequence[DocumentCell]] = [[line.title, line.details] for line in page.slow]
        slow = DocumentTable("", [_("Series"), _("Change")], lines)
        sections.append(DocumentSection("slow", _("Slowly changing"), tables=[slow]))
    why = _why(why_page(*page.changed) if page.changed else None)
    return Document(
        title=joined_label([_("Night of {night}").format(night=page.night), *page.scope.names]),
        lines=[" ".join(filter(None, [page.verdict, page.rests_on])), page.bounds],
        sections=sections if why.is_empty else [*sections, why],
        made_at=timezone.now(),
        badge=Badge(_("last night"), left if page.left else page.verdict or page.rests_on, is_bad=bool(page.left)),
    )


def _outlier_row(figure: NightOutlier) -> Sequence[str | Moment]:
    value, usual = (MeasuredValue(each, figure.metric.unit) for each in (figure.median, figure.change.baseline))
    what = joined_label([environment_ref(figure.environment), figure.metric.label, figure.kind.label])
    return [what, f"{value} ({pgettext('figures', 'usual')} {usual})", ""]


def _night_row(row: MorningAlert) -> Sequence[str | Moment]:
    return [row.title, str(row.alert.get_state_display()), Moment(row.alert.begun_at)]
