"""Baselines: list, pin a run, unpin, restore."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_GET, require_http_methods

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.names import searched
from benchweb.common.rows import row_id
from benchweb.regressions import baselines
from benchweb.regressions.models import Baseline
from benchweb.regressions.transitions import AlertError
from benchweb.runs.selectors import runs_named
from benchweb.web.access.once import once
from benchweb.web.shared.forms import PageForm, text_field
from benchweb.web.shared.lists import Column
from benchweb.web.shared.plain_pages import PlainPages

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


class BaselinePages(PlainPages[Baseline]):
    """Pinned baselines; of each pair and plan the newest one holds."""

    model = Baseline
    name, path, list_name = "baseline", "baselines", "baselines"
    noun = gettext_lazy("baseline {name}")
    restored = gettext_lazy("Baseline {name} is restored.")
    list_template, columns, sort = "baselines/baselines.html", _COLUMNS, "-pinned_at"
    filters = ("q", "archived", "pair", "plan")

    def rows(self) -> "QuerySet[Baseline]":
        newer = Baseline.objects.filter(
            pair=OuterRef("pair"), plan=OuterRef("plan"), archived_at=None, pk__gt=OuterRef("pk")
        )
        ends = ("pair__source__host", "pair__sink__host", "pair__environment", "plan", "pinned_by")
        return Baseline.objects.select_related(*ends).annotate(is_replaced=Exists(newer))

    def matching(self, query: QueryDict) -> "QuerySet[Baseline]":
        rows = self.rows().filter(archived_at__isnull=query.get("archived") != "1")
        for name in ("pair", "plan"):
            if text := query.get(name):
                rows = rows.filter((name, row_id(text) or 0))
        if text := searched(query.get("q", "")):
            rows = rows.filter(name__icontains=text)
        return rows

    def row_name(self, row: Baseline) -> str:
        return row.name

    def losses(self, row: Baseline) -> list[str]:
        return [_("Thresholds go by the baseline that was pinned before it, or by none."), _("The run stays.")]

    def archive(self, row: Baseline, by: User) -> None:
        baselines.baseline_unpin(baseline=row)

    def restore(self, row: Baseline, request: HttpRequest) -> None:
        baselines.baseline_restore(baseline=row)


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
