"""Launch a plan on one or several pairs."""

from dataclasses import dataclass
from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from benchweb.accounts.permissions import Access, Permission, access_of
from benchweb.accounts.roles.needs import needs
from benchweb.common.rows import row_id, row_ids
from benchweb.hosts import selectors as hosts
from benchweb.hosts.meshes import pairs_chosen
from benchweb.hosts.models import Endpoint, Environment, Pair
from benchweb.plans import selectors as plans
from benchweb.plans.models import Plan, PlanVersion
from benchweb.runs import services
from benchweb.runs.models import Campaign
from benchweb.runs.services import LaunchError
from benchweb.web.access.once import once
from benchweb.web.launch.forms import LaunchForm, launch_form
from benchweb.web.plans.preview import PlanPreview, preview_of

# Pairs shown at once; the filter narrows a longer list, and chosen ones are always shown.
DISPLAYED_PAIRS = 200


@dataclass(frozen=True)
class OfferedPair:
    """A pair of the list; `fault` says why nothing runs on it."""

    pair: Pair
    fault: str
    is_chosen: bool


@dataclass(frozen=True)
class LaunchPage:
    """The page's choices, those taken, and what they come to."""

    form: LaunchForm
    plans: list[Plan]
    plan: Plan | None
    preview: PlanPreview | None
    environments: list[Environment]
    offered: list[OfferedPair]
    # How many pairs match, also where they are too many to be shown.
    matching: int
    is_shortened: bool
    field: str = ""
    error: str = ""

    @property
    def is_possible(self) -> bool:
        """Tell whether there is a plan and a pair to choose; a filter that matches none can be taken away again."""
        return bool(self.plans and (self.offered or self.form.text))

    @property
    def chosen(self) -> list[Pair]:
        return [each.pair for each in self.offered if each.is_chosen]

    @property
    def is_all_chosen(self) -> bool:
        """Tell whether every pair that is shown and can run is chosen."""
        return all(each.is_chosen for each in self.offered if not each.fault)

    @property
    def silent(self) -> list[Pair]:
        """Return the chosen pairs with an end that did not answer its last check, or that nobody asks."""
        answered = Endpoint.Status.ANSWERED
        return [pair for pair in self.chosen if not pair.source.status == pair.sink.status == answered]


@needs(Permission.RUN, checked_by_view=True)
@once
@require_http_methods(["GET", "POST"])
def launch(request: HttpRequest, plan_id: int | None = None) -> HttpResponse:
    """Choose on GET (`?plan=`, `?environment=`, `?pairs=`, `?endpoints=` of a mesh fill in).

    Launch on POST, and go to the run or to the campaign's runs.
    """
    if plan_id is not None:
        get_object_or_404(Plan, pk=plan_id)
    form = launch_form(request.POST if request.method == "POST" else _requested_launch(request, plan_id))
    page = _page(form, request)
    if request.method == "POST" and request.POST.get("action") == "launch":
        try:
            return redirect(_destination(_launched_campaign(page, cast(User, request.user))))
        except LaunchError as error:
            page = _page(form, request, error)
    return render(request, "launch/launch.html", {"page": page})


@needs(Permission.RUN, checked_by_view=True)
@require_POST
def launch_choice(request: HttpRequest) -> HttpResponse:
    """Return the pairs by the filter and the summary, with what was chosen kept."""
    return render(
        request, "launch/partials/choice.html", {"page": _page(launch_form(request.POST), request), "out_of_band": True}
    )


def _requested_launch(request: HttpRequest, plan_id: int | None) -> QueryDict:
    data = request.GET.copy()
    if plan_id is not None:
        data["plan"] = str(plan_id)
    data.setlist("pairs", [*data.getlist("pairs"), *map(str, _mesh_pairs(data))])
    return data


def _mesh_pairs(data: QueryDict) -> list[int]:
    """Return the pairs of the mesh or the hub that an address names by its endpoints."""
    environment_id = row_id(data.get("environment", ""))
    endpoint_ids = row_ids(data.getlist("endpoints"))
    if environment_id is None or not endpoint_ids:
        return []
    hub_id, both = row_id(data.get("hub", "")), "one_way" not in data
    return pairs_chosen(endpoint_ids=endpoint_ids, environment_id=environment_id, hub_id=hub_id, both=both)


def _page(form: LaunchForm, request: HttpRequest, refusal: LaunchError | None = None) -> LaunchPage:
    listed = list(plans.plans_matching())
    plan = next((row for row in listed if row.pk == form.plan_id), None)
    version = plan.versions.order_by("-number")[0] if plan else None
    environments = list(hosts.environments_matching().filter(("pair_count__gt", 0)))
    environment = next((row.pk for row in environments if row.pk == form.environment_id), None)
    # Whoever chooses an environment means all of it, until ticks are taken away.
    is_whole = environment is not None and environment != form.chosen_in_id
    if is_whole and request.method == "GET":
        is_whole = not form.pair_ids
    chosen = [] if is_whole else form.pair_ids
    pairs, matching = hosts.pairs_to_choose(
        chosen=chosen, text=form.text, most=DISPLAYED_PAIRS, environment=environment
    )
    faults = {pair.pk: _fault(pair, version, access_of(request.user)) for pair in pairs}
    return LaunchPage(
        form=form,
        plans=listed,
        plan=plan,
        preview=preview_of(version) if version else None,
        environments=environments,
        offered=[
            OfferedPair(pair, faults[pair.pk], not faults[pair.pk] if is_whole else pair.pk in chosen) for pair in pairs
        ],
        matching=matching,
        is_shortened=matching > DISPLAYED_PAIRS,
        field=refusal.field if refusal else "",
        error=refusal.message if refusal else "",
    )


def _fault(pair: Pair, version: PlanVersion | None, access: Access) -> str:
    if not access.may_in(Permission.RUN, pair.environment_id):
        return _("You may not run tests in {environment}.").format(environment=pair.environment)
    return services.pair_fault(pair) or (services.sink_fault(pair, version) if version else "")


def _launched_campaign(page: LaunchPage, user: User) -> Campaign:
    if page.plan is None:
        archived = Plan.objects.filter(pk=page.form.plan_id).first() if page.form.plan_id else None
        if archived is None:
            raise LaunchError("plan", _("Choose a plan to run."))
        return services.launch(plan=archived, pairs=page.chosen, user=user)
    gone = len(page.form.pair_ids) - len(page.chosen)
    if gone:
        raise LaunchError(
            "pairs", _("{gone} of the selected pairs have been archived: check the selection.").format(gone=gone)
        )
    if question := services.confirmation_needed(len(page.chosen), page.form.confirm_runs):
        raise LaunchError("confirm_runs", question)
    return services.launch(plan=page.plan, pairs=page.chosen, user=user, arrangement=page.form.arrangement)


def _destination(campaign: Campaign) -> str:
    runs = list(campaign.runs.values_list("pk", flat=True)[:2])
    if len(runs) == 1:
        return reverse("web:run", args=runs)
    return reverse("web:campaign", args=[campaign.pk])
