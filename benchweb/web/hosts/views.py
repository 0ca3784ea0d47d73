"""Hosts: list, page, add with the first endpoint, edit, archive, restore."""

from collections.abc import Iterable, Sequence

from django.contrib import messages
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.charts.main_figures import figures_of_hosts
from benchweb.hosts import selectors, services
from benchweb.hosts.endpoints import services as endpoint_services
from benchweb.hosts.enrolment.commands import shown_command
from benchweb.hosts.enrolment.programs import engine_programs
from benchweb.hosts.errors import HostsError
from benchweb.hosts.machines import hosts_of_machine
from benchweb.hosts.models import Endpoint, Environment, Facts, Host, Pair
from benchweb.hosts.pairs import PairLine, first_pairs
from benchweb.labels import labels_in_use
from benchweb.notifications.selectors import maintenance_of
from benchweb.results.series_summaries import SeriesScope
from benchweb.runs.lists import latest_of_pairs
from benchweb.runs.models import Run
from benchweb.state_words import state_word
from benchweb.web.access.context import can_of
from benchweb.web.access.once import once
from benchweb.web.facts.history import facts_history
from benchweb.web.facts.page import facts_in_short, facts_summary
from benchweb.web.hosts.availability.periods import PERIODS, period_of
from benchweb.web.hosts.availability.section import availability_section
from benchweb.web.hosts.engine_command import engine_command
from benchweb.web.hosts.enrolment import EnrolmentPanel
from benchweb.web.hosts.entered_tokens import note_entered
from benchweb.web.hosts.forms import HostDetailsForm, HostForm
from benchweb.web.hosts.requested_panel import requested_panel
from benchweb.web.series.subject import subject_part
from benchweb.web.shared.archiving import archive_page, archived_with_it, retained_runs
from benchweb.web.shared.conflicts import other_url
from benchweb.web.shared.edits import edits
from benchweb.web.shared.forms import with_link
from benchweb.web.shared.lists import PAIRS_DISPLAYED, RUNS_DISPLAYED, Column, chosen_columns, list_page, listing

COLUMNS = [
    Column(gettext_noop("Select")),
    Column(gettext_noop("Host"), "name"),
    Column(gettext_noop("Endpoints")),
    Column(gettext_noop("Main figure"), numeric=True, key="figure"),
    Column(gettext_noop("Change"), key="change"),
    Column(gettext_noop("Last runs"), key="line"),
    Column(gettext_noop("Kernel and network cards"), key="facts"),
    Column(gettext_noop("Added"), "created_at", key="added"),
]


@needs(Permission.READ)
@require_GET
def host_list(request: HttpRequest) -> HttpResponse:
    """List hosts with the state of their endpoints."""
    archived = request.GET.get("archived") == "1"
    hosts = selectors.hosts_matching(
        text=request.GET.get("q", ""),
        label=request.GET.get("label", ""),
        status=request.GET.get("status", ""),
        network_mode=request.GET.get("mode", ""),
        archived=archived,
    )
    page = listing(request, hosts, columns=COLUMNS, sort="name", filters=["q", "label", "status", "mode", "archived"])
    endpoints = [endpoint for host in page.rows for endpoint in host.endpoints.all()]
    facts = selectors.latest_facts(endpoints=endpoints)
    figures = figures_of_hosts([host.pk for host in page.rows])
    rows = [(host, _facts_summary(host, facts), figures.get(host.pk)) for host in page.rows]
    columns = chosen_columns(request, "hosts", COLUMNS)
    statuses = [(value, state_word(value)) for value in [*Endpoint.Status.values, selectors.SILENT]]
    choices = {"statuses": statuses, "modes": selectors.network_modes()}
    context = {"page": page.of_columns(columns.hidden), "rows": rows, "archived": archived, "columns": columns}
    can = can_of(request.user)
    bulk = {"archive_url": can.address("hosts_archive"), "label_url": can.address("hosts_label")}
    labels = {"labels": labels_in_use(Host)}
    return list_page(request, "hosts/hosts.html", context | choices | bulk | labels)


@needs(Permission.READ)
@require_GET
def host_page(request: HttpRequest, host_id: int) -> HttpResponse:
    """Show a host: its pictures, what changed, endpoints with their latest check and facts, pairs, runs; and the rest.

    Its availability and what may be why its series fell have places that fetch them.
    """
    host, endpoints = _host_with_endpoints(host_id)
    active = [endpoint for endpoint in endpoints if endpoint.archived_at is None]
    seen = selectors.facts_seen(endpoints=active)
    facts = {row.endpoint_id: row for row in reversed(seen)}
    pairs = first_pairs({"host": host.pk}, most=PAIRS_DISPLAYED)
    host_pairs = Pair.objects.filter(Q(source__in=endpoints) | Q(sink__in=endpoints))
    panels = [requested_panel(request, endpoint, facts.get(endpoint.pk)) for endpoint in active]
    response = render(
        request,
        "hosts/host.html",
        {
            "host": host,
            "maintenance": maintenance_of(host),
            "same_machine": hosts_of_machine(host),
            "environments": _environments(host, pairs),
            **subject_part(request, {"host": host.pk}, SeriesScope(endpoints=[endpoint.pk for endpoint in active])),
            "facts_lines": _facts_lines(facts.values()),
            "periods": PERIODS,
            "period": period_of(request.GET.get("over", "")),
            "has_charts": any(endpoint.checked_at for endpoint in active),
            "facts_history": facts_history(host_id=host.pk, endpoints=active, rows=seen),
            "panels": panels,
            "archived_endpoints": [endpoint for endpoint in endpoints if endpoint.archived_at is not None],
            "pairs": pairs,
            "pair_total": pairs[0].total if pairs else 0,
            "pairs_filter": f"host={host.pk}",
            "pair_query": f"?source={active[0].pk}" if active else "",
            "runs_filter": f"host={host.pk}",
            "runs": latest_of_pairs(host_pairs, most=RUNS_DISPLAYED),
        },
    )
    if any(panel.install or panel.command for panel in panels):
        # They show who entered the token a secret.
        add_never_cache_headers(response)
    return response


@needs(Permission.READ)
@require_GET
def host_availability(request: HttpRequest, host_id: int) -> HttpResponse:
    """Show a host's availability and load: for htmx what the host's page leaves a place for, else a page.

    Apart from the page, for it is as much work as half of that.
    """
    host, endpoints = _host_with_endpoints(host_id)
    active = [endpoint for endpoint in endpoints if endpoint.archived_at is None]
    period = period_of(request.GET.get("over", ""))
    template = "partials/availability" if request.headers.get("HX-Request") else "host_availability"
    section = availability_section(endpoints=active, period=period)
    context = {"host": host, "periods": PERIODS, "period": period, "availability": section}
    response = render(request, f"hosts/{template}.html", context)
    # Both have one address: going back, a browser must not show the part in the page's place.
    patch_vary_headers(response, ["HX-Request"])
    return response


@needs(Permission.WRITE)
@never_cache
@once
@require_http_methods(["GET", "POST"])
def host_new(request: HttpRequest) -> HttpResponse:
    """Add a host: by the one command that the page shows, or with its first endpoint as entered."""
    form = HostForm.new(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                host = services.host_create(**form.host_values())
                endpoint = endpoint_services.endpoint_create(host=host, **form.endpoint_values())
        except HostsError as error:
            form.refuse(error.field, error.message, other_url(error))
        else:
            note_entered(request, endpoint)
            return redirect("web:host", host.pk)
    install = shown_command(request)
    context = {
        "form": form,
        "install": install,
        "enrolled": EnrolmentPanel(install.ticket),
        "programs": list(engine_programs().values()),
        "command": _command(form),
        "modes": selectors.network_modes(),
        "uplinks": selectors.uplinks_in_use(),
    }
    return render(request, "hosts/host_new.html", context)


@needs(Permission.WRITE)
@never_cache
@require_POST
def host_command(request: HttpRequest) -> HttpResponse:
    """Return the command again while the address or the token is typed."""
    command = engine_command(address=request.POST.get("control_address", ""), token=request.POST.get("token", ""))
    return render(request, "hosts/partials/engine_command.html", {"command": command})


@needs(Permission.WRITE)
@edits("hosts", "host_id")
@require_http_methods(["GET", "POST"])
def host_edit(request: HttpRequest, host_id: int) -> HttpResponse:
    """Rename a host, describe it anew, label it, name the uplink that it shares."""
    host = get_object_or_404(Host, pk=host_id)
    current = HostDetailsForm.of(host)
    form = HostDetailsForm.of(host, request.POST) if request.method == "POST" else current
    is_current = form.note_opened(request.POST, current)
    if request.method == "POST" and form.is_valid() and is_current:
        try:
            services.host_update(host=host, **form.cleaned_data)
            return redirect("web:host", host.pk)
        except HostsError as error:
            form.refuse(error.field, error.message, other_url(error))
    context = {
        "form": form,
        "title": _("Edit {host}").format(host=host.name),
        "back": reverse("web:host", args=[host.pk]),
        "suggestions": {"uplinks": selectors.uplinks_in_use()},
    }
    return render(request, "shared/form.html", context, status=form.status)


@needs(Permission.WRITE)
@require_http_methods(["GET", "POST"])
def host_archive(request: HttpRequest, host_id: int) -> HttpResponse:
    """Archive a host with its endpoints and their pairs."""
    host = get_object_or_404(Host, pk=host_id)
    pairs = Pair.objects.filter(source__host=host) | Pair.objects.filter(sink__host=host)
    return archive_page(
        request,
        title=_("host {host}").format(host=host.name),
        losses=[
            archived_with_it(
                {
                    "endpoint": host.endpoints.filter(archived_at=None).count(),
                    "pair": pairs.filter(archived_at=None).count(),
                }
            ),
            retained_runs(Run.objects.filter(pair__in=pairs)),
        ],
        back=reverse("web:host", args=[host.pk]),
        done=reverse("web:hosts"),
        undo=reverse("web:host_restore", args=[host.pk]) + "?undo=1",
        act=lambda: services.archive(row=host),
    )


@needs(Permission.WRITE)
@require_POST
def host_restore(request: HttpRequest, host_id: int) -> HttpResponse:
    """Bring an archived host back; its endpoints and pairs are restored one by one."""
    host = get_object_or_404(Host, pk=host_id)
    try:
        is_undo = "undo" in request.GET
        if services.restore(row=host, whole=is_undo):
            text = (
                _("Host {host} is restored, with its endpoints and pairs.")
                if is_undo
                else _("Host {host} is restored. Restore the endpoints that you need below.")
            )
            messages.success(request, text.format(host=host.name))
    except HostsError as error:
        messages.error(request, with_link(error.message, other_url(error)))
    return redirect("web:host", host.pk)


def _host_with_endpoints(host_id: int) -> tuple[Host, list[Endpoint]]:
    """Return a host with its endpoints, archived ones too; one query where it has any."""
    endpoints = list(Endpoint.objects.filter(host=host_id).select_related("host").order_by("archived_at", "pk"))
    return (endpoints[0].host if endpoints else get_object_or_404(Host, pk=host_id)), endpoints


def _facts_summary(host: Host, facts: dict[int, Facts]) -> str:
    known = [facts[endpoint.pk].document for endpoint in host.endpoints.all() if endpoint.pk in facts]
    return facts_summary(known[0]) if known else ""


def _environments(host: Host, pairs: Sequence[PairLine]) -> list[tuple[int, str]]:
    """Return a host's environments, by name: those of its pairs, and where it has others, from the database."""
    named = {pair.environment_id: pair.environment for pair in pairs}
    if set(host.environment_ids) - named.keys():
        named = dict(Environment.objects.filter(pk__in=host.environment_ids).values_list("pk", "name"))
    return sorted(((pk, named[pk]) for pk in host.environment_ids if pk in named), key=lambda each: each[1].lower())


def _facts_lines(facts: Iterable[Facts]) -> list[tuple[str, str]]:
    """Return what the first endpoint with facts told of the machine, as labels and values: for the page's side."""
    document = next((row.document for row in facts), None)
    return facts_in_short(document) if document else []


def _command(form: HostForm) -> object:
    address, token = form["control_address"].value() or "", form["token"].value() or ""
    return engine_command(address=address, token=token)
