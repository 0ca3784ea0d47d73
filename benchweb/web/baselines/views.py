"""Baselines: list, pin a run, unpin, restore."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.names import searched
from benchweb.common.rows import row_id
from benchweb.regressions import baselines
from benchweb.regressions.models import Baseline
from benchweb.regressions.transitions import AlertError
from benchweb.runs.selectors import runs_named
from benchweb.web.access.once import once
from benchweb.web.shared.archiving import archive_page
from benchweb.web.shared.forms import PageForm, text_field
from benchweb.web.shared.lists import Column, list_page, listing

_COLUMNS = [
    Column(gettext_noop("Baseline"), "name"),
    Column(gettext_noop("Run")),
    Column(gettext_noop("Pair")),
    Column(gettext_noop("Plan")),
    Column(gettext_noop("Pinned"), "pinned_at"),
    Column(gettext_noop("Action"), numeric=True),
]


class BaselineForm(PageForm):
    """What a baseline is called."""

    name = text_field(
        gettext_lazy("Name"), required=True, max_length=100, placeholder=gettext_lazy("since release 5.2")
    )


@needs(Permission.READ)
@require_GET
def baseline_list(request: HttpRequest) -> HttpResponse:
    """List pinned baselines; of each pair and plan the newest one holds."""
    filters = ("q", "archived", "pair", "plan")
    page = listing(request, _matching(request), columns=_COLUMNS, sort="-pinned_at", filters=filters)
    context = {"page": page, "archived": request.GET.get("archived") == "1"}
    return list_page(request, "baselines/baselines.html", context)


@needs(Permission.WRITE)
@once
@require_http_methods(["GET", "POST"])
def baseline_new(request: HttpRequest, run_id: int) -> HttpResponse:
    """Pin a run as the baseline of its pair and plan."""
    run = get_object_or_404(runs_named(), pk=run_id)
    form = BaselineForm(request.POST) if request.method == "POST" else BaselineForm()
    if request.method == "POST" and form.is_valid():
        try:
            baselines.baseline_pin(run=run, name=form.cleaned_data["name"], by=cast(User, request.user))
            messages.success(request, _("Run {run} is pinned as baseline.").format(run=run.pk))
            return redirect("web:run", run.pk)
        except AlertError as error:
            form.refuse(error.field, error.message)
    context = {"form": form, "run": run, "current": baselines.pinned_baseline(run)}
    return render(request, "baselines/pin.html", context)


@needs(Permission.READ)
@require_GET
def run_baseline(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show the part of a run's page that names the baseline of its pair and plan."""
    run = get_object_or_404(runs_named(), pk=run_id)
    context = {"run": run, "current": baselines.pinned_baseline(run)}
    return render(request, "baselines/partials/of_run.html", context)


@needs(Permission.WRITE)
@require_http_methods(["GET", "POST"])
def baseline_archive(request: HttpRequest, baseline_id: int) -> HttpResponse:
    """Ask, then unpin a baseline."""
    baseline = get_object_or_404(Baseline, pk=baseline_id, archived_at=None)

    def act() -> bool:
        baselines.baseline_unpin(baseline=baseline)
        return True

    return archive_page(
        request,
        title=_("baseline {name}").format(name=baseline.name),
        losses=[_("Thresholds go by the baseline that was pinned before it, or by none."), _("The run stays.")],
        back=reverse("web:baselines"),
        done=reverse("web:baselines"),
        undo=reverse("web:baseline_restore", args=[baseline.pk]),
        act=act,
    )


@needs(Permission.WRITE)
@require_POST
def baseline_restore(request: HttpRequest, baseline_id: int) -> HttpResponse:
    """Pin an archived baseline again."""
    baseline = get_object_or_404(Baseline, pk=baseline_id)
    baselines.baseline_restore(baseline=baseline)
    messages.success(request, _("Baseline {name} is restored.").format(name=baseline.name))
    return redirect("web:baselines")


def _matching(request: HttpRequest) -> "QuerySet[Baseline, Baseline]":
    query = request.GET
    rows = Baseline.objects.filter(archived_at__isnull=query.get("archived") != "1")
    for name in ("pair", "plan"):
        if text := query.get(name):
            rows = rows.filter((name, row_id(text) or 0))
    if text := searched(query.get("q", "")):
        rows = rows.filter(name__icontains=text)
    newer = Baseline.objects.filter(
        pair=OuterRef("pair"), plan=OuterRef("plan"), archived_at=None, pk__gt=OuterRef("pk")
    )
    ends = ("pair__source__host", "pair__sink__host", "pair__environment", "plan", "pinned_by")
    return rows.select_related(*ends).annotate(is_replaced=Exists(newer))
