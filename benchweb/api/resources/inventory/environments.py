"""Environments: stable labels for what is being compared."""

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from benchweb.api.authentication import READ, WRITE
from benchweb.api.paging import ArchivableQuery, Page, page
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Body, Description, Identifier, Item, Name, given
from benchweb.common.names import name_key
from benchweb.hosts import services
from benchweb.hosts.models import Environment
from benchweb.hosts.selectors import environment_itself

router = Router(tags=["environments"])


class EnvironmentBody(Body):
    name: Name
    description: Description = ""


class EnvironmentChange(Body):
    name: Name = ""
    description: Description = ""


class EnvironmentQuery(ArchivableQuery):
    name: Annotated[str, Field(max_length=200)] = ""


class EnvironmentItem(Item):
    id: int
    name: str
    description: str
    created_at: datetime
    archived_at: datetime | None


@router.get("/environments", response=Page[EnvironmentItem], auth=READ)
def environment_list(request: HttpRequest, query: Query[EnvironmentQuery]) -> Page[EnvironmentItem]:
    """List environments by id; `name` is the whole name, in any case and spelling."""
    rows = Environment.objects.filter(archived_at__isnull=not query.archived)
    return page(request, query, rows.filter(name_key=name_key(query.name)) if query.name else rows, _item)


@router.post("/environments", response={201: EnvironmentItem}, auth=WRITE)
def environment_create(request: HttpRequest, body: EnvironmentBody) -> Status[EnvironmentItem]:
    """Create an environment."""
    return Status(201, _item(services.environment_create(name=body.name, description=body.description)))


@router.get("/environments/{environment_id}", response=EnvironmentItem, auth=READ)
def environment_detail(request: HttpRequest, environment_id: Identifier) -> EnvironmentItem:
    """Show an environment, archived or not."""
    return _item(row_or_404(Environment.objects.all(), environment_id))


@router.patch("/environments/{environment_id}", response=EnvironmentItem, auth=WRITE.within(environment_itself))
def environment_update(request: HttpRequest, environment_id: Identifier, body: EnvironmentChange) -> EnvironmentItem:
    """Change what the body names."""
    environment = row_or_404(Environment.objects.all(), environment_id)
    values = {"name": environment.name, "description": environment.description} | given(body)
    services.environment_update(environment=environment, **values)
    return _item(row_or_404(Environment.objects.all(), environment_id))


@router.delete("/environments/{environment_id}", response={204: None}, auth=WRITE.within(environment_itself))
def environment_archive(request: HttpRequest, environment_id: Identifier) -> Status[None]:
    """Archive an environment with its pairs; what was measured stays."""
    services.archive(row=row_or_404(Environment.objects.all(), environment_id))
    return Status(204, None)


@router.post("/environments/{environment_id}/restore", response=EnvironmentItem, auth=WRITE.within(environment_itself))
def environment_restore(request: HttpRequest, environment_id: Identifier) -> EnvironmentItem:
    """Bring an archived environment back; its pairs are restored one by one."""
    services.restore(row=row_or_404(Environment.objects.all(), environment_id))
    return _item(row_or_404(Environment.objects.all(), environment_id))


def _item(environment: Environment) -> EnvironmentItem:
    return EnvironmentItem(
        id=environment.pk,
        name=environment.name,
        description=environment.description,
        created_at=environment.created_at,
        archived_at=environment.archived_at,
    )
