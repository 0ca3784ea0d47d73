"""A trial's page: everything that its result tells."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.charts.run.export import engine_json
from benchweb.charts.run.host_measured import measured_on
from benchweb.charts.run.reproduce import engine_command
from benchweb.charts.run.trial.charts import course_charts
from benchweb.charts.run.trial.detail import trial_detail
from benchweb.charts.run.trial.export import intervals_csv
from benchweb.common.downloads import download
from benchweb.results.models import Result
from benchweb.runs.models import Trial
from benchweb.runs.selectors import runs_named
from benchweb.web.shared.charts_answer import charts_answer


@needs(Permission.READ)
def trial_page(request: HttpRequest, run_id: int, index: int) -> HttpResponse:
    """Show one trial of a run."""
    run = get_object_or_404(runs_named(), pk=run_id)
    trial = get_object_or_404(Trial, run=run, index=index)
    result = Result.objects.filter(trial=trial).first()
    context = {
        "run": run,
        "trial": trial,
        "detail": trial_detail(trial.kind, result) if result else None,
        "measured_on": measured_on(result.document) if result else [],
        "charts": course_charts(result) if result else [],
        "command": engine_command(pair=run.pair, kind=trial.kind, params=trial.params),
        "neighbours": _neighbours(trial),
    }
    return render(request, "trials/trial.html", context)


@needs(Permission.READ)
def trial_charts_json(request: HttpRequest, run_id: int, index: int) -> HttpResponse:
    """Return the trial's chart specs, for the script that draws them."""
    result = get_object_or_404(Result, trial__run=run_id, trial__index=index)
    return charts_answer(course_charts(result))


@needs(Permission.READ)
def trial_document_file(request: HttpRequest, run_id: int, index: int) -> StreamingHttpResponse:
    """Return the engine's own document of a trial's result, to be shown by the browser."""
    results = Result.objects.select_related("source_facts", "sink_facts")
    result = get_object_or_404(results, trial__run=run_id, trial__index=index, trial__run__details_removed_at=None)
    name = f"run-{run_id}-trial-{index}.json"
    return download(request, engine_json(result), media_type="application/json", file_name=name, is_inline=True)


@needs(Permission.READ)
def trial_intervals_file(request: HttpRequest, run_id: int, index: int) -> StreamingHttpResponse:
    """Return all intervals of a trial as CSV, part by part."""
    trial = get_object_or_404(Trial, run=run_id, index=index, result__isnull=False)
    name = f"run-{run_id}-trial-{index}-intervals.csv"
    return download(request, intervals_csv(trial.pk), media_type="text/csv", file_name=name)


def _neighbours(trial: Trial) -> dict[str, int | None]:
    others = Trial.objects.filter(run=trial.run_id)
    before = others.filter(index__lt=trial.index).order_by("-index").values_list("index", flat=True).first()
    after = others.filter(index__gt=trial.index).order_by("index").values_list("index", flat=True).first()
    return {"before": before, "after": after}
