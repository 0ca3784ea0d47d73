"""Plans: steps with sweeps, in versions that never change."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import FailFast, Field, model_validator

from benchweb.api.authentication import READ, RUN, WRITE
from benchweb.api.paging import ArchivableQuery, Page, PageQuery, page
from benchweb.api.problems import Problem
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Body, Identifier, Item, Labels, Name, given
from benchweb.labels import with_label
from benchweb.plans import services
from benchweb.plans.confidence import (
    DEFAULT_MAXIMUM_REPETITIONS,
    DEFAULT_MINIMUM_REPETITIONS,
    validated_confidence,
)
from benchweb.plans.expansion import PlannedTrial, expanded, validated_steps
from benchweb.plans.models import Plan, PlanVersion

router = Router(tags=["plans"])
_LATEST = Prefetch(
    "versions",
    queryset=PlanVersion.objects.order_by("plan_id", "-number").distinct("plan_id"),
    to_attr="latest_versions",
)


class StepBody(Body):
    kind: Annotated[str, Field(max_length=60)]
    params: dict[str, Any] = {}


class ConfidenceBody(Body):
    """Repeat each combination until the interval of its headline metric's mean is at most so wide."""

    level_percent: float
    width_percent: float
    max_repetitions: int = DEFAULT_MAXIMUM_REPETITIONS


class PreviewBody(Body):
    # The first wrong step is told, not each of a million.
    steps: Annotated[list[StepBody], FailFast()]
    repetitions: int = 1
    order: Literal["interleaved", "sequential", "shuffled"] = "interleaved"
    pause_seconds: Annotated[float, Field(ge=0, le=services.MAXIMUM_PAUSE_SECONDS)] = 0
    confidence: ConfidenceBody | None = None

    @model_validator(mode="after")
    def _least_repetitions(self) -> Self:
        """With a confidence, the repetitions are the least; one would have no interval."""
        if self.confidence and "repetitions" not in self.model_fields_set:
            self.repetitions = DEFAULT_MINIMUM_REPETITIONS
        return self


class PlanBody(PreviewBody):
    name: Name
    # Left out of a PUT they stay as they are.
    labels: Labels = []
    # The size of the sweep at which main figures are told; null is the middle one.
    main_size_bytes: int | None = None


class PlanQuery(ArchivableQuery):
    label: Annotated[str, Field(max_length=100)] = ""


class PlanItem(Item):
    id: int
    name: str
    labels: list[str]
    version: int
    repetitions: int
    order: str
    pause_seconds: float
    steps: list[dict[str, Any]]
    confidence: dict[str, Any] | None
    created_at: datetime
    archived_at: datetime | None
    # Made for a single launch: no list has it.
    is_one_off: bool
    # The size of the sweep at which main figures are told; null is the middle one.
    main_size_bytes: int | None


class PlanVersionItem(Item):
    id: int
    version: int
    repetitions: int
    order: str
    pause_seconds: float
    steps: list[dict[str, Any]]
    confidence: dict[str, Any] | None
    created_at: datetime


class PreviewTrial(Item):
    index: int
    step: int
    kind: str
    params: dict[str, Any]
    repetition: int
    slot_seconds: float


class Preview(Item):
    count: int
    # With a confidence: if none of it is reached before the most repetitions.
    maximum_count: int
    measured_seconds: float
    total_seconds: float
    trials: list[PreviewTrial]


@router.get("/plans", response=Page[PlanItem], auth=READ)
def plan_list(request: HttpRequest, query: Query[PlanQuery]) -> Page[PlanItem]:
    """List plans by id, each with its latest version."""
    rows = _plans().filter(archived_at__isnull=not query.archived, is_one_off=False)
    return page(request, query, with_label(rows, query.label) if query.label else rows, _item)


@router.post("/plans", response={201: PlanItem}, auth=WRITE)
def plan_create(request: HttpRequest, body: PlanBody) -> Status[PlanItem]:
    """Create a plan with its version 1; a list as a parameter's value is a sweep."""
    fields = body.model_dump(exclude={"main_size_bytes"})
    with transaction.atomic():
        plan = services.plan_create(**fields)
        services.main_size_choose(plan=plan, size_bytes=body.main_size_bytes)
    return Status(201, _item(row_or_404(_plans(), plan.pk)))


@router.post("/plans/preview", response=Preview, auth=RUN.checked_by_view())
def plan_preview(request: HttpRequest, body: PreviewBody) -> Preview:
    """Check steps and expand them into trials without keeping anything."""
    fields = body.model_dump()
    requested = validated_confidence(fields["confidence"], body.repetitions)
    most = requested["max_repetitions"] if requested else body.repetitions
    trials = expanded(validated_steps(fields["steps"], body.repetitions, most), body.repetitions, body.order)
    listed = [_preview_trial(index, trial) for index, trial in enumerate(trials, start=1)]
    maximum_count = len(trials) // body.repetitions * most
    pauses_seconds = body.pause_seconds * max(0, maximum_count - 1)
    return Preview(
        count=len(trials),
        maximum_count=maximum_count,
        measured_seconds=sum(trial.measured_seconds for trial in trials),
        total_seconds=sum(trial.slot_seconds for trial in listed) * most / body.repetitions + pauses_seconds,
        trials=listed,
    )


@router.get("/plans/{plan_id}", response=PlanItem, auth=READ)
def plan_detail(request: HttpRequest, plan_id: Identifier) -> PlanItem:
    """Show a plan with its latest version, archived or not."""
    return _item(row_or_404(_plans(), plan_id))


@router.put("/plans/{plan_id}", response=PlanItem, auth=WRITE)
def plan_update(request: HttpRequest, plan_id: Identifier, body: PlanBody) -> PlanItem:
    """Rename, and make a new version if what is tested changed; runs keep the version they were launched with."""
    plan = row_or_404(_plans(), plan_id)
    if plan.archived_at is not None:
        raise Problem(409, f"Plan {plan.name} is archived and can't be changed: restore it first.")
    fields = body.model_dump(exclude={"main_size_bytes"})
    with transaction.atomic():
        services.plan_update(plan=plan, **fields | {"labels": given(body).get("labels")})
        if "main_size_bytes" in given(body):
            services.main_size_choose(plan=plan, size_bytes=body.main_size_bytes)
    return _item(row_or_404(_plans(), plan_id))


@router.get("/plans/{plan_id}/versions", response=Page[PlanVersionItem], auth=READ)
def plan_versions(request: HttpRequest, plan_id: Identifier, query: Query[PageQuery]) -> Page[PlanVersionItem]:
    """List a plan's versions, the latest first."""
    plan = row_or_404(_plans(), plan_id)
    return page(request, query, PlanVersion.objects.filter(plan=plan), _version_item, newest_first=True)


@router.post("/plans/{plan_id}/keep", response=PlanItem, auth=WRITE)
def plan_keep(request: HttpRequest, plan_id: Identifier) -> PlanItem:
    """Move a plan that was made for a single launch to the list of plans."""
    services.plan_keep(plan=row_or_404(_plans(), plan_id))
    return _item(row_or_404(_plans(), plan_id))


@router.delete("/plans/{plan_id}", response={204: None}, auth=WRITE)
def plan_archive(request: HttpRequest, plan_id: Identifier) -> Status[None]:
    """Archive a plan; its runs stay."""
    services.plan_archive(plan=row_or_404(_plans(), plan_id))
    return Status(204, None)


@router.post("/plans/{plan_id}/restore", response=PlanItem, auth=WRITE)
def plan_restore(request: HttpRequest, plan_id: Identifier) -> PlanItem:
    """Bring an archived plan back."""
    services.plan_restore(plan=row_or_404(_plans(), plan_id))
    return _item(row_or_404(_plans(), plan_id))


def _plans() -> "QuerySet[Plan, Plan]":
    return Plan.objects.prefetch_related(_LATEST)


def _item(plan: Plan) -> PlanItem:
    # Every plan has a version: plan_create writes both in one transaction.
    (latest,) = plan.latest_versions  # type: ignore[attr-defined]
    return PlanItem(
        id=plan.pk,
        name=plan.name,
        labels=plan.labels,
        version=latest.number,
        repetitions=latest.repetitions,
        order=latest.order,
        pause_seconds=latest.pause_seconds,
        steps=latest.steps,
        confidence=latest.confidence,
        created_at=plan.created_at,
        archived_at=plan.archived_at,
        is_one_off=plan.is_one_off,
        main_size_bytes=plan.main_size_bytes,
    )


def _version_item(version: PlanVersion) -> PlanVersionItem:
    same = {name: getattr(version, name) for name in PlanVersionItem.model_fields if name not in ("id", "version")}
    return PlanVersionItem(id=version.pk, version=version.number, **same)


def _preview_trial(index: int, trial: PlannedTrial) -> PreviewTrial:
    return PreviewTrial(
        index=index,
        step=trial.step,
        kind=trial.kind,
        params=trial.params,
        repetition=trial.repetition,
        slot_seconds=trial.slot_seconds,
    )
