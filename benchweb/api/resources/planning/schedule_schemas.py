"""Bodies and answers of schedules: the model's fields, with targets, windows and times as the contract has them."""

from datetime import datetime, time
from typing import Annotated, Any

from pydantic import Field

from benchweb.api.paging import ArchivableQuery
from benchweb.api.resources.planning.targets import TargetBody, names_target, target_of
from benchweb.api.schemas import Body, Identifier, Item, MomentText, Name
from benchweb.catalog.reasons import reason_items
from benchweb.plans.models import Plan
from benchweb.regressions.judging.budget import rerun_budget
from benchweb.runs.models import Campaign
from benchweb.schedules.defaults import (
    DEFAULT_RERUN_PERCENT,
    DEFAULT_RETRIES,
    DEFAULT_RETRY_PAUSE_SECONDS,
    MAXIMUM_BLACKOUTS,
    MAXIMUM_SLIP_SECONDS,
    RERUN_PERCENT,
    RETRIES,
    RETRY_PAUSE,
)
from benchweb.schedules.forecasts.collisions import Conflict
from benchweb.schedules.forecasts.feasibility import Feasibility
from benchweb.schedules.models import Schedule, Slot
from benchweb.schedules.selectors import RATE_DAYS, SuccessRate, next_slots, rates_since, success_rates
from benchweb.schedules.slots.turns import campaign_under_way, waiting_count

# PostgreSQL's integer; what a value means is the services' to check.
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Positive = Annotated[int, Field(ge=1, le=2**31 - 1)]
Text = Annotated[str, Field(max_length=200)]


class SpanBody(Body):
    """From one local time of day to another, such as 02:00 and 06:00; a blackout may also have dates."""

    begin: Annotated[Text, Field(alias="from")]
    until: Text


class ScheduleChange(TargetBody):
    """What a PATCH may name; null takes a bound away."""

    name: Name = ""
    plan: Identifier | None = None
    cron: Text | None = None
    every: Text | None = None
    timezone: Text = "UTC"
    starts_at: MomentText | None = None
    ends_at: MomentText | None = None
    max_runs: Positive | None = None
    missed: Text = Schedule.Missed.SKIP
    overlap: Annotated[
        Text, Field(description="When the previous campaign has not ended: `skip`, or `queue_one` (one slot waits).")
    ] = Schedule.Overlap.QUEUE_ONE
    arrangement: Annotated[
        Text, Field(description="How runs of several pairs follow each other: `runs`, `rounds` or `together`.")
    ] = Campaign.Arrangement.RUNS
    window: SpanBody | None = None
    blackouts: Annotated[list[SpanBody], Field(max_length=MAXIMUM_BLACKOUTS)] = []
    deadline_seconds: Positive | None = None
    slip_seconds: Annotated[int, Field(ge=0, le=MAXIMUM_SLIP_SECONDS)] = 0
    retries: Annotated[int, Field(ge=RETRIES.least, le=RETRIES.most)] = DEFAULT_RETRIES
    retry_pause_seconds: Annotated[int, Field(ge=RETRY_PAUSE.least, le=RETRY_PAUSE.most)] = DEFAULT_RETRY_PAUSE_SECONDS
    rerun_percent: Annotated[
        int,
        Field(
            ge=RERUN_PERCENT.least,
            le=RERUN_PERCENT.most,
            description="Of the time of its own runs in the last day, for measuring suspects again; 0 is never.",
        ),
    ] = DEFAULT_RERUN_PERCENT
    confirm_runs: Positive | None = None


class ScheduleBody(ScheduleChange):
    """What a POST takes: as a PATCH, with a name and a plan."""

    name: Name
    plan: Identifier


class ScheduleQuery(ArchivableQuery):
    plan: Identifier | None = None
    paused: bool | None = None


class ConflictItem(Item):
    schedule: int
    name: str
    place: str
    at: datetime
    until: datetime
    text: str


class FeasibilityItem(Item):
    fits: bool
    reason: str
    runs: int
    host_minutes_needed: float
    host_minutes_available: float | None
    starts_at: datetime | None
    makespan_seconds: float
    lower_bound_seconds: float
    ends_at: datetime | None
    smallest_change: str
    conflict: ConflictItem | None
    # Too many runs to place them one by one: the lower bound is taken for the length.
    is_estimated: bool


class ScheduleItem(Item):
    id: int
    name: str
    plan: int
    plan_name: str
    pairs: list[int] | None
    environment: int | None
    label: str | None
    mesh: dict[str, Any] | None
    cron: str | None
    every: str | None
    timezone: str
    starts_at: datetime
    ends_at: datetime | None
    max_runs: int | None
    missed: str
    overlap: str
    arrangement: str
    window: dict[str, str] | None
    blackouts: list[dict[str, str]]
    deadline_seconds: int | None
    slip_seconds: int
    retries: int
    retry_pause_seconds: int
    rerun_percent: int
    confirm_runs: int | None
    paused_at: datetime | None
    next_at: datetime | None
    created_at: datetime
    archived_at: datetime | None


class SuccessItem(Item):
    """Of the slots of so many days; skipped ones are not in `total`. `ratio` is null while `total` is 0."""

    days: int
    finished: int
    total: int
    skipped: int
    ratio: float | None


class RerunsItem(Item):
    """Of a day: what re-runs may take, and what is left; the first, and the first of a critical alert, come on top."""

    allowed_seconds: float
    left_seconds: float
    is_first_left: bool
    is_critical_left: bool


class ScheduleDetail(ScheduleItem):
    next_slots: list[datetime]
    success_rate: SuccessItem
    reruns: RerunsItem
    # The campaign under way, and how many slots wait for its end.
    campaign: int | None
    waiting_slots: int
    feasibility: FeasibilityItem


class SlotItem(Item):
    id: int
    at: datetime
    state: str
    reason: str
    reason_code: str | None
    reason_params: dict[str, Any] | None
    campaign: int | None
    # The first thousand: `GET /runs?campaign=` lists all.
    runs: list[int]
    run_count: int


def values_of(body: ScheduleChange, plan: Plan | None) -> dict[str, Any]:
    """Return what the body names as the services take it."""
    values = {name: getattr(body, name) for name in body.model_fields_set - _TRANSLATED}
    if plan is not None:
        values["plan"] = plan
    if names_target(body):
        values["target"] = target_of(body)
    # One of both: a PATCH that names one takes the place of the other.
    if body.cron is not None or body.every is not None:
        values |= {"cron": body.cron or "", "every": body.every or ""}
    if "window" in body.model_fields_set:
        values["window"] = body.window and _span(body.window)
    if "blackouts" in body.model_fields_set:
        values["blackouts"] = [_span(blackout) for blackout in body.blackouts]
    return values


_TRANSLATED = {"plan", "cron", "every", "window", "blackouts", *TargetBody.model_fields}


def _span(span: SpanBody) -> dict[str, str]:
    return {"from": span.begin, "until": span.until}


_SAME = [
    *("name", "timezone", "starts_at", "ends_at", "max_runs", "missed", "overlap", "blackouts", "deadline_seconds"),
    *("arrangement", "slip_seconds", "retries", "retry_pause_seconds", "rerun_percent"),
    *("paused_at", "next_at", "created_at", "archived_at"),
]


def schedule_fields(schedule: Schedule) -> dict[str, Any]:
    """Return a schedule's own fields."""
    return {
        "id": schedule.pk,
        **{name: getattr(schedule, name) for name in _SAME},
        **{name: schedule.target.get(name) for name in TargetBody.model_fields},
        "plan": schedule.plan_id,
        "plan_name": schedule.plan.name,
        "cron": schedule.cron or None,
        "every": schedule.every or None,
        "window": _window(schedule),
        "confirm_runs": schedule.confirmed_runs,
    }


def _window(schedule: Schedule) -> dict[str, str] | None:
    if schedule.window_from is None or schedule.window_until is None:
        return None
    return {"from": _time_text(schedule.window_from), "until": _time_text(schedule.window_until)}


def _time_text(moment: time) -> str:
    return moment.isoformat("minutes" if moment.second == 0 else "seconds")


def schedule_detail(schedule: Schedule, outlook: Feasibility) -> ScheduleDetail:
    """Return a schedule with its next slots and whether they fit."""
    same = {name: getattr(outlook, name) for name in FeasibilityItem.model_fields if name != "conflict"}
    conflict = _conflict(outlook.conflict, outlook.conflict_text) if outlook.conflict else None
    feasibility = FeasibilityItem(**same, conflict=conflict)
    return ScheduleDetail(
        **schedule_fields(schedule),
        next_slots=next_slots(schedule),
        success_rate=_success(schedule),
        reruns=_reruns(schedule),
        campaign=campaign_under_way(schedule),
        waiting_slots=waiting_count(schedule),
        feasibility=feasibility,
    )


def _success(schedule: Schedule) -> SuccessItem:
    rate = success_rates([schedule], rates_since()).get(schedule.pk, SuccessRate(0, 0))
    return SuccessItem(days=RATE_DAYS, finished=rate.finished, total=rate.total, skipped=rate.skipped, ratio=rate.ratio)


def _reruns(schedule: Schedule) -> RerunsItem:
    budget = rerun_budget(schedule)
    return RerunsItem(**{name: getattr(budget, name) for name in RerunsItem.model_fields})


def _conflict(conflict: Conflict, text: str) -> ConflictItem:
    same = {name: getattr(conflict, name) for name in ConflictItem.model_fields if name != "text"}
    return ConflictItem(**same, text=text)


def slot_item(slot: Slot, run_ids: list[int], run_count: int) -> SlotItem:
    """Return a slot with the ids of its campaign's runs, and how many there are."""
    return SlotItem(
        id=slot.pk,
        at=slot.at,
        state=slot.state,
        **reason_items("reason", slot.why),
        campaign=slot.campaign_id,
        runs=run_ids,
        run_count=run_count,
    )
