"""Maintenance windows: times in which alerts of a host, a host label or an environment are muted."""

from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from benchweb.api.authentication import READ, RUN, caller
from benchweb.api.paging import ArchivableQuery, Page, page
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Body, Identifier, Item, MomentText, Name, given
from benchweb.hosts.models import Environment, Host
from benchweb.notifications import services
from benchweb.notifications.models import MaintenanceWindow
from benchweb.notifications.services import WindowValues

router = Router(tags=["notifications"])
Label = Annotated[str, Field(max_length=60)]


class WindowBody(Body):
    """One of `host`, `host_label` and `environment` is given."""

    name: Name
    begins_at: MomentText
    ends_at: MomentText
    host: Identifier | None = None
    host_label: Label = ""
    environment: Identifier | None = None


class WindowChange(Body):
    name: Name | None = None
    begins_at: MomentText | None = None
    ends_at: MomentText | None = None
    host: Identifier | None = None
    host_label: Label = ""
    environment: Identifier | None = None


class WindowItem(Item):
    id: int
    name: str
    begins_at: datetime
    ends_at: datetime
    host: int | None
    host_label: str
    environment: int | None
    created_at: datetime
    archived_at: datetime | None


@router.get("/maintenance-windows", response=Page[WindowItem], auth=READ)
def maintenance_window_list(request: HttpRequest, query: Query[ArchivableQuery]) -> Page[WindowItem]:
    """List maintenance windows by id, those that are over too."""
    return page(request, query, MaintenanceWindow.objects.filter(archived_at__isnull=not query.archived), _item)


@router.post("/maintenance-windows", response={201: WindowItem}, auth=RUN)
@transaction.atomic
def maintenance_window_create(request: HttpRequest, body: WindowBody) -> Status[WindowItem]:
    """Create a maintenance window; one that has begun mutes from now on."""
    user = caller(request)
    return Status(201, _item(services.window_create(_values(body.model_dump()), user=user)))


@router.get("/maintenance-windows/{window_id}", response=WindowItem, auth=READ)
def maintenance_window_detail(request: HttpRequest, window_id: Identifier) -> WindowItem:
    """Show a maintenance window."""
    return _item(row_or_404(MaintenanceWindow.objects.all(), window_id))


@router.patch("/maintenance-windows/{window_id}", response=WindowItem, auth=RUN)
@transaction.atomic
def maintenance_window_update(request: HttpRequest, window_id: Identifier, body: WindowChange) -> WindowItem:
    """Change what the body names; what was muted stays so."""
    window = row_or_404(MaintenanceWindow.objects.all(), window_id)
    changed = {name: value for name, value in given(body).items() if value is not None or name in _ROWS}
    services.window_update(window=window, values=_values(_fields(window) | changed))
    return maintenance_window_detail(request, window_id)


@router.delete("/maintenance-windows/{window_id}", response={204: None}, auth=RUN)
def maintenance_window_archive(request: HttpRequest, window_id: Identifier) -> Status[None]:
    """Archive a maintenance window: it mutes no more."""
    services.archive(row=row_or_404(MaintenanceWindow.objects.all(), window_id))
    return Status(204, None)


@router.post("/maintenance-windows/{window_id}/restore", response=WindowItem, auth=RUN)
def maintenance_window_restore(request: HttpRequest, window_id: Identifier) -> WindowItem:
    """Bring an archived maintenance window back: it mutes from now on, if its time is not over."""
    services.restore(row=row_or_404(MaintenanceWindow.objects.all(), window_id))
    return maintenance_window_detail(request, window_id)


_ROWS = ("host", "environment")


def _fields(window: MaintenanceWindow) -> dict[str, Any]:
    names = ("name", "begins_at", "ends_at", "host_label")
    rows = {"host": window.host_id, "environment": window.environment_id}
    return rows | {name: getattr(window, name) for name in names}


def _values(fields: dict[str, Any]) -> WindowValues:
    host, environment = fields["host"], fields["environment"]
    return WindowValues(
        **{name: value for name, value in fields.items() if name not in _ROWS},
        host=None if host is None else row_named(Host.objects.all(), host, "host"),
        environment=None if environment is None else row_named(Environment.objects.all(), environment, "environment"),
    )


def _item(window: MaintenanceWindow) -> WindowItem:
    return WindowItem(id=window.pk, created_at=window.created_at, archived_at=window.archived_at, **_fields(window))
