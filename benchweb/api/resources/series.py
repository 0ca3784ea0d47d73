"""Series: one metric over time, of one kind with one set of identity parameters, on one pair."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import BaseModel, Field

from benchweb.api.paging import Page, PageQuery, page, refuse_unknown
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Identifier, IdentifierAsked, Item, MomentAsked
from benchweb.catalog import catalog
from benchweb.results import selectors
from benchweb.results.models import Series

router = Router(tags=["series"])
CatalogName = Annotated[str, Field(max_length=60)]


class SeriesQuery(PageQuery):
    pair: IdentifierAsked = None
    kind: CatalogName = ""
    metric: CatalogName = ""


class PointsQuery(BaseModel):
    from_time: Annotated[MomentAsked, Field(alias="from")] = None
    to_time: Annotated[MomentAsked, Field(alias="to")] = None


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


@router.get("/series", response=Page[SeriesItem])
def series_list(request: HttpRequest, query: Query[SeriesQuery]) -> Page[SeriesItem]:
    """List series by id; `identity` holds the parameters that differ from their defaults."""
    rows = selectors.series_list(pair=query.pair, kind=query.kind, metric=query.metric)
    return page(request, query, rows, _item)


@router.get("/series/{series_id}", response=SeriesItem)
def series_detail(request: HttpRequest, series_id: Identifier) -> SeriesItem:
    """Show a series."""
    return _item(row_or_404(Series.objects.all(), series_id))


@router.get("/series/{series_id}/points", response=list[PointItem])
def series_points(request: HttpRequest, series_id: Identifier, query: Query[PointsQuery]) -> list[PointItem]:
    """List a series' points by time, one per trial, both ends included; a time without zone is UTC."""
    refuse_unknown(request, PointsQuery)
    row_or_404(Series.objects.all(), series_id)
    rows = selectors.points(series_id=series_id, from_time=query.from_time, to_time=query.to_time)
    return [PointItem(at=row.at, value=row.value, run=row.run, trial=row.trial) for row in rows]


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
