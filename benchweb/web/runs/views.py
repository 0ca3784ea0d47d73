"""A run's page, which is its permalink, and what is done there."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.catalog import catalog
from benchweb.charts.run.charts import run_charts, with_ids
from benchweb.charts.run.export import run_csv, run_json
from benchweb.charts.run.published import published_tables
from benchweb.charts.run.verdict import metric_headlines
from benchweb.charts.tools.files import TOOL_FILES
from benchweb.common.downloads import download
from benchweb.imports.models import Import
from benchweb.results.selectors import trial_rows
from benchweb.runs.models import Run
from benchweb.runs.selectors import environments_of_run, runs_named
from benchweb.runs.services import LaunchError, launch_version, run_cancel
from benchweb.state_words import state_word
from benchweb.web.access.context import can_of
from benchweb.web.access.once import once
from benchweb.web.live.parts import PartKey, shared_part
from benchweb.web.runs.badge import figure_badge
from benchweb.web.runs.figures import queue_view
from benchweb.web.runs.page import run_notes, run_view
from benchweb.web.shared.charts_answer import charts_answer


@needs(Permission.READ)
def run_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show a run; htmx gets what changes while it runs."""
    if request.htmx and not request.htmx.boosted:  # type: ignore[attr-defined]
        return HttpResponse(_live_part(request, run_id))
    imported = Import.objects.select_related("created_by").defer("text").filter(run=run_id).first()
    context = _run_parts(run_id) | {"live_metrics": live_metrics(), "imported": imported}
    if request.GET.get("published") == "1":
        context["published"] = published_tables(context["trials"])
    return render(request, "runs/run.html", context)


def _live_part(request: HttpRequest, run_id: int) -> str:
    """Return what changes while a run goes on, as others see it too who may do the same with it."""
    can = can_of(request.user)
    key = PartKey(run_id, get_language() or "", can.send("run_cancel", run_id), can.run)
    return shared_part(key, lambda: render_to_string("runs/run/live.html", _run_parts(run_id) | {"can": can}))


def _run_parts(run_id: int) -> dict[str, Any]:
    """Return what a run's page shows to any reader."""
    run = get_object_or_404(runs_named().select_related("campaign__slot__schedule"), pk=run_id)
    trials = trial_rows(run.pk)
    view = run_view(run, trials)
    charts = with_ids(view.record.charts, run.pair)
    slot = getattr(run.campaign, "slot", None)
    return {"view": view, "run": run, "charts": charts, "trials": trials, "schedule": slot and slot.schedule}


@needs(Permission.READ)
def run_queue(request: HttpRequest, run_id: int) -> HttpResponse:
    """Say where a pending run is in the queue and when it is expected to start, as it is at this moment."""
    run = get_object_or_404(runs_named(), pk=run_id)
    return render(request, "runs/run/queue.html", {"queue": queue_view(run), "run": run})


@needs(Permission.READ)
def run_charts_json(request: HttpRequest, run_id: int) -> HttpResponse:
    """Return the run's chart specs, for the script that draws them."""
    return charts_answer(run_charts(get_object_or_404(runs_named(), pk=run_id)))


@needs(Permission.READ)
def run_csv_file(request: HttpRequest, run_id: int) -> StreamingHttpResponse:
    """Return the run's trials as CSV, the same file as the API's."""
    run = get_object_or_404(runs_named(), pk=run_id)
    return download(request, run_csv(run), media_type="text/csv", file_name=f"run-{run_id}.csv")


@needs(Permission.READ)
def run_json_file(request: HttpRequest, run_id: int) -> StreamingHttpResponse:
    """Return the run with every result's document as JSON, the same file as the API's."""
    run = get_object_or_404(runs_named(), pk=run_id)
    return download(request, run_json(run), media_type="application/json", file_name=f"run-{run_id}.json")


@needs(Permission.READ)
def run_tool_file(request: HttpRequest, run_id: int, tool: str) -> StreamingHttpResponse:
    """Return the run as another tool prints it, the same file as the API's."""
    file = TOOL_FILES.get(tool)
    if file is None:
        raise Http404(tool)
    run = get_object_or_404(runs_named(), pk=run_id)
    return download(request, file.write(run), media_type=file.media_type, file_name=f"run-{run_id}.{file.suffix}")


@needs(Permission.READ)
def run_badge(request: HttpRequest, run_id: int) -> HttpResponse:
    """Return a badge of one of the run's metrics; for others than who is logged in there is the share link's."""
    named = Run.objects.select_related("pair__source__host", "pair__sink", "plan_version__plan")
    run = get_object_or_404(named, pk=run_id)
    trials = trial_rows(run.pk)
    return figure_badge(
        metric_headlines(trials, run.plan_version.plan.main_size_bytes),
        request.GET.get("metric", ""),
        state=run.state,
        notes=run_notes(run, trials),
        is_synthetic=run.pair.source.host.is_synthetic,
    )


@needs(Permission.RUN, within=environments_of_run)
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


@needs(Permission.RUN, within=environments_of_run)
@once
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
        next_id = run_id
    else:
        next_id = campaign.runs.get().pk
        if Import.objects.filter(run=run).exists():
            text = _(
                "Run {run} was imported. This run is measured by benchweb's engine: its results are another series."
            )
            messages.info(request, text.format(run=run.pk))
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponseClientRedirect(reverse("web:run", args=[next_id]))
    return redirect("web:run", next_id)


def live_metrics() -> dict[str, dict[str, str]]:
    """Return label, unit and quantity of each metric that a running trial's intervals may carry."""
    live = [catalog().metrics[kind.live] for kind in catalog().kinds.values()]
    return {
        metric.key: {"label": metric.label, "unit": metric.unit, "quantity": metric.quantity.capitalize()}
        for metric in live
    }
