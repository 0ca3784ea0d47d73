"""What a host measured alone over a time."""

from datetime import datetime, timedelta
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import Field

from benchweb.api.authentication import READ
from benchweb.api.paging import refuse_unknown
from benchweb.api.resources.inventory.availability import AvailabilityQuery, bounds
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Identifier, Item
from benchweb.hosts.canaries import UNITS, canary_figures
from benchweb.hosts.models import CanaryMetric, Host

router = Router(tags=["hosts"])
DEFAULT_LENGTH = timedelta(days=90)


class CanaryItem(Item):
    endpoint: int
    at: datetime
    metric: str
    unit: str
    median: float
    least: float
    most: float
    n: int


class HostCanaries(Item):
    host: int
    has_canary: bool
    from_time: Annotated[datetime, Field(serialization_alias="from")]
    to_time: Annotated[datetime, Field(serialization_alias="to")]
    figures: list[CanaryItem]


@router.get("/hosts/{host_id}/canaries", response=HostCanaries, by_alias=True, auth=READ)
def host_canaries(request: HttpRequest, host_id: Identifier, query: Query[AvailabilityQuery]) -> HostCanaries:
    """Return what a host measured alone, once a night, oldest first; by default of the last 90 days.

    A night that is not there was not measured.
    """
    refuse_unknown(request, AvailabilityQuery)
    host = row_or_404(Host.objects.all(), host_id)
    from_time, to_time = bounds(query, DEFAULT_LENGTH)
    ids = host.endpoints.filter(archived_at=None).values_list("pk", flat=True)
    figures = canary_figures(endpoint_ids=list(ids), from_time=from_time, to_time=to_time)
    return HostCanaries(
        host=host.pk,
        has_canary=host.has_canary,
        from_time=from_time,
        to_time=to_time,
        figures=[
            CanaryItem(
                endpoint=figure.endpoint_id,
                at=figure.at,
                metric=figure.metric,
                unit=UNITS[CanaryMetric(figure.metric)],
                median=figure.median,
                least=figure.least,
                most=figure.most,
                n=figure.n,
            )
            for figure in figures
        ],
    )
