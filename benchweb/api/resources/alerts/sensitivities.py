"""Sensitivities: from what on changes are told of a plan, environment, kind or metric."""

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from benchweb.api.authentication import READ, WRITE
from benchweb.api.paging import ArchivableQuery, Page, page
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Body, Identifier, Item, given
from benchweb.hosts.models import Environment
from benchweb.plans.models import Plan
from benchweb.regressions.models import Sensitivity
from benchweb.regressions.thresholds import sensitivities
from benchweb.regressions.thresholds.sensitivities import SensitivityScope

router = Router(tags=["alerts"])
Word = Annotated[str, Field(max_length=60)]


class SensitivityBody(Body):
    """What is said of all that the body names; a value that is null is as usual."""

    plan: Identifier | None = None
    environment: Identifier | None = None
    kind: Word = ""
    metric: Word = ""
    floor_ratio: float | None = None
    noise_times: float | None = None


class SensitivityChange(Body):
    floor_ratio: float | None = None
    noise_times: float | None = None


class SensitivityItem(Item):
    id: int
    plan: int | None
    environment: int | None
    kind: str
    metric: str
    floor_ratio: float | None
    noise_times: float | None
    archived_at: datetime | None


@router.get("/sensitivities", response=Page[SensitivityItem], auth=READ)
def sensitivity_list(request: HttpRequest, query: Query[ArchivableQuery]) -> Page[SensitivityItem]:
    """List sensitivities by id."""
    return page(request, query, Sensitivity.objects.filter(archived_at__isnull=not query.archived), _item)


@router.post("/sensitivities", response={201: SensitivityItem}, auth=WRITE)
def sensitivity_create(request: HttpRequest, body: SensitivityBody) -> Status[SensitivityItem]:
    """Say from what on changes are told: runs that end from now on are judged by it."""
    scope = SensitivityScope(
        plan=row_named(Plan.objects.all(), body.plan, "plan") if body.plan else None,
        environment=(
            row_named(Environment.objects.all(), body.environment, "environment") if body.environment else None
        ),
        kind=body.kind,
        metric=body.metric,
    )
    created = sensitivities.sensitivity_create(scope, floor_ratio=body.floor_ratio, noise_times=body.noise_times)
    return Status(201, _item(created))


@router.get("/sensitivities/{sensitivity_id}", response=SensitivityItem, auth=READ)
def sensitivity_detail(request: HttpRequest, sensitivity_id: Identifier) -> SensitivityItem:
    """Show a sensitivity, archived or not."""
    return _item(row_or_404(Sensitivity.objects.all(), sensitivity_id))


@router.patch("/sensitivities/{sensitivity_id}", response=SensitivityItem, auth=WRITE)
def sensitivity_update(request: HttpRequest, sensitivity_id: Identifier, body: SensitivityChange) -> SensitivityItem:
    """Change the values that the body names; null: as usual."""
    row = row_or_404(Sensitivity.objects.all(), sensitivity_id)
    values = {"floor_ratio": row.floor_ratio, "noise_times": row.noise_times} | given(body)
    sensitivities.sensitivity_update(sensitivity=row, **values)
    return sensitivity_detail(request, sensitivity_id)


@router.delete("/sensitivities/{sensitivity_id}", response={204: None}, auth=WRITE)
def sensitivity_archive(request: HttpRequest, sensitivity_id: Identifier) -> Status[None]:
    """Archive a sensitivity: its series are judged as usual again."""
    sensitivities.sensitivity_archive(sensitivity=row_or_404(Sensitivity.objects.all(), sensitivity_id))
    return Status(204, None)


@router.post("/sensitivities/{sensitivity_id}/restore", response=SensitivityItem, auth=WRITE)
def sensitivity_restore(request: HttpRequest, sensitivity_id: Identifier) -> SensitivityItem:
    """Take up an archived sensitivity again; 409 where another says it of the same scope by now."""
    sensitivities.sensitivity_restore(sensitivity=row_or_404(Sensitivity.objects.all(), sensitivity_id))
    return sensitivity_detail(request, sensitivity_id)


def _item(row: Sensitivity) -> SensitivityItem:
    return SensitivityItem(
        id=row.pk,
        plan=row.plan_id,
        environment=row.environment_id,
        kind=row.kind,
        metric=row.metric,
        floor_ratio=row.floor_ratio,
        noise_times=row.noise_times,
        archived_at=row.archived_at,
    )
