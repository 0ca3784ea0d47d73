"""Create, change, pause, archive and cancel schedules, and run one now."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from benchweb.catalog.reasons import Reason
from benchweb.common.rows import database_now
from benchweb.runs.models import OPEN_STATES, Run, State
from benchweb.runs.queueing import endings
from benchweb.schedules.definitions import Definition, checked_schedule, definition_of
from benchweb.schedules.errors import ScheduleError, TimingError
from benchweb.schedules.models import SKIPPED, Schedule, Slot
from benchweb.schedules.selectors import slots_left
from benchweb.schedules.slots.claiming import advance, claim_due
from benchweb.schedules.slots.launching import GRACE
from benchweb.schedules.slots.planning import follow_zones, next_fields
from benchweb.schedules.slots.settling import settle_slots
from benchweb.schedules.slots.turns import begin_waiting, campaign_under_way, end_waiting, slot_make
from benchweb.schedules.timing.rules import never_fires, rule_of

__all__ = [
    "ScheduleError",
    "TimingError",
    "begin_waiting",
    "claim_due",
    "follow_zones",
    "run_now",
    "schedule_archive",
    "schedule_cancel",
    "schedule_create",
    "schedule_draft",
    "schedule_pause",
    "schedule_restore",
    "schedule_resume",
    "schedule_update",
    "settle_slots",
]
_JUST_BEFORE = timedelta(microseconds=1)
# Whoever changes one of these changes when the schedule fires, and is told if it never does.
_TIMING = {"cron", "every", "timezone", "starts_at", "ends_at", "window", "blackouts", "slip_seconds", "max_runs"}


def schedule_create(*, user: User | None = None, **fields: Any) -> Schedule:
    """Create a schedule from the fields of Definition; refused when it can't be read or can never fire."""
    schedule = schedule_draft(**fields)
    schedule.created_by = user
    schedule.save(force_insert=True)
    return schedule


def schedule_draft(**fields: Any) -> Schedule:
    """Return the schedule that `schedule_create` would save, checked and with its `next_at`; nothing is written."""
    now = database_now()
    schedule = checked_schedule(Definition(**fields), now)
    # Who says "from now on" means now too, although the word took a moment to arrive.
    has_just_begun = now - GRACE < schedule.starts_at <= now
    _plan(schedule, _fields_after(schedule, schedule.starts_at - _JUST_BEFORE if has_just_begun else now))
    return schedule


@transaction.atomic
def schedule_update(*, schedule: Schedule, **fields: Any) -> Schedule:
    """Change the fields named, others stay; what is due already is launched as it was until now."""
    now = database_now()
    current = _locked_schedule(schedule)
    _catch_up(current, now)
    before = definition_of(current)
    if fields.get("starts_at", before.starts_at) is None:
        # It has started somewhere: without a new place its times keep theirs.
        fields["starts_at"] = before.starts_at
    changed = checked_schedule(replace(before, **fields), now, before)
    changed.pk, changed.created_at, changed.created_by = current.pk, current.created_at, current.created_by
    changed.paused_at, changed.archived_at = current.paused_at, current.archived_at
    _plan(changed, _next_fields(changed, now, must_fire=bool(fields.keys() & _TIMING)))
    changed.save(force_update=True)
    return changed


@transaction.atomic
def schedule_pause(*, schedule: Schedule) -> bool:
    """Begin nothing from now on: what waits is cancelled, runs under way go on. False when it was paused already."""
    now = database_now()
    locked = _locked_schedule(schedule)
    _catch_up(locked, now)
    end_waiting(locked, Reason("slot_paused"))
    _cancel_pending_runs(locked, Reason("schedule_paused"))
    return bool(Schedule.objects.filter(pk=schedule.pk, paused_at=None).update(paused_at=now))


@transaction.atomic
def schedule_resume(*, schedule: Schedule) -> bool:
    """Go on with the first time from now; times while it was paused are no slots. False when it wasn't paused."""
    following = _next_fields(_locked_schedule(schedule), database_now())
    paused = Schedule.objects.filter(pk=schedule.pk).exclude(paused_at=None)
    return bool(paused.update(paused_at=None, **following))


@transaction.atomic
def schedule_archive(*, schedule: Schedule) -> bool:
    """Hide a schedule and begin nothing by it any more, as when paused; False when it was archived already."""
    now = database_now()
    locked = _locked_schedule(schedule)
    _catch_up(locked, now)
    end_waiting(locked, Reason("slot_archived"))
    _cancel_pending_runs(locked, Reason("schedule_archived"))
    return bool(Schedule.objects.filter(pk=schedule.pk, archived_at=None).update(archived_at=now))


@transaction.atomic
def schedule_restore(*, schedule: Schedule) -> bool:
    """Bring an archived schedule back, to go on with the first time from now; False when it wasn't archived."""
    following = _next_fields(_locked_schedule(schedule), database_now())
    archived = Schedule.objects.filter(pk=schedule.pk).exclude(archived_at=None)
    return bool(archived.update(archived_at=None, **following))


@transaction.atomic
def schedule_cancel(*, schedule: Schedule) -> int:
    """Cancel all that a schedule has waiting or under way, not its times to come; return how many slots and runs."""
    locked = _locked_schedule(schedule)
    ended = end_waiting(locked, Reason("slot_cancelled"))
    return ended + endings.cancel(list(_runs(locked).filter(state__in=OPEN_STATES).values_list("pk", flat=True)))


@transaction.atomic
def run_now(schedule: Schedule, user: User | None = None) -> Slot:
    """Launch an extra slot at this second, whatever window and pause say; asked twice in a second, it is one.

    While a campaign of the schedule is under way it waits or is refused, as the schedule's overlap says.
    """
    now = database_now()
    locked = _locked_schedule(schedule)
    if locked.archived_at is not None:
        raise ScheduleError("", _("Schedule {locked} is archived: restore it first.").format(locked=locked))
    slot = slot_make(schedule=locked, at=now.replace(microsecond=0), now=now, user=user, is_extra=True)
    if slot.state == SKIPPED:
        before = campaign_under_way(locked)
        if before is None:
            raise ScheduleError("", _("A slot of this schedule waits already: wait for it, or cancel it first."))
        raise ScheduleError(
            "", _("Campaign {before} has not ended: wait for it, or cancel it first.").format(before=before)
        )
    return slot


def _locked_schedule(schedule: Schedule) -> Schedule:
    return Schedule.objects.select_for_update(of=("self",)).select_related("plan", "created_by").get(pk=schedule.pk)


def _cancel_pending_runs(schedule: Schedule, reason: str) -> None:
    """Cancel the runs that have not begun; one that begins at this moment goes on, or is ended here."""
    pending = _runs(schedule).filter(state=State.PENDING).values_list("pk", flat=True)
    reasons = dict.fromkeys(pending, reason)
    endings.end_pending(reasons, State.CANCELLED, why_trials=Reason("run_cancelled"), even_held=True)


def _runs(schedule: Schedule) -> QuerySet[Run]:
    return Run.objects.filter(campaign__slot__schedule=schedule)


def _catch_up(schedule: Schedule, now: datetime) -> None:
    """Make slots of what is due: a change made between a time and the next tick must not swallow it."""
    if schedule.paused_at is None and schedule.archived_at is None:
        while schedule.next_at is not None and schedule.next_at <= now:
            advance(schedule, now)


def _plan(schedule: Schedule, fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        setattr(schedule, name, value)


def _next_fields(schedule: Schedule, now: datetime, *, must_fire: bool = False) -> dict[str, Any]:
    left = slots_left(schedule)
    if left == 0:
        if must_fire:
            raise ScheduleError(
                "max_runs",
                _("It has had {max_runs} slots or more: it would never fire.").format(
                    max_runs=f"{schedule.max_runs:,}"
                ),
            )
        return {"next_at": None}
    # A clock that was set back must not make slots between slots that were.
    last = schedule.slots.filter(is_extra=False).aggregate(last=Max("at"))["last"]
    after = max(now, last) if last else now
    return _fields_after(schedule, after) if must_fire else next_fields(schedule, after)


def _fields_after(schedule: Schedule, after: datetime) -> dict[str, Any]:
    following = next_fields(schedule, after)
    if following["next_at"] is None:
        raise never_fires(rule_of(schedule), after)
    return following
