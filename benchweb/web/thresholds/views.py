"""Thresholds: list, add, change, archive, restore."""

from collections.abc import Sequence
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.catalog import catalog
from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment
from benchweb.plans.models import Plan
from benchweb.regressions.models import Alert, Threshold
from benchweb.regressions.thresholds import rules
from benchweb.regressions.thresholds.rehearsal import DAYS, rehearsal
from benchweb.regressions.transitions import AlertError
from benchweb.results.models import Series
from benchweb.web.shared.lists import choices_of, part_of_query
from benchweb.web.shared.plain_pages import PlainFormPages
from benchweb.web.thresholds.forms import ThresholdChangeForm, ThresholdForm, figure_value
from benchweb.web.thresholds.page import COLUMNS, SCOPES, threshold_row, threshold_rows, thresholds_matching


class ThresholdPages(PlainFormPages[Threshold, ThresholdForm, ThresholdChangeForm]):
    """Thresholds, listed with the alerts that they have now."""

    model = Threshold
    name, path, list_name = "threshold", "thresholds", "thresholds"
    noun = gettext_lazy("threshold {name}")
    restored = gettext_lazy("Threshold {name} is restored.")
    list_template, columns, filters = "thresholds/thresholds.html", COLUMNS, ("q", "archived", *SCOPES)
    new_form, change_form, form_template = ThresholdForm, ThresholdChangeForm, "thresholds/form.html"
    add_title = gettext_lazy("Add a threshold")

    def rows(self) -> "QuerySet[Threshold]":
        return threshold_rows()

    def matching(self, query: QueryDict) -> "QuerySet[Threshold]":
        return thresholds_matching(query)

    def list_context(self, request: HttpRequest, rows: Sequence[Threshold]) -> dict[str, Any]:
        return {
            "rows": [threshold_row(row) for row in rows],
            "environments": choices_of(Environment.objects.filter(archived_at=None)),
            "plans": choices_of(Plan.objects.filter(archived_at=None)),
            "new_query": part_of_query(request.GET, SCOPES),
        }

    def losses(self, row: Threshold) -> list[str]:
        live = Alert.objects.filter(ended_at=None, series__threshold=row)
        of_alerts = [_("Its live alerts are marked as fixed.")] if live.exists() else []
        return [_("Runs are no longer judged by it."), *of_alerts]

    def archive(self, row: Threshold, by: User) -> None:
        rules.threshold_archive(threshold=row, by=by)

    def restore(self, row: Threshold, request: HttpRequest) -> None:
        rules.threshold_restore(threshold=row)

    def initial(self, request: HttpRequest) -> dict[str, Any]:
        """Return what an address says of a new threshold; a series names its kind, its metric and its pair."""
        query = request.GET
        initial: dict[str, Any] = {name: query.get(name) for name in SCOPES}
        kind, metric = query.get("kind", ""), query.get("metric", "")
        series = Series.objects.filter(pk=row_id(query.get("series", "")) or 0).first()
        if series is not None:
            kind, metric, initial["pair"] = series.kind, series.metric, series.pair_id
            initial |= {"series": series.pk, "test": series.identity_digest}
        known = catalog().metrics.get(metric)
        if known is not None and known.better == "lower":
            initial["relation"] = Threshold.Relation.ABOVE
        return initial | {"figure": figure_value(kind, metric)}

    def create(self, form: ThresholdForm, request: HttpRequest) -> Threshold:
        threshold = rules.threshold_create(form.values(), by=cast(User, request.user))
        messages.success(request, _("Added: {name}. It judges runs that end from now on.").format(name=threshold))
        return threshold

    def update(self, row: Threshold, form: ThresholdChangeForm) -> None:
        limit, data = form.limit_value(row.relation, catalog().metrics[row.metric]), form.cleaned_data
        rules.threshold_update(threshold=row, **data | {"limit": limit})

    def form_context(self, row: Threshold | None) -> dict[str, Any]:
        return {"row": threshold_row(row)} if row else {}


@needs(Permission.READ)
@require_POST
def threshold_preview(request: HttpRequest) -> HttpResponse:
    """Say what the threshold of a form that is being filled in would have done lately."""
    # A name is not needed for it.
    data = request.POST.copy()
    data["name"] = data.get("name") or "-"
    form = ThresholdForm(data)
    context: dict[str, Any] = {"days": DAYS}
    if form.is_valid():
        try:
            values = form.values()
        except AlertError:
            values = None
        if values is not None:
            context |= {"values": values, "unit": catalog().metrics[values.metric].unit}
            if values.relation != Threshold.Relation.BASELINE:
                context["seen"] = rehearsal(values)
    return render(request, "thresholds/partials/preview.html", context)
