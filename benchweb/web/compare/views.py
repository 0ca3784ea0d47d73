"""Runs beside each other: what differs between them, in figures and in facts."""

import json
from collections.abc import Sequence
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.charts.comparison.export import comparison_document, comparison_figures, sets_document, sets_figures
from benchweb.charts.comparison.rows import RunsComparison, compare_runs, narrowed
from benchweb.charts.comparison.sets import ReadSides, compare_sets, read_sides, sets_charts, sides_document
from benchweb.common.rows import row_id
from benchweb.documents.csv_file import table_csv
from benchweb.documents.document import DocumentTable
from benchweb.documents.moments import rfc3339
from benchweb.plans.expansion import PlanError
from benchweb.plans.services import version_repeated
from benchweb.results.selectors import trial_rows_of_runs
from benchweb.runs.models import Run
from benchweb.runs.services import LaunchError, launch_version
from benchweb.web.access.once import once
from benchweb.web.compare.choice import choice
from benchweb.web.compare.page import (
    REPETITIONS_WANTED,
    compared_charts,
    comparison,
    facts_changed,
    requested_runs,
)
from benchweb.web.compare.query import MOST_RUNS, CompareQuery, compare_query, form_sides, links, switches
from benchweb.web.compare.set_form import set_form, sides_text
from benchweb.web.compare.sets import sets_comparison
from benchweb.web.shared.charts_answer import charts_answer
from benchweb.web.shared.zones import reader_zone


@needs(Permission.READ)
def compare_page(request: HttpRequest) -> HttpResponse:
    """Compare the runs or sets in the query; with fewer than two, or when asked, offer some to choose from."""
    query = compare_query(request.GET, reader_zone(request))
    if sides := form_sides(request.GET):
        return redirect(query.url(runs=(), sides=sides))
    if len(request.GET.getlist("runs")) > 1:
        return redirect(query.url())
    if query.sides:
        return _sets_page(request, query)
    runs = requested_runs(query)
    context: dict[str, object] = {"query": query, "runs": runs, "notices": _notices(query, runs)}
    if len(runs) > 1:
        page = comparison(runs, query)
        context |= {"page": page, "charts": page.charts, "links": links(query), "switches": switches(query, page.kinds)}
    if len(runs) < 2 or query.is_choosing:
        context["choice"] = choice(query, runs)
    return render(request, "compare/compare.html", context)


@needs(Permission.READ)
def compare_charts_json(request: HttpRequest) -> HttpResponse:
    """Return the comparison's chart specs, for the script that draws them."""
    query = compare_query(request.GET, reader_zone(request))
    if query.sides:
        return charts_answer(sets_charts(_read(query)))
    return charts_answer(compared_charts(requested_runs(query), query))


@needs(Permission.READ)
@require_GET
def compare_sets_form(request: HttpRequest) -> HttpResponse:
    """Show the form that chooses sets; `sides` is for how many."""
    query = compare_query(request.GET, reader_zone(request))
    form = set_form(query.sides, count=row_id(request.GET.get("sides", "")) or 0)
    is_part = request.htmx and not request.htmx.boosted  # type: ignore[attr-defined]
    return render(request, f"compare/{'partials/set_form' if is_part else 'set_form'}.html", {"form": form})


@needs(Permission.RUN, checked_by_view=True)
@once
@require_POST
def compare_repeat(request: HttpRequest) -> HttpResponse:
    """Launch the compared runs again with enough repetitions, and compare the new ones."""
    query = compare_query(request.POST, reader_zone(request))
    runs = requested_runs(query)
    try:
        new = runs_repeated(runs, repetitions=REPETITIONS_WANTED, by=cast(User, request.user))
    except (LaunchError, PlanError) as error:
        messages.error(request, error.message)
        return redirect(query.url())
    return redirect(query.url(runs=tuple(new)))


@needs(Permission.READ)
def compare_csv_file(request: HttpRequest) -> HttpResponse:
    """Return the comparison as CSV, a line for each measure and run."""
    query = compare_query(request.GET, reader_zone(request))
    if query.sides:
        read, compared = _requested_sets(query)
        return _csv(sets_figures(sides_document(read), compared), "sets")
    runs, compared = _requested(query)
    return _csv(comparison_figures(runs, compared), _names(runs))


@needs(Permission.READ)
def compare_json_file(request: HttpRequest) -> HttpResponse:
    """Return the comparison as JSON, with every repetition's value and the facts that differ."""
    query = compare_query(request.GET, reader_zone(request))
    if query.sides:
        read, compared = _requested_sets(query)
        document = sets_document(sides_document(read), compared)
        return _json(document, "sets")
    runs, compared = _requested(query)
    facts = [{"fact": fact.label, "hosts": fact.ends, "values": fact.values} for fact in facts_changed(runs)[0]]
    document = comparison_document(runs, compared) | {"facts": facts}
    return _json(document, _names(runs))


def _sets_page(request: HttpRequest, query: CompareQuery) -> HttpResponse:
    read = _read(query)
    context: dict[str, object] = {"query": query, "read": read, "notices": read.notices, "links": links(query)}
    if len(read.sides) > 1:
        page = sets_comparison(read, query)
        context |= {"page": page, "charts": page.charts, "switches": switches(query, page.kinds)}
    context["form_query"] = sides_text(query.sides)
    return render(request, "compare/sets.html", context)


def _read(query: CompareQuery) -> ReadSides:
    return read_sides(query.sides, zone=query.zone, show=query.show, kind=query.kind)


def _requested_sets(query: CompareQuery) -> tuple[ReadSides, RunsComparison]:
    read = _read(query)
    if len(read.sides) < 2:
        raise Http404(_("A comparison needs two or more sides: ?side=pair=1&side=pair=2, each encoded."))
    compared = compare_sets(read, show=query.show, sort=query.sort)
    return read, narrowed(compared, kind=query.kind, only_differing=query.is_differing)


def _requested(query: CompareQuery) -> tuple[list[Run], RunsComparison]:
    runs = requested_runs(query)
    if len(runs) < 2:
        raise Http404(_("A comparison needs two or more runs: ?runs=1,2"))
    trials = trial_rows_of_runs([run.pk for run in runs])
    compared = compare_runs([trials[run.pk] for run in runs], show=query.show, sort=query.sort)
    return runs, narrowed(compared, kind=query.kind, only_differing=query.is_differing)


def _names(runs: list[Run]) -> str:
    return "-".join(str(run.pk) for run in runs)


def _csv(figures: DocumentTable, names: str) -> HttpResponse:
    return _download("".join(table_csv(figures)), "text/csv", f"compare-{names}.csv")


def _json(document: dict[str, Any], names: str) -> HttpResponse:
    text = json.dumps(document, default=rfc3339, ensure_ascii=False)
    return _download(text, "application/json", f"compare-{names}.json")


def _download(text: str, content_type: str, name: str) -> HttpResponse:
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


@transaction.atomic
def runs_repeated(runs: Sequence[Run], *, repetitions: int, by: User) -> list[int]:
    """Launch each run's test on its pair again with so many repetitions, all or none; return the new runs' ids.

    Their plans stay as they are. Raise LaunchError or PlanError.
    """
    launched = []
    for run in runs:
        version = version_repeated(version=run.plan_version, repetitions=repetitions)
        launched.append(launch_version(version=version, pairs=[run.pair], user=by).runs.get().pk)
    return launched
