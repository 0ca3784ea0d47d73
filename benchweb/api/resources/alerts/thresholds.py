"""Thresholds: limits that a metric must keep, whatever is usual."""

from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from benchweb.api.authentication import READ, WRITE, caller
from benchweb.api.paging import ArchivableQuery, Page, page
from benchweb.api.problems import invalid
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Body, Identifier, Item, Name, given
from benchweb.hosts.models import Environment, Pair
from benchweb.plans.models import Plan
from benchweb.regressions.models import Alert, Threshold
from benchweb.regressions.thresholds import rules
from benchweb.regressions.thresholds.rules import ThresholdValues
from benchweb.results.models import Series

router = Router(tags=["alerts"])
Word = Annotated[str, Field(max_length=60)]


class ThresholdBody(Body):
    """`limit` is in the metric's unit, or a share of the pinned baseline's figure; null holds for all."""

    name: Name
    kind: Word
    metric: Word
    relation: Word
    limit: float
    severity: Word = Alert.Severity.WARNING.value
    # So many runs in a row must break it to open an alert, and keep it to end one.
    runs_in_row: int = 1
    environment: Identifier | None = None
    pair: Identifier | None = None
    plan: Identifier | None = None
    # A series of the kind: of its test alone, such as one message size; null for all tests of the kind.
    series: Identifier | None = None


class ThresholdChange(Body):
    """What is left out stays."""

    name: Name | None = None
    limit: float | None = None
    severity: Word | None = None
    runs_in_row: int | None = None


class ThresholdItem(Item):
    id: int
    name: str
    kind: str
    metric: str
    unit: str
    relation: str
    limit: float
    severity: str
    runs_in_row: int
    environment: int | None
    pair: int | None
    plan: int | None
    # The parameters of the test that it is of; null for all tests of the kind.
    params: dict[str, Any] | None
    created_at: datetime
    archived_at: datetime | None


@router.get("/thresholds", response=Page[ThresholdItem], auth=READ)
def threshold_list(request: HttpRequest, query: Query[ArchivableQuery]) -> Page[ThresholdItem]:
    """List thresholds by id."""
    thresholds = Threshold.objects.filter(archived_at__isnull=not query.archived)
    return page(request, query, rules.with_test(thresholds), _item)


@router.post("/thresholds", response={201: ThresholdItem}, auth=WRITE)
def threshold_create(request: HttpRequest, body: ThresholdBody) -> Status[ThresholdItem]:
    """Make a threshold: runs that end from now on are judged by it."""
    scope = {
        "environment": body.environment and row_named(Environment.objects.all(), body.environment, "environment"),
        "pair": body.pair and row_named(Pair.objects.all(), body.pair, "pair"),
        "plan": body.plan and row_named(Plan.objects.all(), body.plan, "plan"),
    }
    given_values = body.model_dump(exclude={"series"}) | scope
    threshold = rules.threshold_create(
        ThresholdValues(**given_values, identity_digest=_digest(body)), by=caller(request)
    )
    return Status(201, threshold_detail(request, threshold.pk))


@router.get("/thresholds/{threshold_id}", response=ThresholdItem, auth=READ)
def threshold_detail(request: HttpRequest, threshold_id: Identifier) -> ThresholdItem:
    """Show a threshold, archived or not."""
    return _item(row_or_404(rules.with_test(Threshold.objects.all()), threshold_id))


@router.patch("/thresholds/{threshold_id}", response=ThresholdItem, auth=WRITE)
@transaction.atomic
def threshold_update(request: HttpRequest, threshold_id: Identifier, body: ThresholdChange) -> ThresholdItem:
    """Change name, limit, severity or runs in a row: the next runs are judged by them.

    For another scope make another threshold.
    """
    threshold = row_or_404(Threshold.objects.select_for_update(), threshold_id)
    current = {name: getattr(threshold, name) for name in ThresholdChange.model_fields}
    changed = {name: value for name, value in given(body).items() if value is not None}
    rules.threshold_update(threshold=threshold, **current | changed)
    return threshold_detail(request, threshold_id)


@router.delete("/thresholds/{threshold_id}", response={204: None}, auth=WRITE)
def threshold_archive(request: HttpRequest, threshold_id: Identifier) -> Status[None]:
    """Archive a threshold: live alerts of it alone are marked as fixed."""
    rules.threshold_archive(threshold=row_or_404(Threshold.objects.all(), threshold_id), by=caller(request))
    return Status(204, None)


@router.post("/thresholds/{threshold_id}/restore", response=ThresholdItem, auth=WRITE)
def threshold_restore(request: HttpRequest, threshold_id: Identifier) -> ThresholdItem:
    """Take up an archived threshold again."""
    rules.threshold_restore(threshold=row_or_404(Threshold.objects.all(), threshold_id))
    return threshold_detail(request, threshold_id)


def _digest(body: ThresholdBody) -> str:
    if body.series is None:
        return ""
    series = row_named(Series.objects.all(), body.series, "series")
    if series.kind != body.kind:
        raise invalid("series", f"Series {series.pk} is of {series.kind}, and not of {body.kind}.")
    return series.identity_digest


def _item(threshold: Threshold) -> ThresholdItem:
    names = ("name", "kind", "metric", "relation", "limit", "severity", "runs_in_row", "created_at", "archived_at")
    return ThresholdItem(
        id=threshold.pk,
        unit=rules.metric_of(threshold.kind, threshold.metric).unit,
        environment=threshold.environment_id,
        pair=threshold.pair_id,
        plan=threshold.plan_id,
        params=getattr(threshold, "identity", None),
        **{name: getattr(threshold, name) for name in names},
    )
