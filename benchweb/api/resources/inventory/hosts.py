"""Hosts: machines."""

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import FailFast, Field

from benchweb.api.authentication import READ, WRITE
from benchweb.api.paging import ArchivableQuery, Page, page
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Body, Description, Identifier, Item, Labels, Name, given
from benchweb.common.names import name_key, stored_name
from benchweb.hosts import services
from benchweb.hosts.models import Host
from benchweb.labels import with_label

router = Router(tags=["hosts"])
Environments = Annotated[list[Identifier], Field(max_length=1_000), FailFast()]


class HostBody(Body):
    name: Name
    description: Description = ""
    labels: Labels = []
    uplink: str = ""
    # Who is an editor in one of them may pair the host.
    environments: Environments = []
    # Whether its engines measure the host itself once a night, in about a second.
    has_canary: bool = True


class HostChange(Body):
    name: Name = ""
    description: Description = ""
    labels: Labels = []
    uplink: str = ""
    # Who is an editor in one of them may pair the host.
    environments: Environments = []
    # Whether its engines measure the host itself once a night, in about a second.
    has_canary: bool = True


class HostQuery(ArchivableQuery):
    name: Annotated[str, Field(max_length=200)] = ""
    label: Annotated[str, Field(max_length=100)] = ""
    uplink: Annotated[str, Field(max_length=100)] = ""


class HostItem(Item):
    id: int
    name: str
    description: str
    labels: list[str]
    uplink: str
    environments: list[int]
    # Whether its engines measure the host itself once a night.
    has_canary: bool
    # The host that stands for the machine that both are; null where it is this one.
    machine: int | None
    created_at: datetime
    archived_at: datetime | None


@router.get("/hosts", response=Page[HostItem], auth=READ)
def host_list(request: HttpRequest, query: Query[HostQuery]) -> Page[HostItem]:
    """List hosts by id; `name` is the whole name, in any case and spelling."""
    rows = Host.objects.filter(archived_at__isnull=not query.archived)
    if query.name:
        rows = rows.filter(name_key=name_key(query.name))
    if query.label:
        rows = with_label(rows, query.label)
    if query.uplink:
        rows = rows.filter(uplink=stored_name(query.uplink))
    return page(request, query, rows, _item)


@router.post("/hosts", response={201: HostItem}, auth=WRITE)
def host_create(request: HttpRequest, body: HostBody) -> Status[HostItem]:
    """Create a host."""
    return Status(201, _item(services.host_create(**body.model_dump())))


@router.get("/hosts/{host_id}", response=HostItem, auth=READ)
def host_detail(request: HttpRequest, host_id: Identifier) -> HostItem:
    """Show a host, archived or not."""
    return _item(row_or_404(Host.objects.all(), host_id))


@router.patch("/hosts/{host_id}", response=HostItem, auth=WRITE)
def host_update(request: HttpRequest, host_id: Identifier, body: HostChange) -> HostItem:
    """Change what the body names."""
    host = row_or_404(Host.objects.all(), host_id)
    values = _item(host).model_dump(include=set(HostChange.model_fields)) | given(body)
    services.host_update(host=host, **values)
    return _item(row_or_404(Host.objects.all(), host_id))


@router.delete("/hosts/{host_id}", response={204: None}, auth=WRITE)
def host_archive(request: HttpRequest, host_id: Identifier) -> Status[None]:
    """Archive a host with its endpoints and pairs; what was measured stays."""
    services.archive(row=row_or_404(Host.objects.all(), host_id))
    return Status(204, None)


@router.post("/hosts/{host_id}/restore", response=HostItem, auth=WRITE)
def host_restore(request: HttpRequest, host_id: Identifier) -> HostItem:
    """Bring an archived host back; its endpoints and pairs are restored one by one."""
    services.restore(row=row_or_404(Host.objects.all(), host_id))
    return _item(row_or_404(Host.objects.all(), host_id))


def _item(host: Host) -> HostItem:
    return HostItem(
        id=host.pk,
        name=host.name,
        description=host.description,
        labels=host.labels,
        uplink=host.uplink,
        environments=host.environment_ids,
        has_canary=host.has_canary,
        machine=host.machine_id,
        created_at=host.created_at,
        archived_at=host.archived_at,
    )
