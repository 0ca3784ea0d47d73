"""The list of thresholds: what each limits, for which runs, and the alert that it has now."""

from dataclasses import dataclass

from django.db.models import OuterRef, QuerySet, Subquery
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from benchweb.catalog import catalog
from benchweb.common.names import searched
from benchweb.regressions.alert_texts import figure_name
from benchweb.regressions.models import Alert, AlertSeries, Threshold
from benchweb.regressions.thresholds.rules import limit_text, limit_unit, with_test
from benchweb.web.shared.lists import Column, within_scopes
from benchweb.web.tags.show import params_text

COLUMNS = [
    Column(gettext_noop("Threshold"), "name"),
    Column(gettext_noop("Figure")),
    Column(gettext_noop("Limit")),
    Column(gettext_noop("Runs")),
    Column(gettext_noop("Severity")),
    Column(gettext_noop("Alert")),
    Column(gettext_noop("Action"), numeric=True),
]
SCOPES = ("environment", "pair", "plan")


@dataclass(frozen=True)
class ThresholdRow:
    """A threshold in words; `alert_id` is that of its live alert, None for none."""

    threshold: Threshold
    figure: str
    limit: str
    scope: str
    severity: str
    alert_id: int | None
    alert_state: str


def threshold_rows() -> "QuerySet[Threshold, Threshold]":
    """Return all thresholds with their scopes and the alerts that they have now."""
    live = AlertSeries.objects.filter(threshold=OuterRef("pk"), alert__ended_at=None).order_by("-alert")
    ends = ("environment", "pair__source__host", "pair__sink__host", "plan")
    return with_test(Threshold.objects.select_related(*ends)).annotate(
        alert_id=Subquery(live.values("alert")[:1]), alert_state=Subquery(live.values("alert__state")[:1])
    )


def thresholds_matching(query: QueryDict) -> "QuerySet[Threshold, Threshold]":
    """Return the thresholds that an address means; those for all runs are among those of any pair or plan."""
    rows = threshold_rows().filter(archived_at__isnull=query.get("archived") != "1")
    rows = within_scopes(rows, query, SCOPES)
    if text := searched(query.get("q", "")):
        rows = rows.filter(name__icontains=text)
    return rows


def threshold_row(threshold: Threshold) -> ThresholdRow:
    """Return a threshold's row; it comes from `thresholds_matching`."""
    state = getattr(threshold, "alert_state", None)
    return ThresholdRow(
        threshold=threshold,
        figure=figure_name(threshold.kind, threshold.metric),
        limit=limit_words(threshold),
        scope=scope_words(threshold),
        severity=str(Alert.Severity(threshold.severity).label),
        alert_id=getattr(threshold, "alert_id", None),
        alert_state=str(Alert.State(state).label) if state else "",
    )


def limit_words(threshold: Threshold) -> str:
    """Say the limit with its side, such as below 800 Mbit/s."""
    metric = catalog().metrics.get(threshold.metric)
    unit = limit_unit(threshold.relation, metric) if metric else ""
    limit = f"{threshold.get_relation_display()} {limit_text(threshold.limit, unit)}"
    runs = threshold.runs_in_row
    if runs == 1:
        return limit
    return ngettext("{limit}, {count} run in a row", "{limit}, {count} runs in a row", runs).format(
        limit=limit, count=runs
    )


def scope_words(threshold: Threshold) -> str:
    """Say which runs are judged by it."""
    parts = [str(part) for part in (threshold.environment, threshold.pair, threshold.plan) if part is not None]
    if threshold.identity_digest:
        identity = getattr(threshold, "identity", None)
        parts.append(_("one test") if identity is None else params_text(threshold.kind, identity))
    return " · ".join(parts) or _("all runs")
