"""Schedules: a plan on chosen pairs, again and again; and their slots."""

from django.db import transaction
from django.db.models import Count, QuerySet, Window
from django.db.models.functions import RowNumber
from django.http import HttpRequest
from ninja import Query, Router, Status

from benchweb.api.authentication import READ, RUN, caller
from benchweb.api.paging import Page, PageQuery, page, page_of
from benchweb.api.resources.planning.schedule_schemas import (
    ScheduleBody,
    ScheduleChange,
    ScheduleDetail,
    ScheduleItem,
    ScheduleQuery,
    SlotItem,
    schedule_detail,
    schedule_fields,
    slot_item,
    values_of,
)
from benchweb.api.resources.planning.targets import target_of
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Identifier
from benchweb.plans.models import Plan
from benchweb.runs.models import Run
from benchweb.schedules import services
from benchweb.schedules.forecasts.feasibility import feasibility
from benchweb.schedules.models import Schedule, Slot
from benchweb.schedules.selectors import environments_of_schedule
from benchweb.schedules.targets import target_demand

router = Router(tags=["schedules"])
RUN_ITS_PAIRS = RUN.within(environments_of_schedule)
# Of a slot, in a list of hundreds: a mesh has forty thousand.
MOST_RUNS = 1_000


@router.get("/schedules", response=Page[ScheduleItem], auth=READ)
def schedule_list(request: HttpRequest, query: Query[ScheduleQuery]) -> Page[ScheduleItem]:
    """List schedules by id; `next_at` is the first time that is no slot yet."""
    rows = _schedules().filter(archived_at__isnull=not query.archived)
    if query.plan is not None:
        rows = rows.filter(plan=query.plan)
    if query.paused is not None:
        rows = rows.filter(paused_at__isnull=not query.paused)
    return page(request, query, rows, lambda schedule: ScheduleItem(**schedule_fields(schedule)))


@router.post("/schedules", response={201: ScheduleDetail}, auth=RUN.checked_by_view())
@transaction.atomic
def schedule_create(request: HttpRequest, body: ScheduleBody) -> Status[ScheduleDetail]:
    """Create a schedule; one that can't fit is kept and says so, one that can never fire is refused."""
    target_of(body)
    values = values_of(body, row_named(Plan.objects.all(), body.plan, "plan"))
    target_demand(values["target"], caller(request))
    schedule = services.schedule_create(user=caller(request), **values)
    return Status(201, _detail(schedule.pk))


@router.get("/schedules/{schedule_id}", response=ScheduleDetail, auth=READ)
def schedule_get(request: HttpRequest, schedule_id: Identifier) -> ScheduleDetail:
    """Show a schedule with its next ten slots and whether they fit."""
    return _detail(schedule_id)


@router.patch("/schedules/{schedule_id}", response=ScheduleDetail, auth=RUN_ITS_PAIRS)
@transaction.atomic
def schedule_update(request: HttpRequest, schedule_id: Identifier, body: ScheduleChange) -> ScheduleDetail:
    """Change what the body names; slots that are launched already stay as they are."""
    schedule = row_or_404(_schedules(), schedule_id)
    plan = None if body.plan is None else row_named(Plan.objects.all(), body.plan, "plan")
    values = values_of(body, plan)
    if "target" in values:
        target_demand(values["target"], caller(request), schedule.target)
    services.schedule_update(schedule=schedule, **values)
    return _detail(schedule_id)


@router.delete("/schedules/{schedule_id}", response={204: None}, auth=RUN_ITS_PAIRS)
def schedule_archive(request: HttpRequest, schedule_id: Identifier) -> Status[None]:
    """Archive a schedule: nothing begins by it any more, what waits is cancelled; its slots and runs stay."""
    services.schedule_archive(schedule=row_or_404(_schedules(), schedule_id))
    return Status(204, None)


@router.post("/schedules/{schedule_id}/restore", response=ScheduleDetail, auth=RUN_ITS_PAIRS)
def schedule_restore(request: HttpRequest, schedule_id: Identifier) -> ScheduleDetail:
    """Bring an archived schedule back; what it missed meanwhile isn't made up for."""
    services.schedule_restore(schedule=row_or_404(_schedules(), schedule_id))
    return _detail(schedule_id)


@router.post("/schedules/{schedule_id}/pause", response=ScheduleDetail, auth=RUN_ITS_PAIRS)
def schedule_pause(request: HttpRequest, schedule_id: Identifier) -> ScheduleDetail:
    """Begin nothing until it is resumed: what waits is cancelled, runs under way go on (see cancel)."""
    services.schedule_pause(schedule=row_or_404(_schedules(), schedule_id))
    return _detail(schedule_id)


@router.post("/schedules/{schedule_id}/resume", response=ScheduleDetail, auth=RUN_ITS_PAIRS)
def schedule_resume(request: HttpRequest, schedule_id: Identifier) -> ScheduleDetail:
    """Go on with the first time from now on."""
    services.schedule_resume(schedule=row_or_404(_schedules(), schedule_id))
    return _detail(schedule_id)


@router.post("/schedules/{schedule_id}/run", response={201: SlotItem}, auth=RUN_ITS_PAIRS)
def schedule_run(request: HttpRequest, schedule_id: Identifier) -> Status[SlotItem]:
    """Run now: a slot like any other, at this moment.

    While a campaign of the schedule is under way it waits (pending, without a campaign) or is refused with 409.
    """
    slot = services.run_now(row_or_404(_schedules(), schedule_id), caller(request))
    return Status(201, _slots([slot])[0])


@router.post(
    "/schedules/{schedule_id}/cancel", response={202: ScheduleDetail}, auth=RUN.within(environments_of_schedule)
)
def schedule_cancel(request: HttpRequest, schedule_id: Identifier) -> Status[ScheduleDetail]:
    """Cancel what the schedule has waiting at once and what it has running within a second; its next slots come."""
    services.schedule_cancel(schedule=row_or_404(_schedules(), schedule_id))
    return Status(202, _detail(schedule_id))


@router.get("/schedules/{schedule_id}/slots", response=Page[SlotItem], auth=READ)
def schedule_slots(request: HttpRequest, schedule_id: Identifier, query: Query[PageQuery]) -> Page[SlotItem]:
    """List a schedule's slots, the newest first, with what became of each."""
    row_or_404(_schedules(), schedule_id)
    rows = Slot.objects.filter(schedule=schedule_id)
    return page_of(request, query, rows, _slots, newest_first=True)


def _schedules() -> "QuerySet[Schedule, Schedule]":
    return Schedule.objects.select_related("plan")


def _detail(schedule_id: int) -> ScheduleDetail:
    schedule = row_or_404(_schedules(), schedule_id)
    return schedule_detail(schedule, feasibility(schedule))


def _slots(slots: list[Slot]) -> list[SlotItem]:
    campaigns = [slot.campaign_id for slot in slots if slot.campaign_id is not None]
    in_turn = Window(RowNumber(), partition_by="campaign", order_by="pk")
    count = Window(Count("pk"), partition_by="campaign")
    rows = (
        Run.objects.filter(campaign__in=campaigns)
        .annotate(position=in_turn, count=count)
        .filter(position__lte=MOST_RUNS)
    )
    runs: dict[int | None, list[int]] = {}
    counts: dict[int | None, int] = {}
    for campaign, run, number in rows.order_by("campaign", "pk").values_list("campaign_id", "pk", "count"):
        runs.setdefault(campaign, []).append(run)
        counts[campaign] = number
    return [slot_item(slot, runs.get(slot.campaign_id, []), counts.get(slot.campaign_id, 0)) for slot in slots]
