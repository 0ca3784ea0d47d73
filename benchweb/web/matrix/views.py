"""The matrix: source × sink by host or by network mode; its CSV, and the picture of the whole."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.charts.matrix.figures import WINDOW, Axes, axes_of
from benchweb.charts.matrix.picture import MOST_ITEMS, matrix_picture, square_pixels
from benchweb.common.rows import row_id
from benchweb.documents.csv_file import table_csv
from benchweb.hosts.grid import grid_endpoints
from benchweb.results.latest_medians import MatrixEnvironment, last_values, matrix_environments
from benchweb.web.matrix.document import matrix_table
from benchweb.web.matrix.filters import matrix_filters
from benchweb.web.matrix.page import filled_matrix, matrix_view
from benchweb.web.matrix.query import LAST_ENVIRONMENT, MatrixQuery, matrix_query
from benchweb.web.matrix.targets import displayed_targets, limit_example, target_scopes
from benchweb.web.shared.lists import list_page

_OF_A_CLICK = ("at.x", "at.y", "picture")
# A picture of a night's runs is the same for a while; nobody else's cache may keep it.
_PICTURE_CACHE = "private, max-age=60"
_REMEMBERED_SECONDS = 365 * 24 * 3600


@needs(Permission.READ)
@require_GET
def matrix(request: HttpRequest) -> HttpResponse:
    """Show a matrix as the query string asks for it; a click on the picture of the whole moves to that part.

    Whose environment is chosen is remembered: the next matrix without a choice opens on it.
    """
    environments, query = _query(request)
    if "at.x" in request.GET:
        return redirect(request.path + _clicked(query))
    filled = filled_matrix(query) if environments else None
    scopes = target_scopes(filled.tables, query.environments) if filled and filled.test else []
    context = {
        "view": matrix_view(filled) if filled else None,
        "scopes": scopes,
        "targets": displayed_targets(filled.compared.marks.targets, scopes, filled.metric) if filled else [],
        "limit_example": limit_example(filled.metric) if filled else "",
        "filters": matrix_filters(filled, environments) if filled else None,
        "side_by_side": _side_by_side(environments),
    }
    response = list_page(request, "matrix/matrix.html", context)
    chosen = str(query.environments[0].pk) if query.environments else ""
    if chosen and request.GET.get("environment") == chosen:
        settings = {"max_age": _REMEMBERED_SECONDS, "path": request.path, "httponly": True, "samesite": "Lax"}
        response.set_cookie(LAST_ENVIRONMENT, chosen, secure=request.is_secure(), **settings)  # type: ignore[arg-type]
    return response


@needs(Permission.READ)
@require_GET
def matrix_csv_file(request: HttpRequest) -> HttpResponse:
    """Return the shown cells as CSV."""
    text = "".join(table_csv(matrix_table(filled_matrix(_query(request)[1]))))
    headers = {"Content-Disposition": 'attachment; filename="matrix.csv"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)


@needs(Permission.READ)
@require_GET
def matrix_picture_file(request: HttpRequest) -> HttpResponse:
    """Return every pair of one environment as a pixel; 404 for one that a page shows whole or can't draw."""
    query = _query(request)[1]
    filled = filled_matrix(query)
    axes = _axes(query)
    if filled.test is None or not _has_picture(axes):
        raise Http404
    values = last_values(environment=axes.environment, test=filled.test, metric=filled.metric.key, until=query.until)
    rows, columns = ([int(item.key) for item in items] for items in (axes.rows, axes.columns))
    picture = matrix_picture(rows, columns, values)
    return HttpResponse(picture, content_type="image/png", headers={"Cache-Control": _PICTURE_CACHE})


def _query(request: HttpRequest) -> tuple[list[MatrixEnvironment], MatrixQuery]:
    environments = matrix_environments()
    return environments, matrix_query(request, environments)


def _side_by_side(environments: list[MatrixEnvironment]) -> str:
    """Return the query of the network modes' matrix: the first two environments that have modes, measured first."""
    measured_first = sorted(environments, key=lambda each: not each.has_results)
    with_modes = [each.pk for each in measured_first if each.has_modes][:2]
    names = ("environment", "beside")
    chosen = "&".join(f"{name}={pk}" for name, pk in zip(names, with_modes, strict=False))
    return f"?by=mode&{chosen}" if with_modes else ""


def _axes(query: MatrixQuery) -> Axes:
    """Return the whole axes of the environment whose picture is asked for."""
    environment = row_id(query.parameters.get("picture", ""))
    if query.by != "host" or environment not in query.environment_ids:
        raise Http404
    endpoints = grid_endpoints(environments=[environment], text=query.text)
    return axes_of(endpoints, environment=environment, by="host")


def _has_picture(axes: Axes) -> bool:
    return WINDOW < max(len(axes.rows), len(axes.columns)) <= MOST_ITEMS


def _clicked(query: MatrixQuery) -> str:
    """Return the URL of the part around the clicked square: `at.x` and `at.y` are pixels of the picture."""
    axes = _axes(query)
    side = square_pixels(len(axes.rows), len(axes.columns))
    row, column = ((row_id(query.parameters.get(name, "")) or 0) // side for name in ("at.y", "at.x"))
    corner = {"r": _around(row, len(axes.rows)), "c": _around(column, len(axes.columns))}
    return query.url(**corner, **dict.fromkeys(_OF_A_CLICK))


def _around(index: int, total: int) -> int | None:
    return max(0, min(index - WINDOW // 2, total - WINDOW)) or None
