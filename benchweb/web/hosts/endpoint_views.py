"""Endpoints of a host: add, edit, archive, check, pin a new fingerprint, replace token and certificate."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import needs
from benchweb.hosts import selectors, services
from benchweb.hosts.endpoints import services as endpoint_services
from benchweb.hosts.enrolment.rotation import rotation_request
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Host, Pair
from benchweb.runs.models import Run
from benchweb.web.access.once import once
from benchweb.web.hosts.endpoint_panel import EndpointPanel
from benchweb.web.hosts.engine_command import engine_command
from benchweb.web.hosts.entered_tokens import note_entered
from benchweb.web.hosts.forms import EndpointForm
from benchweb.web.hosts.requested_panel import requested_panel
from benchweb.web.shared.archiving import archive_page, archived_with_it, retained_runs
from benchweb.web.shared.awaited_check import AwaitedCheck
from benchweb.web.shared.conflicts import other_url
from benchweb.web.shared.edits import edits
from benchweb.web.shared.forms import with_link


@needs(Permission.WRITE)
@never_cache
@once
@require_http_methods(["GET", "POST"])
def endpoint_new(request: HttpRequest, host_id: int) -> HttpResponse:
    """Add another way to reach a host."""
    host = get_object_or_404(Host, pk=host_id)
    form = EndpointForm.new(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid() and _is_named_apart(form, host):
        try:
            note_entered(request, endpoint_services.endpoint_create(host=host, **form.endpoint_values()))
            return redirect("web:host", host.pk)
        except HostsError as error:
            form.refuse(error.field, error.message, other_url(error))
    return _form_page(request, form, host, _("Add an endpoint to {host}").format(host=host.name), with_command=True)


@needs(Permission.WRITE)
@never_cache
@edits("endpoints", "endpoint_id")
@require_http_methods(["GET", "POST"])
def endpoint_edit(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Change an endpoint; it is checked again."""
    endpoint = get_object_or_404(Endpoint.objects.select_related("host"), pk=endpoint_id)
    current = EndpointForm.of(endpoint)
    form = current if request.method == "GET" else EndpointForm(request.POST)
    is_current = form.note_opened(request.POST, current)
    if request.method == "POST" and form.is_valid() and is_current and _is_named_apart(form, endpoint.host, endpoint):
        try:
            endpoint_services.endpoint_update(endpoint=endpoint, **form.endpoint_values())
            if form.cleaned_data["token"]:
                note_entered(request, endpoint)
            return redirect("web:host", endpoint.host_id)
        except HostsError as error:
            form.refuse(error.field, error.message, other_url(error))
    title = _("Edit endpoint {endpoint}").format(endpoint=endpoint)
    return _form_page(request, form, endpoint.host, title, with_command=False)


@needs(Permission.WRITE)
@require_http_methods(["GET", "POST"])
def endpoint_archive(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Archive an endpoint with its pairs."""
    endpoint = get_object_or_404(Endpoint.objects.select_related("host"), pk=endpoint_id)
    pairs = Pair.objects.filter(source=endpoint) | Pair.objects.filter(sink=endpoint)
    host_url = reverse("web:host", args=[endpoint.host_id])
    return archive_page(
        request,
        title=_("endpoint {endpoint}").format(endpoint=endpoint),
        losses=[
            archived_with_it({"pair": pairs.filter(archived_at=None).count()}),
            retained_runs(Run.objects.filter(pair__in=pairs)),
        ],
        back=host_url,
        done=host_url,
        undo=reverse("web:endpoint_restore", args=[endpoint.pk]) + "?undo=1",
        act=lambda: services.archive(row=endpoint),
    )


@needs(Permission.WRITE)
@require_POST
def endpoint_restore(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Bring an archived endpoint back and check it."""
    endpoint = get_object_or_404(Endpoint.objects.select_related("host"), pk=endpoint_id)
    if endpoint.host.archived_at is not None:
        messages.error(request, _("Host {host} is archived: restore the host first.").format(host=endpoint.host.name))
        return redirect("web:host", endpoint.host_id)
    try:
        if services.restore(row=endpoint, whole="undo" in request.GET):
            endpoint_services.endpoint_check(endpoint=endpoint)
            messages.success(request, _("Endpoint {endpoint} is restored.").format(endpoint=endpoint))
    except HostsError as error:
        messages.error(request, with_link(error.message, other_url(error)))
    return redirect("web:host", endpoint.host_id)


@needs(Permission.RUN)
@require_POST
def endpoint_check(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Ask for a check now; with HTMX the panel follows it, else the host's page shows it when reloaded."""
    endpoint = get_object_or_404(Endpoint.objects.select_related("host"), pk=endpoint_id)
    awaited = AwaitedCheck.begun(endpoint.checked_at)
    endpoint_services.endpoint_check(endpoint=endpoint)
    if not request.headers.get("HX-Request"):
        messages.info(request, _("Checking {endpoint}. Reload this page in a few seconds.").format(endpoint=endpoint))
        return redirect("web:host", endpoint.host_id)
    return _watch_page(request, _panel(request, endpoint, awaited), with_body=False)


@needs(Permission.READ)
@never_cache
@require_POST
def endpoint_watch(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Return the panel as it is now; ask for another check when the last one ended without an answer."""
    endpoint = get_object_or_404(Endpoint.objects.select_related("host"), pk=endpoint_id)
    panel = _panel(request, endpoint, AwaitedCheck.posted(request))
    may_check = access_of(request.user).may(Permission.RUN)
    if panel.is_polling and not panel.is_checking and not panel.is_rotating and may_check:
        awaited = AwaitedCheck.begun(endpoint.checked_at)
        endpoint_services.endpoint_check(endpoint=endpoint)
        panel = _panel(request, endpoint, awaited)
    # The panel's body is sent anew only when it says something else: not while somebody copies a line from it.
    changed = endpoint.status != request.POST.get("shown") or (not panel.is_polling and not panel.is_overdue)
    return _watch_page(request, panel, with_body=changed)


@needs(Permission.WRITE)
@require_POST
def endpoint_rotate(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Ask a worker to replace the engine's token or certificate; the panel shows what came of it."""
    endpoint = get_object_or_404(Endpoint.objects.select_related("host"), pk=endpoint_id)
    what, is_partial = request.POST.get("what", ""), bool(request.headers.get("HX-Request"))
    if what not in Endpoint.Rotation.values:
        return HttpResponseBadRequest()
    awaited = AwaitedCheck.begun(endpoint.checked_at)
    try:
        rotation_request(endpoint=endpoint, what=Endpoint.Rotation(what))
    except HostsError as error:
        messages.error(request, error.message)
        return HttpResponse(headers={"HX-Refresh": "true"}) if is_partial else redirect("web:host", endpoint.host_id)
    if not is_partial:
        return redirect("web:host", endpoint.host_id)
    endpoint.refresh_from_db()
    return _watch_page(request, _panel(request, endpoint, awaited), with_body=True)


@needs(Permission.WRITE)
@require_POST
def endpoint_pin(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Pin the fingerprint that the reader was shown, with the token entered for it, and check again."""
    endpoint = get_object_or_404(Endpoint.objects.select_related("host"), pk=endpoint_id)
    try:
        endpoint_services.endpoint_pin(
            endpoint=endpoint,
            fingerprint=request.POST.get("fingerprint", ""),
            token=request.POST.get("token", ""),
        )
        messages.success(request, _("The new fingerprint of {endpoint} is pinned.").format(endpoint=endpoint))
    except HostsError as error:
        messages.error(request, with_link(error.message, other_url(error)))
    return redirect("web:host", endpoint.host_id)


def _is_named_apart(form: EndpointForm, host: Host, edited: Endpoint | None = None) -> bool:
    """Refuse a new name that another endpoint of the host has: of a pair of both no end could be told by its name."""
    values = form.endpoint_values()
    name = values["name"] or values["network_mode"]
    if edited is not None and name == (edited.name or edited.network_mode):
        return True
    others = [other for other in host.endpoints.filter(archived_at=None) if other != edited]
    if name not in {other.name or other.network_mode for other in others}:
        return True
    text = _("{host} already has an endpoint “{name}”: choose another name.")
    form.refuse("name", text.format(host=host.name, name=name))
    return False


def _form_page(request: HttpRequest, form: EndpointForm, host: Host, title: str, *, with_command: bool) -> HttpResponse:
    address, token = form["control_address"].value() or "", form["token"].value() or ""
    context = {
        "form": form,
        "title": title,
        "back": reverse("web:host", args=[host.pk]),
        "host_id": host.pk,
        "modes": selectors.network_modes(),
        "command": engine_command(address=address, token=token) if with_command else None,
    }
    return render(request, "hosts/endpoint_form.html", context, status=form.status)


def _watch_page(request: HttpRequest, panel: EndpointPanel, *, with_body: bool) -> HttpResponse:
    return render(request, "hosts/partials/endpoint_watch.html", {"panel": panel, "with_body": with_body})


def _panel(request: HttpRequest, endpoint: Endpoint, awaited: AwaitedCheck | None) -> EndpointPanel:
    facts = selectors.latest_facts(endpoints=[endpoint])
    return requested_panel(request, endpoint, facts.get(endpoint.pk), awaited)
