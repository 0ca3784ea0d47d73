"""Launches that need no plan: a run with changes, and a quick test of two hosts or one."""

from dataclasses import dataclass
from typing import cast

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.catalog import Kind, catalog
from benchweb.common.rows import row_id
from benchweb.hosts.models import Endpoint
from benchweb.hosts.pairs import pair_between, pair_of_host
from benchweb.hosts.selectors import endpoints_usable
from benchweb.plans.expansion import PlanError
from benchweb.plans.services import one_off_version
from benchweb.plans.templates import quick_test
from benchweb.runs.models import Run
from benchweb.runs.selectors import environments_of_run, runs_named
from benchweb.runs.services import LaunchError, launch_version
from benchweb.web.access.once import once
from benchweb.web.plans.draft import PlanDraft, changed, draft_of_form, draft_of_version, field_of, values_of
from benchweb.web.plans.editor import editor

# In the session: what was tested last.
_LAST = "quick_test"


@needs(Permission.RUN, within=environments_of_run)
@once
@require_http_methods(["GET", "POST"])
def run_changed(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show a run's steps as a copy to edit, and launch it on the run's pair; its plan stays as it is."""
    run = get_object_or_404(runs_named(), pk=run_id)
    draft = _draft(request, run)
    errors: dict[str, str] = {}
    if request.method == "POST" and request.POST.get("action") == "launch":
        values, errors = values_of(draft)
        if not errors:
            try:
                with transaction.atomic():
                    version = one_off_version(**vars(values), changed_from=run.plan_version)
                    campaign = launch_version(version=version, pairs=[run.pair], user=cast(User, request.user))
                return redirect("web:run", campaign.runs.get().pk)
            except PlanError as error:
                errors = {field_of(error, draft): error.message}
            except LaunchError as error:
                errors = {"": error.message}
    title = _("Run {number} with changes").format(number=run.pk)
    context = {"editor": editor(draft, errors), "title": title, "run": run, "back": reverse("web:run", args=[run.pk])}
    # Whoever comes to change something is where that is done; after a refusal the message comes first.
    context["focuses_first_parameter"] = not errors
    return render(request, "launch/run_changed.html", context)


def _draft(request: HttpRequest, run: Run) -> PlanDraft:
    if request.method == "POST":
        return changed(draft_of_form(request.POST), request.POST.get("action", ""))
    plan = run.plan_version.plan
    name = plan.name if plan.is_one_off else _("{plan}, changed").format(plan=plan.name[:80])
    return draft_of_version(name, run.plan_version)


@dataclass(frozen=True)
class QuickTest:
    """Two ends, or one, and a kind to be tested on them; ids of endpoints as they were sent."""

    endpoints: list[Endpoint]
    source: str
    sink: str
    kind: str
    error: str = ""

    @property
    def kinds(self) -> list[Kind]:
        return list(catalog().tests.values())

    @property
    def is_possible(self) -> bool:
        return bool(self.endpoints)


@needs(Permission.RUN, checked_by_view=True)
@once
@require_http_methods(["GET", "POST"])
def quick(request: HttpRequest) -> HttpResponse:
    """Choose hosts and a kind, and launch it: the same as last time unless something else is chosen."""
    endpoints = list(endpoints_usable().filter(host__is_synthetic=False))
    if request.method == "POST":
        test = QuickTest(endpoints, *(request.POST.get(name, "") for name in ("source", "sink", "kind")))
        try:
            run = _launched_run(test, cast(User, request.user))
        except LaunchError as error:
            test = QuickTest(endpoints, test.source, test.sink, test.kind, error.message)
        else:
            request.session[_LAST] = [test.source, test.sink, test.kind]
            return redirect("web:run", run.pk)
    else:
        test = QuickTest(endpoints, *_last(request, endpoints))
    return render(request, "launch/quick_test.html", {"test": test})


def _last(request: HttpRequest, endpoints: list[Endpoint]) -> list[str]:
    """Return what this reader tested last, else the pair of the newest run, else the first two hosts."""
    usable = {str(endpoint.pk) for endpoint in endpoints}
    kind = next(iter(catalog().tests))
    ids = [request.GET.get("source", ""), request.GET.get("sink", "")]
    if not set(ids) <= usable and (last := request.session.get(_LAST)):
        *ids, kind = last
    if not set(ids) <= usable:
        newest = Run.objects.order_by("-pk").values_list("pair__source", "pair__sink").first()
        ids = [str(pk) for pk in newest or ()]
    if not ids or not set(ids) <= usable:
        ids = [str(endpoint.pk) for endpoint in endpoints[:2]]
    return [*ids, *[""] * (2 - len(ids)), kind if kind in catalog().tests else next(iter(catalog().tests))]


@transaction.atomic
def _launched_run(test: QuickTest, user: User) -> Run:
    known = {endpoint.pk: endpoint for endpoint in test.endpoints}
    source, sink = known.get(row_id(test.source) or 0), known.get(row_id(test.sink) or 0)
    kind = catalog().tests.get(test.kind)
    if kind is None:
        raise LaunchError("kind", _("Choose what to test."))
    if kind.is_of_one_host:
        if source is None:
            raise LaunchError("pair", _("Choose a host."))
        pair = pair_of_host(source, user)
    elif source is None or sink is None:
        raise LaunchError("pair", _("Choose two hosts."))
    elif source == sink:
        raise LaunchError("pair", _("Choose two different hosts."))
    else:
        pair = pair_between(source, sink, user)
    version = one_off_version(**quick_test(kind))
    return launch_version(version=version, pairs=[pair], user=user).runs.get()
