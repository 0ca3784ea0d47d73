"""Runs: the list, and a run's page, which is its permalink."""

from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect

from benchweb.catalog import catalog
from benchweb.charts.history.choices import MOST_PAIRS
from benchweb.charts.run.charts import run_charts, trial_charts, with_ids
from benchweb.charts.run.export import run_csv, run_json
from benchweb.charts.run.published import published_tables
from benchweb.charts.run.verdict import metric_headlines
from benchweb.common.downloads import download
from benchweb.common.names import name_key, searched
from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment, Host
from benchweb.hosts.pairs import pair_choices
from benchweb.plans.models import Plan
from benchweb.results.selectors import trial_rows
from benchweb.runs.lists import listed_runs
from benchweb.runs.models import FAULTY_STATES, Run, State
from benchweb.runs.selectors import runs_named
from benchweb.runs.services import LaunchError, launch_version, run_cancel
from benchweb.state_words import state_word
from benchweb.web.live.parts import shared_part
from benchweb.web.runs.badge import figure_badge
from benchweb.web.runs.launch_days import LAUNCH_DAYS, launched_within
from benchweb.web.runs.page import run_notes, run_view
from benchweb.web.runs.rows import COLUMNS, run_rows
from benchweb.web.shared.charts_answer import charts_answer
from benchweb.web.shared.lists import MOST_RUNS_COUNTED, listing
from benchweb.web.shared.zones import reader_zone

_BY_ID = {
    "plan": "plan_version__plan_id",
    "pair": "pair_id",
    "environment": "pair__environment_id",
    "campaign": "campaign_id",
}
# In the address: whatever ended and has no whole result.
WITHOUT_RESULT = "without"
_FILTERS = ("q", "state", *_BY_ID, "host", *LAUNCH_DAYS)


@login_required
def run_list(request: HttpRequest) -> HttpResponse:
    """Show runs as the query string filters, sorts and pages them; htmx gets the table alone."""
    # Which runs, by a plan that knows the filters' values; what their lines show, by one for all.
    runs = _filtered(request.GET, reader_zone(request)).values_list("pk", named=True)
    found = listing(request, runs, columns=COLUMNS, sort="-pk", filters=_FILTERS, most_counted=MOST_RUNS_COUNTED)
    context = {"listing": found, "rows": run_rows(listed_runs([row.pk for row in found.rows]))}
    if request.htmx and not request.htmx.boosted:  # type: ignore[attr-defined]
        response = render(request, "runs/partials/table.html", context)
        response["HX-Push-Url"] = _clean_url(request)
        return response
    return render(request, "runs/runs.html", context | _choices(request.GET.get("pair", "")))


@login_required
def run_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show a run; htmx gets what changes while it runs."""
    if request.htmx and not request.htmx.boosted:  # type: ignore[attr-defined]
        return HttpResponse(shared_part(run_id, get_language() or "", lambda: _live_html(run_id)))
    context = _run_parts(run_id) | {"live_metrics": _live_metrics()}
    if request.GET.get("published") == "1":
        context["published"] = published_tables(context["trials"])
    return render(request, "runs/run.html", context)


def _live_html(run_id: int) -> str:
    return render_to_string("runs/run/live.html", _run_parts(run_id))


def _run_parts(run_id: int) -> dict[str, Any]:
    """Return what a run's page shows to any reader."""
    run = get_object_or_404(runs_named(), pk=run_id)
    trials = trial_rows(run.pk)
    view = run_view(run, trials)
    charts = with_ids(trial_charts(trials, is_open=view.is_open), run.pair)
    return {"view": view, "run": run, "charts": charts, "trials": trials}


@login_required
def run_charts_json(request: HttpRequest, run_id: int) -> HttpResponse:
    """Return the run's chart specs, for the script that draws them."""
    return charts_answer(run_charts(get_object_or_404(runs_named(), pk=run_id)))


@login_required
def run_csv_file(request: HttpRequest, run_id: int) -> StreamingHttpResponse:
    """Return the run's trials as CSV, the same file as the API's."""
    run = get_object_or_404(runs_named(), pk=run_id)
    return download(request, run_csv(run), media_type="text/csv", file_name=f"run-{run_id}.csv")


@login_required
def run_json_file(request: HttpRequest, run_id: int) -> StreamingHttpResponse:
    """Return the run with every result's document as JSON, the same file as the API's."""
    run = get_object_or_404(runs_named(), pk=run_id)
    return download(request, run_json(run), media_type="application/json", file_name=f"run-{run_id}.json")


@login_required
def run_badge(request: HttpRequest, run_id: int) -> HttpResponse:
    """Return a badge of one of the run's metrics; for others than who is logged in there is the share link's."""
    run = get_object_or_404(Run.objects.select_related("pair__source__host", "pair__sink"), pk=run_id)
    trials = trial_rows(run.pk)
    return figure_badge(
        metric_headlines(trials),
        request.GET.get("metric", ""),
        state=run.state,
        notes=run_notes(run, trials),
        is_synthetic=run.pair.source.host.is_synthetic,
    )


@login_required
@require_POST
def run_cancel_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask for a run's cancellation."""
    run = get_object_or_404(Run, pk=run_id)
    if run_cancel(run=run):
        messages.success(request, _("Cancelling: both engines stop within a second."))
    else:
        messages.warning(
            request, _("Nothing to cancel: the run is {state} or already stopping.").format(state=state_word(run.state))
        )
    return redirect("web:run", run_id)


@login_required
@require_POST
def run_again(request: HttpRequest, run_id: int) -> HttpResponse:
    """Launch the same plan version on the same pair.

    The button is in the part that all watchers share: htmx sends the reader's token by a header, and follows by itself.
    """
    run = get_object_or_404(runs_named(), pk=run_id)
    try:
        campaign = launch_version(version=run.plan_version, pairs=[run.pair], user=request.user)  # type: ignore[arg-type]
    except LaunchError as error:
        messages.error(request, error.message)
        shown = run_id
    else:
        shown = campaign.runs.get().pk
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponseClientRedirect(reverse("web:run", args=[shown]))
    return redirect("web:run", shown)


def _filtered(query: QueryDict, zone: ZoneInfo) -> QuerySet[Run]:
    runs = launched_within(Run.objects.all(), query, zone)
    if query.get("state") == WITHOUT_RESULT:
        runs = runs.filter(state__in=FAULTY_STATES)
    elif query.get("state") in State.values:
        runs = runs.filter(state=query["state"])
    requested = {name: query.get(name, "").strip() for name in _FILTERS}
    for name, field in _BY_ID.items():
        if requested[name]:
            runs = runs.filter(**{field: _id(requested[name])})
    if requested["host"]:
        host = _id(requested["host"])
        runs = runs.filter(Q(pair__source__host=host) | Q(pair__sink__host=host))
    return runs.filter(_text_matches(searched(requested["q"]))) if requested["q"] else runs


def _text_matches(text: str) -> Q:
    matches = Q(pk=_id(text)) | Q(plan_version__plan__name__icontains=text) | Q(reason__icontains=text)
    for end in ("source", "sink"):
        matches |= Q((f"pair__{end}__host__name_key__contains", name_key(text)))
    return matches


def _id(text: str) -> int:
    """Return the id that a query string names; 0, which no row has, for anything else."""
    return row_id(text) or 0


def _clean_url(request: HttpRequest) -> str:
    query = request.GET.copy()
    for name in [name for name, value in query.items() if not value]:
        del query[name]
    return f"{request.path}?{query.urlencode()}" if query else request.path


def _choices(pair: str) -> dict[str, object]:
    """Return what may be chosen; a pair by its hosts' names where there are too many for a list."""
    return {
        "states": State.values,
        "without_result": WITHOUT_RESULT,
        "plans": Plan.objects.filter(archived_at=None).order_by("name").values_list("pk", "name"),
        "pairs": pair_choices(most=MOST_PAIRS, chosen=_id(pair)),
        "environments": Environment.objects.filter(archived_at=None).values_list("pk", "name"),
        "hosts": Host.objects.filter(archived_at=None).values_list("pk", "name"),
    }


def _live_metrics() -> dict[str, dict[str, str]]:
    """Return label, unit and quantity of each metric that a running trial's intervals may carry."""
    live = [catalog().metrics[kind.live] for kind in catalog().kinds.values()]
    return {each.key: {"label": each.label, "unit": each.unit, "quantity": each.quantity.capitalize()} for each in live}
