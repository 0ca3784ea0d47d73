"""Runs beside each other: what differs between them, in figures and in facts."""

import json

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.charts.comparison.export import comparison_csv, comparison_document
from benchweb.charts.comparison.rows import RunsComparison, compare_runs, narrowed
from benchweb.charts.moments import rfc3339
from benchweb.results.selectors import trial_rows_of_runs
from benchweb.runs.models import Run
from benchweb.web.compare.choice import choice
from benchweb.web.compare.page import compared_charts, comparison, facts_changed, requested_runs
from benchweb.web.compare.query import MOST_RUNS, CompareQuery, compare_query, links, switches
from benchweb.web.shared.charts_answer import charts_answer
from benchweb.web.shared.zones import reader_zone


@login_required
def compare_page(request: HttpRequest) -> HttpResponse:
    """Compare the runs in the query; with fewer than two, or when asked, offer runs to choose from."""
    query = compare_query(request.GET, reader_zone(request))
    if len(request.GET.getlist("runs")) > 1:
        return redirect(query.url())
    runs = requested_runs(query)
    context: dict[str, object] = {"query": query, "runs": runs, "notices": _notices(query, runs)}
    if len(runs) > 1:
        page = comparison(runs, query)
        context |= {"page": page, "charts": page.charts, "links": links(query), "switches": switches(query, page.kinds)}
    if len(runs) < 2 or query.is_choosing:
        context["choice"] = choice(query, runs)
    return render(request, "compare/compare.html", context)


@login_required
def compare_charts_json(request: HttpRequest) -> HttpResponse:
    """Return the comparison's chart specs, for the script that draws them."""
    query = compare_query(request.GET, reader_zone(request))
    return charts_answer(compared_charts(requested_runs(query), query))


@login_required
def compare_csv_file(request: HttpRequest) -> HttpResponse:
    """Return the comparison as CSV, a line for each measure and run."""
    runs, found = _requested(request)
    return _download(comparison_csv(runs, found), "text/csv", runs, "csv")


@login_required
def compare_json_file(request: HttpRequest) -> HttpResponse:
    """Return the comparison as JSON, with every repetition's value and the facts that differ."""
    runs, found = _requested(request)
    facts = [{"fact": each.label, "hosts": each.ends, "values": each.values} for each in facts_changed(runs)[0]]
    document = comparison_document(runs, found) | {"facts": facts}
    text = json.dumps(document, default=rfc3339, ensure_ascii=False)
    return _download(text, "application/json", runs, "json")


def _requested(request: HttpRequest) -> tuple[list[Run], RunsComparison]:
    query = compare_query(request.GET, reader_zone(request))
    runs = requested_runs(query)
    if len(runs) < 2:
        raise Http404(_("A comparison needs two or more runs: ?runs=1,2"))
    trials = trial_rows_of_runs([run.pk for run in runs])
    found = compare_runs([trials[run.pk] for run in runs], show=query.show, sort=query.sort)
    return runs, narrowed(found, kind=query.kind, only_differing=query.is_differing)


def _download(text: str, content_type: str, runs: list[Run], ending: str) -> HttpResponse:
    name = f"compare-{'-'.join(str(run.pk) for run in runs)}.{ending}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=f"{content_type}; charset=utf-8", headers=headers)


def _notices(query: CompareQuery, runs: list[Run]) -> list[str]:
    """Say what of the query can't be shown, so that no column is silently missing."""
    known = {run.pk for run in runs}
    gone = [str(pk) for pk in query.runs if pk not in known]
    notices = []
    if query.unread:
        notices.append(_("Not a run number: %(words)s.") % {"words": ", ".join(query.unread)})
    if gone:
        text = ngettext("Run %(ids)s doesn't exist.", "Runs %(ids)s don't exist.", len(gone))
        notices.append(text % {"ids": ", ".join(gone)})
    if query.too_many:
        numbers = {"count": query.too_many, "most": MOST_RUNS}
        notices.append(_("Only the first %(most)s runs are shown; %(count)s more were requested.") % numbers)
    return notices
