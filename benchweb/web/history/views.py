"""The history: charts over time, latency heat maps, figures by message size; and people's notes on them."""

from collections.abc import Iterator

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import needs
from benchweb.annotations.selectors import environments_about, environments_of_annotation
from benchweb.annotations.services import AnnotationError, annotation_archive, annotation_create, annotation_restore
from benchweb.charts.history.export import history_csv
from benchweb.charts.history.lines import chosen_lines, selection_of
from benchweb.charts.history.opening import opening_query
from benchweb.common.downloads import download
from benchweb.web.access.once import once
from benchweb.web.history.filters import changed
from benchweb.web.history.forms import AnnotationForm
from benchweb.web.history.page import HistoryView, choices_of, drawn_charts, history_view, local_input, query_of
from benchweb.web.shared.archiving import done_with_undo
from benchweb.web.shared.charts_answer import charts_answer
from benchweb.web.shared.lists import list_page

# The reader's last view of a pair, an environment, a host or series: the history's address alone opens on it again.
LAST_VIEW = "history"
_LONGEST_REMEMBERED = 2_000
_REMEMBERED_SECONDS = 365 * 24 * 3600


@needs(Permission.READ)
@require_GET
def history_page(request: HttpRequest) -> HttpResponse:
    """Show the history that the query string asks for; without one the reader's last view, else a useful one."""
    if not request.GET and (opening := _opening(request)):
        return redirect(f"{reverse('web:history')}?{opening}")
    response = _page(request, history_view(request))
    query = request.GET.urlencode()
    if _is_of_one(request.GET) and len(query) <= _LONGEST_REMEMBERED:
        settings = {"max_age": _REMEMBERED_SECONDS, "path": request.path, "httponly": True, "samesite": "Lax"}
        response.set_cookie(LAST_VIEW, query, secure=request.is_secure(), **settings)  # type: ignore[arg-type]
    return response


@needs(Permission.READ)
@require_GET
def history_charts_json(request: HttpRequest) -> HttpResponse:
    """Return the chart specs of the same query string, finer the shorter the time is."""
    return charts_answer(drawn_charts(request))


@needs(Permission.READ)
@require_GET
def history_csv_file(request: HttpRequest) -> StreamingHttpResponse:
    """Return every point behind the charts over time."""
    query = query_of(request)
    kind = choices_of(query).kind
    parts: Iterator[str] = iter(())
    if kind:
        parts = history_csv(query, selection := selection_of(kind, query.metric), chosen_lines(query, selection).lines)
    return download(request, parts, media_type="text/csv", file_name="history.csv")


@needs(Permission.RUN, checked_by_view=True)
@once
@require_POST
def annotation_add(request: HttpRequest) -> HttpResponse:
    """Write a note, and show the history that it was written on; with a refusal, what was typed is kept."""
    view = history_view(request)
    form = AnnotationForm(request.POST, zone=view.query.zone, scopes=view.scopes)
    if form.is_valid():
        values = form.cleaned_data
        access_of(request.user).demand(Permission.RUN, environments_about(**values["about"]))
        try:
            annotation_create(
                text=values["text"],
                at=values["at"],
                until=values["until"],
                author=request.user,  # type: ignore[arg-type]
                **values["about"],
            )
            return redirect(reverse("web:history") + changed(request.GET))
        except AnnotationError as error:
            form.refuse(error.field, error.message)
    return _page(request, view, form)


@needs(Permission.RUN, within=environments_of_annotation)
@require_POST
def annotation_remove(request: HttpRequest, annotation_id: int) -> HttpResponse:
    """Take a note from the charts."""
    here = changed(request.GET)
    if annotation_archive(annotation_id=annotation_id):
        undo = reverse("web:annotation_restore", args=[annotation_id])
        done_with_undo(request, _("The note is removed."), f"{undo}{here}")
    else:
        messages.warning(request, _("The note has already been removed."))
    return redirect(reverse("web:history") + here)


@needs(Permission.RUN, within=environments_of_annotation)
@require_POST
def annotation_undo(request: HttpRequest, annotation_id: int) -> HttpResponse:
    """Put a note back that was removed."""
    annotation_restore(annotation_id=annotation_id)
    return redirect(reverse("web:history") + changed(request.GET))


def _opening(request: HttpRequest) -> str:
    """Return the query string to open on; what a browser sends is read like any other."""
    last = QueryDict(request.COOKIES.get(LAST_VIEW, "")[:_LONGEST_REMEMBERED])
    return last.urlencode() if _is_of_one(last) else urlencode(opening_query())


def _is_of_one(query: QueryDict) -> bool:
    """Tell whether an address is of one pair, environment, host or of chosen series, and not of all that there is."""
    return any(query.get(name) for name in ("pair", "environment", "host", "series"))


def _page(request: HttpRequest, view: HistoryView, refused: AnnotationForm | None = None) -> HttpResponse:
    initial = {"at": local_input(view.query.span[1], view.query)}
    form = refused or AnnotationForm(zone=view.query.zone, scopes=view.scopes, initial=initial)
    context = {
        "view": view,
        "form": form,
        "is_refused": refused is not None,
        "here": changed(request.GET),
        # What the days' own form carries along.
        "besides_days": [(name, value) for name, value in request.GET.items() if value and name not in ("from", "to")],
    }
    return list_page(request, "history/history.html", context)
