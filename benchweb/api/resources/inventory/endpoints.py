"""Endpoints: ways to reach a host's engine. Tokens go in, and never come out."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Status

from benchweb.api.authentication import READ, RUN, WRITE
from benchweb.api.paging import ArchivableQuery, Page, page
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Body, Identifier, Item, Name, given
from benchweb.catalog.reasons import reason_items
from benchweb.hosts import services
from benchweb.hosts.endpoints import services as endpoint_services
from benchweb.hosts.enrolment.rotation import rotation_request
from benchweb.hosts.models import Endpoint, Host

router = Router(tags=["endpoints"])
# What endpoint_update takes beside the token, which is kept when it isn't given.
_CHANGEABLE = (
    "name",
    "control_address",
    "data_address",
    "network_mode",
    "bind_device",
    "fingerprint",
    "same_machine",
    "link_bps",
)


class EndpointChange(Body):
    name: Name = ""
    control_address: Name = ""
    data_address: Name = ""
    network_mode: Name = "host"
    bind_device: Name = ""
    token: Name = ""
    fingerprint: Name = ""
    same_machine: bool = False
    # Of the link, in bit/s, for where the kernel tells none.
    link_bps: float | None = None


class EndpointBody(EndpointChange):
    host: Identifier
    control_address: Name


class EndpointQuery(ArchivableQuery):
    host: Identifier | None = None
    status: Endpoint.Status | None = None


class EndpointItem(Item):
    id: int
    host: int
    host_name: str
    name: str
    control_address: str
    data_address: str
    network_mode: str
    bind_device: str
    has_token: bool
    fingerprint: str
    seen_fingerprint: str
    same_machine: bool
    link_bps: float | None
    status: str
    status_reason: str
    status_reason_code: str | None
    status_reason_params: dict[str, Any] | None
    checked_at: datetime | None
    engine_version: str
    catalog_version: int | None
    clock_offset_seconds: float | None
    round_trip_seconds: float | None
    # What was to be replaced last; the reason is why it was not.
    rotation: str
    rotation_requested_at: datetime | None
    rotation_ended_at: datetime | None
    rotation_reason: str
    rotation_reason_code: str | None
    rotation_reason_params: dict[str, Any] | None
    created_at: datetime
    archived_at: datetime | None


class Accepted(Item):
    id: int
    status: str


@router.get("/endpoints", response=Page[EndpointItem], auth=READ)
def endpoint_list(request: HttpRequest, query: Query[EndpointQuery]) -> Page[EndpointItem]:
    """List endpoints by id, with what their last check found."""
    rows = _endpoints().filter(archived_at__isnull=not query.archived)
    if query.host is not None:
        rows = rows.filter(host=query.host)
    if query.status is not None:
        rows = rows.filter(status=query.status)
    return page(request, query, rows, _item)


@router.post("/endpoints", response={201: EndpointItem}, auth=WRITE)
def endpoint_create(request: HttpRequest, body: EndpointBody) -> Status[EndpointItem]:
    """Create an endpoint; a worker checks it at once.

    A `fingerprint` of another host's engine is refused with 409 unless `same_machine` says that both are one machine.
    """
    host = row_named(Host.objects.all(), body.host, "host")
    endpoint = endpoint_services.endpoint_create(host=host, **body.model_dump(exclude={"host"}))
    return Status(201, _item(endpoint))


@router.get("/endpoints/{endpoint_id}", response=EndpointItem, auth=READ)
def endpoint_detail(request: HttpRequest, endpoint_id: Identifier) -> EndpointItem:
    """Show an endpoint, archived or not."""
    return _item(row_or_404(_endpoints(), endpoint_id))


@router.patch("/endpoints/{endpoint_id}", response=EndpointItem, auth=WRITE)
def endpoint_update(request: HttpRequest, endpoint_id: Identifier, body: EndpointChange) -> EndpointItem:
    """Change what the body names, and check again; an empty fingerprint is pinned once the engine has proved the token.

    Another `control_address` or `fingerprint` needs the engine's `token` again.
    """
    endpoint = row_or_404(_endpoints(), endpoint_id)
    endpoint_services.endpoint_update(
        endpoint=endpoint, **{name: getattr(endpoint, name) for name in _CHANGEABLE} | given(body)
    )
    return _item(row_or_404(_endpoints(), endpoint_id))


@router.delete("/endpoints/{endpoint_id}", response={204: None}, auth=WRITE)
def endpoint_archive(request: HttpRequest, endpoint_id: Identifier) -> Status[None]:
    """Archive an endpoint with its pairs; what was measured stays."""
    services.archive(row=row_or_404(_endpoints(), endpoint_id))
    return Status(204, None)


@router.post("/endpoints/{endpoint_id}/restore", response=EndpointItem, auth=WRITE)
def endpoint_restore(request: HttpRequest, endpoint_id: Identifier) -> EndpointItem:
    """Bring an archived endpoint back."""
    services.restore(row=row_or_404(_endpoints(), endpoint_id))
    return _item(row_or_404(_endpoints(), endpoint_id))


@router.post("/endpoints/{endpoint_id}/check", response={202: Accepted}, auth=RUN)
def endpoint_check(request: HttpRequest, endpoint_id: Identifier) -> Status[Accepted]:
    """Ask a worker to check the endpoint; `checked_at` changes when it has."""
    endpoint = row_or_404(_endpoints(), endpoint_id)
    endpoint_services.endpoint_check(endpoint=endpoint)
    return Status(202, Accepted(id=endpoint.pk, status=endpoint.status))


@router.post("/endpoints/{endpoint_id}/rotate-token", response={202: Accepted}, auth=WRITE)
def endpoint_rotate_token(request: HttpRequest, endpoint_id: Identifier) -> Status[Accepted]:
    """Have the engine take a new token; both are valid until the new one is used, so runs lose nothing.

    `rotation_ended_at` is set when it is done, `rotation_reason` when it could not be.
    """
    return _rotate(endpoint_id, Endpoint.Rotation.TOKEN)


@router.post("/endpoints/{endpoint_id}/rotate-certificate", response={202: Accepted}, auth=WRITE)
def endpoint_rotate_certificate(request: HttpRequest, endpoint_id: Identifier) -> Status[Accepted]:
    """Have the engine make a new certificate, and pin it; runs that pinned the old one lose nothing.

    `rotation_ended_at` is set when it is done, `rotation_reason` when it could not be.
    """
    return _rotate(endpoint_id, Endpoint.Rotation.CERTIFICATE)


def _rotate(endpoint_id: int, what: Endpoint.Rotation) -> Status[Accepted]:
    endpoint = row_or_404(_endpoints(), endpoint_id)
    rotation_request(endpoint=endpoint, what=what)
    return Status(202, Accepted(id=endpoint.pk, status=endpoint.status))


def _endpoints() -> "QuerySet[Endpoint, Endpoint]":
    return Endpoint.objects.select_related("host")


def _item(endpoint: Endpoint) -> EndpointItem:
    return EndpointItem(
        id=endpoint.pk,
        host=endpoint.host_id,
        host_name=endpoint.host.name,
        name=endpoint.name,
        control_address=endpoint.control_address,
        data_address=endpoint.data_address,
        network_mode=endpoint.network_mode,
        bind_device=endpoint.bind_device,
        has_token=bool(endpoint.token_encrypted),
        fingerprint=endpoint.fingerprint,
        seen_fingerprint=endpoint.seen_fingerprint,
        same_machine=endpoint.same_machine,
        link_bps=endpoint.link_bps,
        status=endpoint.status,
        **reason_items("status_reason", endpoint.why),
        checked_at=endpoint.checked_at,
        engine_version=endpoint.engine_version,
        catalog_version=endpoint.catalog_version,
        clock_offset_seconds=endpoint.clock_offset_seconds,
        round_trip_seconds=endpoint.round_trip_seconds,
        rotation=endpoint.rotation,
        rotation_requested_at=endpoint.rotation_requested_at,
        rotation_ended_at=endpoint.rotation_ended_at,
        **reason_items("rotation_reason", endpoint.rotation_why),
        created_at=endpoint.created_at,
        archived_at=endpoint.archived_at,
    )
