"""Pinned baselines: runs that others of their pair and plan are compared with."""

from datetime import datetime

from django.http import HttpRequest
from ninja import Query, Router, Status

from benchweb.api.authentication import READ, WRITE, caller
from benchweb.api.paging import ArchivableQuery, Page, page
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Body, Identifier, Item, Name, RequestedIdentifier
from benchweb.regressions import baselines
from benchweb.regressions.models import Baseline
from benchweb.runs.models import Run

router = Router(tags=["alerts"])


class BaselineQuery(ArchivableQuery):
    pair: RequestedIdentifier = None
    plan: RequestedIdentifier = None


class BaselineBody(Body):
    run: Identifier
    name: Name


class BaselineItem(Item):
    id: int
    name: str
    run: int
    pair: int
    plan: int
    environment: int
    pinned_at: datetime
    archived_at: datetime | None


@router.get("/baselines", response=Page[BaselineItem], auth=READ)
def baseline_list(request: HttpRequest, query: Query[BaselineQuery]) -> Page[BaselineItem]:
    """List pinned baselines, the newest first: of each pair and plan that one holds. Filter `pair`, `plan`."""
    rows = Baseline.objects.filter(archived_at__isnull=not query.archived)
    rows = rows.filter(pair=query.pair) if query.pair else rows
    return page(request, query, rows.filter(plan=query.plan) if query.plan else rows, _item, newest_first=True)


@router.post("/baselines", response={201: BaselineItem}, auth=WRITE)
def baseline_create(request: HttpRequest, body: BaselineBody) -> Status[BaselineItem]:
    """Pin a run as the baseline of its pair and plan, in place of the one before."""
    run = row_named(Run.objects.select_related("pair", "plan_version"), body.run, "run")
    return Status(201, _item(baselines.baseline_pin(run=run, name=body.name, by=caller(request))))


@router.get("/baselines/{baseline_id}", response=BaselineItem, auth=READ)
def baseline_detail(request: HttpRequest, baseline_id: Identifier) -> BaselineItem:
    """Show a baseline, archived or not."""
    return _item(row_or_404(Baseline.objects.all(), baseline_id))


@router.delete("/baselines/{baseline_id}", response={204: None}, auth=WRITE)
def baseline_archive(request: HttpRequest, baseline_id: Identifier) -> Status[None]:
    """Unpin a baseline: the one before it holds again."""
    baselines.baseline_unpin(baseline=row_or_404(Baseline.objects.all(), baseline_id))
    return Status(204, None)


@router.post("/baselines/{baseline_id}/restore", response=BaselineItem, auth=WRITE)
def baseline_restore(request: HttpRequest, baseline_id: Identifier) -> BaselineItem:
    """Pin an archived baseline again."""
    baselines.baseline_restore(baseline=row_or_404(Baseline.objects.all(), baseline_id))
    return baseline_detail(request, baseline_id)


def _item(row: Baseline) -> BaselineItem:
    return BaselineItem(
        id=row.pk,
        name=row.name,
        run=row.run_id,
        pair=row.pair_id,
        plan=row.plan_id,
        environment=row.environment_id,
        pinned_at=row.pinned_at,
        archived_at=row.archived_at,
    )
