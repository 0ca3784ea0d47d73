"""Series: one metric over time, of one kind with one set of identity parameters, on one pair."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from pydantic import BaseModel, Field

from benchweb.api.authentication import READ
from benchweb.api.paging import Page, PageQuery, page, refuse_unknown
from benchweb.api.point_cursors import cursor_of, point_of
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Identifier, Item, RequestedIdentifier, RequestedMoment
from benchweb.catalog import catalog
from benchweb.results import selectors
from benchweb.results.models import Series

router = Router(tags=["series"])
CatalogName = Annotated[str, Field(max_length=60)]


class SeriesQuery(PageQuery):
    pair: RequestedIdentifier = None
    kind: CatalogName = ""
    metric: CatalogName = ""


# A page of points is some 1 MB; a year of trials by the minute has half a million.
MAXIMUM_POINTS = 10_000


class PointsQuery(BaseModel):
    from_time: Annotated[RequestedMoment, Field(alias="from")] = None
    to_time: Annotated[RequestedMoment, Field(alias="to")] = None
    limit: Annotated[int, Field(ge=1, le=MAXIMUM_POINTS)] = MAXIMUM_POINTS
    cursor: Annotated[str, Field(max_length=200)] = ""


class SeriesItem(Item):
    id: int
    pair: int
    kind: str
    metric: str
    identity: dict[str, Any]
    label: str
    unit: str


class PointItem(Item):
    at: datetime
    value: float
    run: int
    trial: int


@router.get("/series", response=Page[SeriesItem], auth=READ)
def series_list(request: HttpRequest, query: Query[SeriesQuery]) -> Page[SeriesItem]:
    """List series by id; `identity` holds the parameters that differ from their defaults."""
    rows = selectors.series_list(pair=query.pair, kind=query.kind, metric=query.metric)
    return page(request, query, rows, _item)


@router.get("/series/{series_id}", response=SeriesItem, auth=READ)
def series_detail(request: HttpRequest, series_id: Identifier) -> SeriesItem:
    """Show a series."""
    return _item(row_or_404(Series.objects.all(), series_id))


@router.get("/series/{series_id}/points", response=list[PointItem], auth=READ)
def series_points(
    request: HttpRequest, response: HttpResponse, series_id: Identifier, query: Query[PointsQuery]
) -> list[PointItem]:
    """List a series' points by time, one per trial, both ends included; a time without zone is UTC.

    At most `limit` of them; where more follow, the header `Link: <URL>; rel="next"` (RFC 8288) says where.
    """
    refuse_unknown(request, PointsQuery)
    row_or_404(Series.objects.all(), series_id)
    points = selectors.points(
        series_id=series_id,
        from_time=query.from_time,
        to_time=query.to_time,
        after=point_of(query.cursor) if query.cursor else None,
        limit=query.limit + 1,
    )
    page_rows = points[: query.limit]
    if len(points) > query.limit:
        following = request.GET.copy()
        following["cursor"] = cursor_of(page_rows[-1].at, page_rows[-1].trial)
        response["Link"] = f'<{request.build_absolute_uri(request.path)}?{following.urlencode()}>; rel="next"'
    return [PointItem(at=row.at, value=row.value, run=row.run, trial=row.trial) for row in page_rows]


def _item(series: Series) -> SeriesItem:
    # A kind or metric may have left the catalog since; its history is still listed, by its bare name.
    metric = catalog().metrics.get(series.metric)
    return SeriesItem(
        id=series.pk,
        pair=series.pair_id,
        kind=series.kind,
        metric=series.metric,
        identity=series.identity,
        label=metric.label if metric else series.metric,
        unit=metric.unit if metric else "",
    )
