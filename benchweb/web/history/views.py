"""The history: charts over time, latency heat maps, figures by message size; and people's notes on them."""

from collections.abc import Iterator

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from benchweb.annotations.services import AnnotationError, annotation_archive, annotation_create
from benchweb.charts.history.export import history_csv
from benchweb.charts.history.query import shown_words
from benchweb.charts.history.series import chosen_lines, selection_of
from benchweb.common.downloads import download
from benchweb.web.history.forms import AnnotationForm
from benchweb.web.history.page import (
    HistoryView,
    changed,
    choices_of,
    drawn_charts,
    history_view,
    local_input,
    query_of,
)
from benchweb.web.shared.charts_answer import charts_answer
from benchweb.web.shared.lists import list_page


@login_required
@require_GET
def history_page(request: HttpRequest) -> HttpResponse:
    """Show the history that the query string asks for."""
    return _page(request, history_view(request))


@login_required
@require_GET
def history_charts_json(request: HttpRequest) -> HttpResponse:
    """Return the chart specs of the same query string, finer the shorter the time is."""
    return charts_answer(drawn_charts(request))


@login_required
@require_GET
def history_csv_file(request: HttpRequest) -> StreamingHttpResponse:
    """Return every point behind the charts over time."""
    query = query_of(request)
    kind = choices_of(query).kind
    parts: Iterator[str] = iter(())
    if kind:
        parts = history_csv(query, selection := selection_of(kind, query.metric), chosen_lines(query, selection).lines)
    return download(request, parts, media_type="text/csv", file_name="history.csv")


@login_required
@require_POST
def annotation_add(request: HttpRequest) -> HttpResponse:
    """Write a note, and show the history that it was written on; with a refusal, what was typed is kept."""
    view = history_view(request)
    form = AnnotationForm(request.POST, zone=view.query.zone, scopes=view.scopes)
    if form.is_valid():
        values = form.cleaned_data
        try:
            annotation_create(
                text=values["text"],
                at=values["at"],
                until=values["until"],
                author=request.user,  # type: ignore[arg-type]
                **values["about"],
            )
            return redirect(f"/history{changed(request.GET)}")
        except AnnotationError as error:
            form.refuse(error.field, error.message)
    return _page(request, view, form)


@login_required
@require_POST
def annotation_remove(request: HttpRequest, annotation_id: int) -> HttpResponse:
    """Take a note from the charts."""
    if not annotation_archive(annotation_id=annotation_id):
        messages.warning(request, _("The note has already been removed."))
    return redirect(f"/history{changed(request.GET)}")


def _page(request: HttpRequest, view: HistoryView, refused: AnnotationForm | None = None) -> HttpResponse:
    initial = {"at": local_input(view.query.shown[1], view.query)}
    form = refused or AnnotationForm(zone=view.query.zone, scopes=view.scopes, initial=initial)
    context = {
        "view": view,
        "form": form,
        "is_refused": refused is not None,
        "here": changed(request.GET),
        "shown_words": shown_words(view.query),
        # What no control of the form changes, but a change of one must keep.
        "retained_in_form": [(name, request.GET.get(name, "")) for name in ("series", "over", "from", "to", "runs")],
    }
    return list_page(request, "history/history.html", context)
