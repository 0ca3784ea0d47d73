"""A schedule that can't go on: tried three times, then the slot at hand fails with the reason, and the next counts."""

import logging
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from benchweb.catalog.reasons import Reason, joined, reason_fields
from benchweb.runs.models import State
from benchweb.runs.queueing.break_offs import MAXIMUM
from benchweb.schedules.models import Schedule, Slot
from benchweb.schedules.slots.planning import next_fields

_log = logging.getLogger(__name__)


@transaction.atomic
def break_off(schedule: Schedule, now: datetime, error: Exception) -> None:
    """Count a try that failed by the schedule's own fault; the third one steps over its slot."""
    at = schedule.next_at
    tried = Schedule.objects.filter(pk=schedule.pk, next_at=at)
    tried.update(break_offs=F("break_offs") + 1)
    if at is None or not tried.filter(break_offs__gte=MAXIMUM).exists():
        return
    following = _following_fields(schedule, now)
    broken_rule = Reason("slot_rule_broken") if following["next_at"] is None else ""
    reason = joined([not_launched(error), broken_rule])
    values = {"claimed_at": now, "state": State.FAILED, **reason_fields("reason", reason)}
    Slot.objects.get_or_create(schedule=schedule, at=at, defaults=values)
    tried.update(**following, break_offs=0)


@transaction.atomic
def waiting_break_off(schedule_id: int, error: Exception) -> None:
    """Count a try to launch a schedule's slot that waits; the third one that failed by its own fault fails the slot."""
    waiting = Slot.objects.filter(schedule=schedule_id, state=State.PENDING, campaign=None)
    longest = waiting.order_by("at").first()
    if longest is None:
        return
    tried = waiting.filter(pk=longest.pk)
    tried.update(break_offs=F("break_offs") + 1)
    given_up = tried.filter(break_offs__gte=MAXIMUM)
    given_up.update(state=State.FAILED, **reason_fields("reason", not_launched(error)))


def not_launched(error: Exception) -> Reason:
    """Say that a slot could not be launched by a fault that nobody foresaw."""
    return Reason("slot_not_launched", why=f"{type(error).__name__}: {error}")


def _following_fields(schedule: Schedule, now: datetime) -> dict[str, Any]:
    """Return the fields of the schedule's next time after now; none where its rule itself can't be followed."""
    try:
        return next_fields(schedule, now)
    except Exception:
        _log.exception("Schedule %s has a rule that can't be followed", schedule.pk)
        return {"next_at": None}
