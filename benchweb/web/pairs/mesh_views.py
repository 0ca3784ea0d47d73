"""Many pairs at once: choose endpoints and a shape, see what that comes to, make it, and go on with it."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import needs
from benchweb.common.rows import row_id
from benchweb.hosts import selectors
from benchweb.hosts.errors import HostsError
from benchweb.hosts.meshes import MAXIMUM_ENDPOINTS, Mesh, mesh_make
from benchweb.hosts.models import Endpoint, Host
from benchweb.labels import labels_in_use
from benchweb.web.access.once import once
from benchweb.web.pairs.mesh_form import HUB, MeshForm
from benchweb.web.shared.conflicts import other_url


@dataclass(frozen=True)
class MeshPage:
    """The form with the endpoints to choose from, and what the choice comes to so far."""

    form: MeshForm
    endpoints: list[Endpoint]
    labels: list[str]
    mesh: Mesh | None = None
    # Why there is no mesh; empty while nothing is wrong with what was chosen.
    fault: str = ""
    plan_id: int | None = None

    @property
    def is_shortened(self) -> bool:
        return len(self.endpoints) > MAXIMUM_ENDPOINTS

    @property
    def displayed(self) -> list[Endpoint]:
        """Return the endpoints to tick: those that are ticked first, so that none of them is lost."""
        chosen = self.form.chosen
        ordered = sorted(self.endpoints, key=lambda end: end.pk not in chosen) if self.is_shortened else self.endpoints
        return ordered[: max(MAXIMUM_ENDPOINTS, len(chosen))]


@needs(Permission.WRITE, checked_by_view=True)
@once
@require_http_methods(["GET", "POST"])
def pair_mesh(request: HttpRequest) -> HttpResponse:
    """Make the pairs of a mesh or a hub; go on to the list, to a launch or to a schedule of them."""
    if request.method == "GET":
        return render(request, "pairs/mesh.html", {"page": _page(request, MeshForm.of_address(request.GET))})
    form = MeshForm(request.POST)
    if form.is_valid():
        try:
            made = _made(form, request.user)
        except HostsError as error:
            form.refuse(error.field, error.message, other_url(error))
        else:
            return redirect(_destination(request, form, made))
    return render(request, "pairs/mesh.html", {"page": _page(request, form)})


@needs(Permission.WRITE, checked_by_view=True)
@require_POST
def pair_mesh_summary(request: HttpRequest) -> HttpResponse:
    """Say what the form as it is comes to; nothing is made."""
    form = MeshForm(request.POST)
    mesh, fault = None, ""
    if not form.is_valid():
        fault = "" if not form.chosen else str(next(iter(form.errors.values()))[0])
    else:
        try:
            mesh = form.mesh()
        except HostsError as error:
            fault = error.message
    page = MeshPage(form, [], [], mesh, fault)
    return render(request, "pairs/partials/mesh_summary.html", {"page": page})


def _page(request: HttpRequest, form: MeshForm) -> MeshPage:
    plan_id = row_id((request.POST or request.GET).get("plan", ""))
    return MeshPage(form, list(selectors.endpoints_usable()), labels_in_use(Host), plan_id=plan_id)


@transaction.atomic
def _made(form: MeshForm, user: User | AnonymousUser) -> Mesh:
    form.save_environment()
    # An environment that is new is nobody's yet: a role everywhere is needed for it.
    access_of(user).demand(Permission.WRITE, form.places())
    mesh = form.mesh()
    mesh_make(mesh)
    return mesh


def _destination(request: HttpRequest, form: MeshForm, made: Mesh) -> str:
    environment, is_hub = form.cleaned_data["environment"], form.cleaned_data["shape"] == HUB
    messages.success(request, _words(made, environment.name))
    plan_id = row_id(request.POST.get("plan", ""))
    query = form.address_of_pairs() + (f"&plan={plan_id}" if plan_id else "")
    match request.POST.get("action"):
        case "launch":
            return f"{reverse('web:launch')}?{query}"
        case "schedule":
            name = _("{environment}, nightly").format(environment=environment.name)
            more = {"name": name} | ({} if is_hub else {"target": "mesh"})
            return f"{reverse('web:schedule_new')}?{query}&{urlencode(more)}"
        case _:
            return f"{reverse('web:pairs')}?environment={environment.pk}"


def _words(mesh: Mesh, environment: str) -> str:
    made, known = len(mesh.missing), len(mesh.pairs)
    words = ngettext("{made} pair added to {environment}", "{made} pairs added to {environment}", made)
    text = words.format(made=f"{made:,}", environment=environment)
    if known:
        existed = ngettext("{known} existed already", "{known} existed already", known)
        text = f"{text}; {existed.format(known=f'{known:,}')}"
    if mesh.archived:
        archived = ngettext(
            "{count} is archived and stays so", "{count} are archived and stay so", len(mesh.archived)
        ).format(count=f"{len(mesh.archived):,}")
        text = f"{text}; {archived}"
    return f"{text}."
