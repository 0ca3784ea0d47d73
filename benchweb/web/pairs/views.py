"""Pairs: list, page, create in one or both directions, change, archive, restore."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import needs
from benchweb.charts.main_figures import figures_of_pairs
from benchweb.common.rows import row_id
from benchweb.hosts import selectors, services
from benchweb.hosts.belonging import places_of_pairs, places_paired
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.hosts.path_checks import path_check
from benchweb.hosts.selectors import environments_of_pair
from benchweb.labels import labels_in_use
from benchweb.results.models import Series
from benchweb.results.series_summaries import SeriesScope
from benchweb.runs.lists import latest_of_pairs
from benchweb.runs.models import Run
from benchweb.state_words import state_word
from benchweb.web.access.context import can_of
from benchweb.web.access.once import once
from benchweb.web.pairs.forms import PairDetailsForm, PairForm
from benchweb.web.pairs.path_panel import PathPanel, path_panel
from benchweb.web.series.subject import subject_part
from benchweb.web.shared.archiving import archive_several, counted, restore_several, retained_runs, ticked
from benchweb.web.shared.awaited_check import AwaitedCheck
from benchweb.web.shared.edits import edits
from benchweb.web.shared.lists import RUNS_DISPLAYED, Column, choices_of_all, chosen_columns, list_page, listing
from benchweb.web.shared.next_step import lone_host
from benchweb.web.shared.plain_pages import PlainPages


@needs(Permission.RUN, within=environments_of_pair)
@require_POST
def pair_check(request: HttpRequest, pair_id: int) -> HttpResponse:
    """Ask for a check now; with HTMX the panel follows it, else the pair's page shows it when reloaded."""
    pair = _pair(pair_id)
    path_check(pair=pair)
    if not request.headers.get("HX-Request"):
        messages.info(request, _("Checking {endpoint}. Reload this page in a few seconds.").format(endpoint=pair))
        return redirect("web:pair", pair.pk)
    return _page(request, path_panel(pair, AwaitedCheck.begun(pair.path_checked_at)))


@needs(Permission.READ)
@require_POST
def pair_watch(request: HttpRequest, pair_id: int) -> HttpResponse:
    """Return the panel as it is now."""
    return _page(request, path_panel(_pair(pair_id), AwaitedCheck.posted(request)))


def _pair(pair_id: int) -> Pair:
    return get_object_or_404(Pair.objects.select_related("source__host", "sink__host"), pk=pair_id)


def _page(request: HttpRequest, panel: PathPanel) -> HttpResponse:
    return render(request, "pairs/partials/path_panel.html", {"path": panel, "pair": panel.pair})


COLUMNS = [
    Column(gettext_noop("Select")),
    Column(gettext_noop("Source"), "source__host__name"),
    Column(gettext_noop("Source state"), key="source_state"),
    Column(gettext_noop("Sink"), "sink__host__name"),
    Column(gettext_noop("Sink state"), key="sink_state"),
    Column(gettext_noop("Main figure"), numeric=True, key="figure"),
    Column(gettext_noop("Change"), key="change"),
    Column(gettext_noop("Last runs"), key="line"),
    Column(gettext_noop("Data path"), "path_status", key="path"),
    Column(gettext_noop("Environment"), "environment__name", key="environment"),
    Column(gettext_noop("Added"), "created_at", key="added"),
]


@needs(Permission.READ)
@require_GET
def pair_list(request: HttpRequest) -> HttpResponse:
    """List pairs with the state of both ends."""
    archived = request.GET.get("archived") == "1"
    environment, host = request.GET.get("environment", ""), request.GET.get("host", "")
    pairs = selectors.pairs_matching(
        text=request.GET.get("q", ""),
        # 0 is no row's id: what can't be one matches nothing.
        environment=row_id(environment) or 0 if environment else None,
        host=row_id(host) or 0 if host else None,
        status=request.GET.get("status", ""),
        path=request.GET.get("path", ""),
        label=request.GET.get("label", ""),
        archived=archived,
    )
    filters = ["q", "label", "environment", "host", "status", "path", "archived"]
    page = listing(request, pairs, columns=COLUMNS, sort="source__host__name", filters=filters)
    columns = chosen_columns(request, "pairs", COLUMNS)
    figures = figures_of_pairs([pair.pk for pair in page.rows])
    context = {
        "page": page.of_columns(columns.hidden),
        "rows": [(pair, figures.get(pair.pk)) for pair in page.rows],
        "columns": columns,
        "archive_url": can_of(request.user).address("pairs_archive"),
        "label_url": can_of(request.user).address("pairs_label"),
        "labels": labels_in_use(Pair),
        "archived": archived,
        **choices_of_all(
            environments=Environment.objects.filter(archived_at=None), hosts=Host.objects.filter(archived_at=None)
        ),
        "statuses": [(value, state_word(value)) for value in Endpoint.Status.values],
        "paths": [*Pair.Path.choices, (selectors.FAULTY, state_word(selectors.FAULTY))],
    }
    return list_page(request, "pairs/pairs.html", context)


@needs(Permission.READ)
@require_GET
def pair_page(request: HttpRequest, pair_id: int) -> HttpResponse:
    """Show a pair: its pictures, what changed, its recent runs, and its ends beside them."""
    pair = get_object_or_404(_pairs(), pk=pair_id)
    hosts = {pair.source.host_id, pair.sink.host_id}
    context = {
        "pair": pair,
        "ends": [(_("Host"), pair.source)]
        if pair.is_one_host
        else [(_("Source"), pair.source), (_("Sink"), pair.sink)],
        "path": None if pair.is_one_host else path_panel(pair),
        **subject_part(request, {"pair": pair.pk}, SeriesScope(pair=pair.pk), hosts=hosts),
        "runs_filter": f"pair={pair.pk}",
        "runs": latest_of_pairs(Pair.objects.filter(pk=pair.pk), most=RUNS_DISPLAYED),
        "run_count": Run.objects.filter(pair=pair).count(),
    }
    return render(request, "pairs/pair.html", context)


@needs(Permission.WRITE, checked_by_view=True)
@once
@require_http_methods(["GET", "POST"])
def pair_new(request: HttpRequest) -> HttpResponse:
    """Create a pair, and its reverse when asked; both or none."""
    form = PairForm(request.POST) if request.method == "POST" else PairForm(initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        access_of(request.user).demand(Permission.WRITE, form.places())
        try:
            pair = _create(form)
        except HostsError as error:
            form.refuse(error.field, error.message)
        else:
            return redirect("web:pair", pair.pk)
    endpoint_count = selectors.endpoints_usable().count()
    environment_count = Environment.objects.filter(archived_at=None).count()
    context = {
        "form": form,
        "endpoint_count": endpoint_count,
        "host": lone_host() if endpoint_count == 1 else None,
        "environment_count": environment_count,
        "is_possible": endpoint_count > 0 and environment_count > 0,
    }
    return render(request, "pairs/pair_new.html", context)


@needs(Permission.WRITE, within=environments_of_pair)
@edits("pairs", "pair_id")
@require_http_methods(["GET", "POST"])
def pair_edit(request: HttpRequest, pair_id: int) -> HttpResponse:
    """Label a pair, or move it to another environment."""
    pair = get_object_or_404(_pairs(), pk=pair_id)
    initial = {"environment": pair.environment_id, "labels": pair.labels}
    current = PairDetailsForm(initial=initial)
    form = PairDetailsForm(request.POST) if request.method == "POST" else current
    back = reverse("web:pair", args=[pair.pk])
    is_current = form.note_opened(request.POST, current)
    if request.method == "POST" and form.is_valid() and is_current:
        places = places_paired(form.cleaned_data["environment"].pk, [pair.source_id, pair.sink_id])
        access_of(request.user).demand(Permission.WRITE, places)
        try:
            services.pair_update(pair=pair, **form.cleaned_data)
            return redirect(back)
        except HostsError as error:
            form.refuse(error.field, error.message)
    context = {"form": form, "title": _("Edit {pair}").format(pair=pair), "back": back}
    return render(request, "shared/form.html", context, status=form.status)


class PairPages(PlainPages[Pair]):
    """Pairs; the runs of one stay."""

    model, page_name, has_archived_pages = Pair, "pair", True
    name, path, list_name = "pair", "pairs", "pairs"
    within = staticmethod(environments_of_pair)
    noun = gettext_lazy("pair {name}")
    restored = gettext_lazy("Pair {name} is restored.")

    def rows(self) -> "QuerySet[Pair]":
        return _pairs()

    def losses(self, row: Pair) -> list[str]:
        series = counted(Series.objects.filter(pair=row).count(), "series")
        return [_("It can no longer be launched."), retained_runs(Run.objects.filter(pair=row), series)]

    def archive(self, row: Pair, by: User) -> bool:
        return services.archive(row=row)

    def restore(self, row: Pair, request: HttpRequest) -> None:
        """Bring a pair back, unless something that it needs is archived still."""
        access_of(request.user).demand(Permission.WRITE, places_of_pairs([row.pk]))
        _restored(row)


@needs(Permission.WRITE, checked_by_view=True)
@require_POST
def pairs_archive(request: HttpRequest) -> HttpResponse:
    """Archive the ticked pairs; their runs stay."""
    ids = ticked(request.POST.getlist("rows"))
    access_of(request.user).demand(Permission.WRITE, selectors.environments_of_pairs(ids))
    return archive_several(
        request,
        _pairs(),
        noun="pair",
        act=lambda pair: services.archive(row=pair),
        back=reverse("web:pairs"),
        undo=reverse("web:pairs_restore"),
        losses=[_("They can no longer be launched."), _("Runs and series are kept.")],
    )


@needs(Permission.WRITE, checked_by_view=True)
@require_POST
def pairs_restore(request: HttpRequest) -> HttpResponse:
    """Undo the archiving of several pairs."""
    places = places_of_pairs(ticked(request.GET.get("rows", "").split(",")))
    access_of(request.user).demand(Permission.WRITE, places)
    return restore_several(request, _pairs(), noun="pair", act=_restored, back=reverse("web:pairs"))


def _restored(pair: Pair) -> bool:
    """Bring a pair back; raise HostsError where something that it needs is archived still."""
    needed = (pair.source.host, pair.sink.host, pair.source, pair.sink, pair.environment)
    archived = next((row for row in needed if row.archived_at is not None), None)
    if archived is not None:
        what = type(archived).__name__.lower()
        message = _("{pair} needs the {what} {archived}, which is archived: restore it first.")
        raise HostsError("", message.format(pair=pair, what=what, archived=archived))
    return services.restore(row=pair)


@transaction.atomic
def _create(form: PairForm) -> Pair:
    source, sink = form.cleaned_data["source"], form.cleaned_data["sink"]
    environment = form.cleaned_data["environment"]
    labels = form.cleaned_data["labels"]
    pair = services.pair_create(source=source, sink=sink, environment=environment, labels=labels)
    if form.cleaned_data["both_directions"] and sink is not None:
        services.pair_create(source=sink, sink=source, environment=environment, labels=labels)
    return pair


def _pairs() -> QuerySet[Pair]:
    return Pair.objects.select_related("source__host", "sink__host", "environment")
