"""A host's availability and load over a time."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router
from pydantic import BaseModel, Field

from benchweb.api.authentication import READ
from benchweb.api.paging import refuse_unknown
from benchweb.api.problems import invalid
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Identifier, Item, Moment
from benchweb.catalog.reasons import reason_items
from benchweb.hosts.models import Endpoint, Host
from benchweb.hosts.probing.availability import (
    ANSWERED,
    ENGINE_DOWN,
    UNKNOWN,
    UNREACHABLE,
    Availability,
    best_of,
    changes_count,
    endpoints_availability,
)
from benchweb.hosts.probing.indicators import Hour, ProbedMean, indicators, probe_hours

router = Router(tags=["hosts"])
DEFAULT_LENGTH = timedelta(hours=24)
GREATEST_LENGTH = timedelta(days=400)
# Of all endpoints of a host together: an engine that changes with every probe makes half a million a year.
MOST_STRETCHES = 10_000
# Long before any probe, and far enough from the first year for what is subtracted.
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)


class AvailabilityQuery(BaseModel):
    from_time: Annotated[Moment | None, Field(alias="from")] = None
    to_time: Annotated[Moment | None, Field(alias="to")] = None


class MeasuredItem(Item):
    mean: float
    least: float | None
    most: float | None
    n: int


class StretchItem(Item):
    state: str
    since: datetime
    until: datetime
    reason: str
    reason_code: str | None
    reason_params: dict[str, Any] | None


class AvailabilityItem(Item):
    ratio: float | None
    known_ratio: float | None
    answered_seconds: float
    engine_down_seconds: float
    unreachable_seconds: float
    unknown_seconds: float


class EndpointAvailability(AvailabilityItem):
    endpoint: int
    name: str
    probes: int
    response_seconds: MeasuredItem | None
    cpu_ratio: MeasuredItem | None
    received_bps: MeasuredItem | None
    sent_bps: MeasuredItem | None
    link_bps: float | None
    # Whether the speed is the one that was entered with the endpoint, for the kernel tells none.
    is_link_entered: bool
    left_to_receive_bps: MeasuredItem | None
    left_to_send_bps: MeasuredItem | None
    stretches: list[StretchItem]


class HostAvailability(AvailabilityItem):
    host: int
    from_time: Annotated[datetime, Field(serialization_alias="from")]
    to_time: Annotated[datetime, Field(serialization_alias="to")]
    endpoints: list[EndpointAvailability]


@router.get("/hosts/{host_id}/availability", response=HostAvailability, by_alias=True, auth=READ)
def host_availability(request: HttpRequest, host_id: Identifier, query: Query[AvailabilityQuery]) -> HostAvailability:
    """Return a host's availability, by default of the last 24 hours, at most until now.

    `ratio` is the part of the known time in which its engine answered; the host's is that of the best of its endpoints.
    Load is summed per hour: that of the hours that begin within the time.
    """
    refuse_unknown(request, AvailabilityQuery)
    host = row_or_404(Host.objects.all(), host_id)
    from_time, to_time = bounds(query, DEFAULT_LENGTH)
    endpoints = list(host.endpoints.filter(archived_at=None).select_related("host").order_by("pk"))
    ids = [endpoint.pk for endpoint in endpoints]
    _refuse_too_many(ids, from_time, to_time)
    availabilities = endpoints_availability(endpoint_ids=ids, from_time=from_time, to_time=to_time)
    hours = probe_hours(endpoint_ids=ids, from_time=from_time, to_time=to_time)
    return HostAvailability(
        host=host.pk,
        from_time=from_time,
        to_time=to_time,
        endpoints=[_endpoint(endpoint, availabilities[endpoint.pk], hours[endpoint.pk]) for endpoint in endpoints],
        **_figures(best_of(list(availabilities.values()))).model_dump(),
    )


def _refuse_too_many(endpoint_ids: list[int], from_time: datetime, to_time: datetime) -> None:
    count = changes_count(endpoint_ids=endpoint_ids, from_time=from_time, to_time=to_time, most=MOST_STRETCHES)
    if count > MOST_STRETCHES:
        raise invalid("from", f"There are more than {MOST_STRETCHES:,} stretches in this time: ask for less at a time.")


def bounds(query: AvailabilityQuery, default: timedelta) -> tuple[datetime, datetime]:
    """Return the time that is asked for, at most until now; without its begin it has the default length."""
    now = timezone.now()
    to_time = max(EARLIEST, min(query.to_time or now, now))
    from_time = query.from_time or to_time - default
    if from_time >= to_time:
        raise invalid("from", "from is not before to, or not before now.")
    if to_time - from_time > GREATEST_LENGTH:
        raise invalid("from", f"from is more than {GREATEST_LENGTH.days} days before to: ask for less at a time.")
    return from_time, to_time


def _endpoint(endpoint: Endpoint, availability: Availability, hours: list[Hour]) -> EndpointAvailability:
    load = indicators(hours, endpoint.link_bps)
    return EndpointAvailability(
        endpoint=endpoint.pk,
        name=str(endpoint),
        probes=load.probes,
        response_seconds=_measured_item(load.response_seconds),
        cpu_ratio=_measured_item(load.cpu_ratio),
        received_bps=_measured_item(load.received_bps),
        sent_bps=_measured_item(load.sent_bps),
        link_bps=load.link_bps,
        is_link_entered=load.is_link_entered,
        left_to_receive_bps=_measured_item(load.left_to_receive_bps),
        left_to_send_bps=_measured_item(load.left_to_send_bps),
        stretches=[
            StretchItem(
                state=stretch.state,
                since=stretch.since,
                until=stretch.until,
                **reason_items("reason", stretch.reason),
            )
            for stretch in availability.stretches
        ],
        **_figures(availability).model_dump(),
    )


def _figures(availability: Availability) -> AvailabilityItem:
    return AvailabilityItem(
        ratio=availability.ratio,
        known_ratio=availability.known_ratio,
        answered_seconds=availability.seconds(ANSWERED),
        engine_down_seconds=availability.seconds(ENGINE_DOWN),
        unreachable_seconds=availability.seconds(UNREACHABLE),
        unknown_seconds=availability.seconds(UNKNOWN),
    )


def _measured_item(measured: ProbedMean | None) -> MeasuredItem | None:
    if measured is None:
        return None
    return MeasuredItem(mean=measured.mean, least=measured.least, most=measured.most, n=measured.n)
