"""One campaign of a schedule at a time: which slot has its turn, which waits, which is skipped.

A slot that waits is pending and has no campaign. All of this is done while the schedule's row is locked.
"""

import logging
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.common.database_faults import may_pass
from benchweb.common.rows import database_now
from benchweb.runs.models import OPEN_STATES, Run, State
from benchweb.schedules.models import SKIPPED, Schedule, Slot
from benchweb.schedules.slots.breaking_off import waiting_break_off
from benchweb.schedules.slots.launching import slot_begin
from benchweb.schedules.slots.settling import settle_slots

# So many slots that can't be launched are passed by in one transaction; the next tick goes on.
_MOST_TRIED = 100
_WAITS = Q(state=State.PENDING, campaign=None)
_log = logging.getLogger(__name__)


def slot_make(
    *,
    schedule: Schedule,
    at: datetime,
    now: datetime,
    user: User | None,
    is_extra: bool = False,
    must_run: bool = False,
) -> Slot:
    """Make the slot of this time, once, and launch it, let it wait or skip it, as the schedule's overlap says.

    A slot that `must_run` waits whatever is before it. One that was made before stays as it is.
    """
    slot, is_new = Slot.objects.get_or_create(
        schedule=schedule, at=at, defaults={"claimed_at": now, "is_extra": is_extra}
    )
    if is_new:
        turn_give(schedule, now, but=slot.pk)
        _launch_or_miss(schedule, slot, now, user, must_run)
    return slot


def begin_waiting(now: datetime | None = None) -> int:
    """Launch the slots that wait and whose turn has come; return how many were. One query when none waits."""
    waiting = Slot.objects.filter(_WAITS).order_by("schedule").values_list("schedule", flat=True).distinct()
    return sum(_begun(schedule_id, now or database_now()) for schedule_id in list(waiting))


def turn_give(schedule: Schedule, now: datetime, *, but: int = 0) -> int:
    """Launch the slot of a locked schedule that has waited longest, if nothing of it runs; return how many were.

    `but` is the id of a slot that has not waited.
    """
    settle_slots(schedule)
    waiting = _slots(schedule).filter(_WAITS).exclude(pk=but).order_by("at")
    for slot in waiting[:_MOST_TRIED]:
        if campaign_under_way(schedule) is not None:
            return 0
        slot_begin(schedule=schedule, slot=slot, now=now, user=schedule.created_by)
        if slot.campaign_id is not None:
            return 1
    return 0


def campaign_under_way(schedule: Schedule) -> int | None:
    """Return the id of the schedule's campaign that has not ended, or None."""
    still_open = Run.objects.filter(campaign=OuterRef("campaign"), state__in=OPEN_STATES)
    under_way = _slots(schedule).filter(Exists(still_open), state__in=OPEN_STATES).order_by("at")
    return under_way.values_list("campaign_id", flat=True).first()


def waiting_count(schedule: Schedule) -> int:
    """Count the schedule's slots that wait for the campaign before them."""
    return _slots(schedule).filter(_WAITS).count()


def end_waiting(schedule: Schedule, reason: str) -> int:
    """End the slots that wait as cancelled, with the reason; return how many."""
    return _slots(schedule).filter(_WAITS).update(state=State.CANCELLED, **reason_fields("reason", reason))


def _launch_or_miss(schedule: Schedule, slot: Slot, now: datetime, user: User | None, must_run: bool) -> None:
    before = campaign_under_way(schedule)
    waits = _slots(schedule).filter(_WAITS).exclude(pk=slot.pk).exists()
    if before is None and not waits:
        slot_begin(schedule=schedule, slot=slot, now=now, user=user)
        return
    if must_run or (schedule.overlap == Schedule.Overlap.QUEUE_ONE and not waits):
        slot.why = Reason("slot_waits_for_campaign", before=before) if before else Reason("slot_waits_for_slot")
    else:
        slot.state = SKIPPED
        slot.why = _skip_reason(before, waits)
    slot.save(update_fields=["state", "reason", "reason_data"])


def _skip_reason(before: int | None, waits: bool) -> str:
    if not before:
        return Reason("slot_skipped_behind_slot")
    if waits:
        return Reason("slot_skipped_behind_both", before=before)
    return Reason("slot_skipped", before=before)


def _begun(schedule_id: int, now: datetime) -> int:
    try:
        with transaction.atomic():
            schedule = Schedule.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk=schedule_id)
            locked = schedule.select_related("plan", "created_by").first()
            return turn_give(locked, now) if locked else 0
    except Exception as error:
        # One schedule's fault must not keep the others waiting.
        _log.exception("Schedule %s could not launch its waiting slot", schedule_id)
        if not may_pass(error):
            waiting_break_off(schedule_id, error)
        return 0


def _slots(schedule: Schedule) -> "QuerySet[Slot, Slot]":
    return Slot.objects.filter(schedule=schedule)
