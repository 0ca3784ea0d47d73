"""Thresholds: list, add, change, archive, restore."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.catalog import catalog
from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment
from benchweb.plans.models import Plan
from benchweb.regressions.models import Alert, Threshold
from benchweb.regressions.thresholds import rules
from benchweb.regressions.transitions import AlertError
from benchweb.results.models import Series
from benchweb.web.access.once import once
from benchweb.web.shared.archiving import archive_page
from benchweb.web.shared.lists import choices_of, list_page, listing, part_of_query
from benchweb.web.thresholds.forms import ThresholdChangeForm, ThresholdForm, figure_value
from benchweb.web.thresholds.page import COLUMNS, SCOPES, threshold_row, thresholds_matching


@needs(Permission.READ)
@require_GET
def threshold_list(request: HttpRequest) -> HttpResponse:
    """List thresholds with the alerts that they have now."""
    filters = ("q", "archived", *SCOPES)
    page = listing(request, thresholds_matching(request.GET), columns=COLUMNS, sort="name", filters=filters)
    context = {
        "page": page,
        "rows": [threshold_row(row) for row in page.rows],
        "archived": request.GET.get("archived") == "1",
        "environments": choices_of(Environment.objects.filter(archived_at=None)),
        "plans": choices_of(Plan.objects.filter(archived_at=None)),
        "new_query": part_of_query(request.GET, SCOPES),
    }
    return list_page(request, "thresholds/thresholds.html", context)


@needs(Permission.WRITE)
@once
@require_http_methods(["GET", "POST"])
def threshold_new(request: HttpRequest) -> HttpResponse:
    """Add a threshold; the address may name its series, or its kind, metric, environment, pair and plan."""
    form = ThresholdForm(request.POST) if request.method == "POST" else ThresholdForm(initial=_initial(request))
    if request.method == "POST" and form.is_valid() and (values := form.values()):
        try:
            threshold = rules.threshold_create(values, by=cast(User, request.user))
            messages.success(request, _("Added: {name}. It judges runs that end from now on.").format(name=threshold))
            return redirect("web:thresholds")
        except AlertError as error:
            form.refuse("figure" if error.field in ("kind", "metric") else error.field, error.message)
    return _form_page(request, {"form": form, "title": _("Add a threshold")})


@needs(Permission.WRITE)
@require_http_methods(["GET", "POST"])
def threshold_edit(request: HttpRequest, threshold_id: int) -> HttpResponse:
    """Change a threshold's name, limit or severity."""
    threshold = get_object_or_404(thresholds_matching(QueryDict()), pk=threshold_id)
    form = ThresholdChangeForm(request.POST) if request.method == "POST" else ThresholdChangeForm.of(threshold)
    if request.method == "POST" and form.is_valid() and _is_updated(threshold, form):
        return redirect("web:thresholds")
    title = _("Edit {name}").format(name=threshold.name)
    return _form_page(request, {"form": form, "title": title, "row": threshold_row(threshold)})


@needs(Permission.WRITE)
@require_http_methods(["GET", "POST"])
def threshold_archive(request: HttpRequest, threshold_id: int) -> HttpResponse:
    """Ask, then archive a threshold."""
    threshold = get_object_or_404(Threshold, pk=threshold_id, archived_at=None)
    live = Alert.objects.filter(ended_at=None, series__threshold=threshold).distinct().count()

    def act() -> bool:
        rules.threshold_archive(threshold=threshold, by=cast(User, request.user))
        return True

    losses = [_("Runs are no longer judged by it.")]
    if live:
        losses.append(_("Its live alerts are marked as fixed."))
    return archive_page(
        request,
        title=_("threshold {name}").format(name=threshold.name),
        losses=losses,
        back=reverse("web:thresholds"),
        done=reverse("web:thresholds"),
        undo=reverse("web:threshold_restore", args=[threshold.pk]),
        act=act,
    )


@needs(Permission.WRITE)
@require_POST
def threshold_restore(request: HttpRequest, threshold_id: int) -> HttpResponse:
    """Take up an archived threshold again."""
    threshold = get_object_or_404(Threshold, pk=threshold_id)
    rules.threshold_restore(threshold=threshold)
    messages.success(request, _("Threshold {name} is restored.").format(name=threshold.name))
    return redirect("web:thresholds")


def _is_updated(threshold: Threshold, form: ThresholdChangeForm) -> bool:
    limit = form.limit_value(threshold.relation, catalog().metrics[threshold.metric])
    if limit is None:
        return False
    data = form.cleaned_data
    try:
        rules.threshold_update(threshold=threshold, name=data["name"], limit=limit, severity=data["severity"])
    except AlertError as error:
        form.refuse(error.field, error.message)
        return False
    return True


def _initial(request: HttpRequest) -> dict[str, Any]:
    """Return what an address says of a new threshold; a series names its kind, its metric and its pair."""
    query = request.GET
    initial: dict[str, Any] = {name: query.get(name) for name in SCOPES}
    kind, metric = query.get("kind", ""), query.get("metric", "")
    series = Series.objects.filter(pk=row_id(query.get("series", "")) or 0).first()
    if series is not None:
        kind, metric, initial["pair"] = series.kind, series.metric, series.pair_id
    known = catalog().metrics.get(metric)
    if known is not None and known.better == "lower":
        initial["relation"] = Threshold.Relation.ABOVE
    return initial | {"figure": figure_value(kind, metric)}


def _form_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    return render(request, "thresholds/form.html", context | {"back": reverse("web:thresholds")})
