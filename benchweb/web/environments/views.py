"""Environments: list, page, create, edit, archive, restore."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.hosts import selectors, services
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Environment, Pair
from benchweb.hosts.pairs import first_pairs
from benchweb.hosts.selectors import environment_itself
from benchweb.results.series_summaries import Scope
from benchweb.runs.lists import latest_of_pairs
from benchweb.runs.models import Run
from benchweb.web.access.once import once
from benchweb.web.hosts.forms import NamedForm
from benchweb.web.overview.night import environment_night
from benchweb.web.series.section import series_section
from benchweb.web.shared.archiving import archive_page, archived_with_it, retained_runs
from benchweb.web.shared.conflicts import other_url
from benchweb.web.shared.forms import with_link
from benchweb.web.shared.lists import PAIRS_DISPLAYED, RUNS_DISPLAYED, Column, list_page, listing

COLUMNS = [
    Column(gettext_noop("Environment"), "name"),
    Column(gettext_noop("Description")),
    Column(gettext_noop("Pairs"), "pair_count", numeric=True),
    Column(gettext_noop("Added"), "created_at"),
]


@needs(Permission.READ)
@require_GET
def environment_list(request: HttpRequest) -> HttpResponse:
    """List environments with the number of their pairs."""
    archived = request.GET.get("archived") == "1"
    environments = selectors.environments_matching(text=request.GET.get("q", ""), archived=archived)
    page = listing(request, environments, columns=COLUMNS, sort="name", filters=["q", "archived"])
    return list_page(request, "environments/environments.html", {"page": page, "archived": archived})


@needs(Permission.READ)
@require_GET
def environment_page(request: HttpRequest, environment_id: int) -> HttpResponse:
    """Show an environment: its figures night by night, its series at a glance, pairs and recent runs."""
    environment = get_object_or_404(Environment, pk=environment_id)
    figures = environment_night(environment.pk)
    pairs = first_pairs({"environment": environment.pk}, most=PAIRS_DISPLAYED)
    context = {
        "environment": environment,
        "figures": figures,
        "is_measured": any(figure for _metric, figure in figures),
        "series": series_section(request, Scope(environment=environment.pk)),
        "pairs": pairs,
        "pair_total": pairs[0].total if pairs else 0,
        "pairs_filter": f"environment={environment.pk}",
        "pair_query": f"?environment={environment.pk}",
        "runs_filter": f"environment={environment.pk}",
        "runs": latest_of_pairs(Pair.objects.filter(environment=environment), most=RUNS_DISPLAYED),
    }
    return render(request, "environments/environment.html", context)


@needs(Permission.WRITE)
@once
@require_http_methods(["GET", "POST"])
def environment_new(request: HttpRequest) -> HttpResponse:
    """Create an environment."""
    form = NamedForm(request.POST) if request.method == "POST" else NamedForm()
    if request.method == "POST" and form.is_valid():
        try:
            environment = services.environment_create(**form.cleaned_data)
            return redirect("web:environment", environment.pk)
        except HostsError as error:
            form.refuse(error.field, error.message, other_url(error))
    context = {"form": form, "title": _("Add an environment"), "back": reverse("web:environments")}
    return render(request, "shared/form.html", context)


@needs(Permission.WRITE, within=environment_itself)
@require_http_methods(["GET", "POST"])
def environment_edit(request: HttpRequest, environment_id: int) -> HttpResponse:
    """Rename an environment or describe it anew."""
    environment = get_object_or_404(Environment, pk=environment_id)
    form = NamedForm(request.POST) if request.method == "POST" else NamedForm.of(environment)
    back = reverse("web:environment", args=[environment.pk])
    if request.method == "POST" and form.is_valid():
        try:
            services.environment_update(environment=environment, **form.cleaned_data)
            return redirect(back)
        except HostsError as error:
            form.refuse(error.field, error.message, other_url(error))
    return render(
        request,
        "shared/form.html",
        {"form": form, "title": _("Edit {environment}").format(environment=environment.name), "back": back},
    )


@needs(Permission.WRITE, within=environment_itself)
@require_http_methods(["GET", "POST"])
def environment_archive(request: HttpRequest, environment_id: int) -> HttpResponse:
    """Archive an environment with its pairs."""
    environment = get_object_or_404(Environment, pk=environment_id)
    pairs = environment.pairs.filter(archived_at=None).count()
    runs = Run.objects.filter(pair__environment=environment)
    return archive_page(
        request,
        title=_("environment {environment}").format(environment=environment.name),
        losses=[
            archived_with_it({"pair": pairs}),
            retained_runs(runs),
        ],
        back=reverse("web:environment", args=[environment.pk]),
        done=reverse("web:environments"),
        undo=reverse("web:environment_restore", args=[environment.pk]) + "?undo=1",
        act=lambda: services.archive(row=environment),
    )


@needs(Permission.WRITE, within=environment_itself)
@require_POST
def environment_restore(request: HttpRequest, environment_id: int) -> HttpResponse:
    """Bring an archived environment back; its pairs are restored one by one."""
    environment = get_object_or_404(Environment, pk=environment_id)
    try:
        if services.restore(row=environment, whole="undo" in request.GET):
            messages.success(request, _("Environment {environment} is restored.").format(environment=environment.name))
    except HostsError as error:
        messages.error(request, with_link(error.message, other_url(error)))
    return redirect("web:environment", environment.pk)
