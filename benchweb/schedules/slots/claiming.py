"""The tick's part: due times become slots, each once, whoever ticks and whatever the clocks of workers say."""

import logging
from datetime import datetime, timedelta
from itertools import chain, islice, takewhile

from django.db import transaction

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.common.database_faults import may_pass
from benchweb.common.rows import database_now
from benchweb.runs.models import State
from benchweb.schedules.models import Schedule, Slot
from benchweb.schedules.selectors import slots_left
from benchweb.schedules.slots.breaking_off import break_off
from benchweb.schedules.slots.launching import GRACE
from benchweb.schedules.slots.planning import next_fields
from benchweb.schedules.slots.turns import slot_make
from benchweb.schedules.time_texts import duration_text
from benchweb.schedules.timing.rules import rule_of
from benchweb.schedules.timing.times import occurrences

# How many missed slots are written at once: of a night without a beat, a schedule by the second has 30,000.
_BATCH = 500
_log = logging.getLogger(__name__)


def claim_due(now: datetime | None = None) -> int:
    """Make slots of all that is due, and launch them; return how many. Safe beside itself: rows are locked, or skipped.

    The time is the database's, so that all workers have one clock.
    """
    now = now or database_now()
    made, broken = 0, set[int]()
    while True:
        schedule = None
        try:
            with transaction.atomic():
                schedule = _due_schedule(now, broken)
                if schedule is None:
                    return made
                made += advance(schedule, now)
        except Exception as error:
            # One schedule's fault must not keep the others from their night.
            if schedule is None:
                raise
            _log.exception("Schedule %s could not be advanced", schedule.pk)
            broken.add(schedule.pk)
            if not may_pass(error):
                break_off(schedule, now, error)


def advance(schedule: Schedule, now: datetime) -> int:
    """Make slots of a locked schedule's due times, up to one that is not missed; move `next_at`; return how many."""
    first = schedule.next_at
    if first is None or first > now:
        return 0
    left = slots_left(schedule)
    rule = rule_of(schedule)
    times = takewhile(lambda at: at <= now, chain([first], occurrences(rule, first)))
    due = list(islice(times, min(_BATCH, _BATCH if left is None else left)))
    missed, to_run = _divided_times(schedule, due, now)
    if missed:
        _record_missed(schedule, missed, now)
    if to_run:
        # What the policy makes up for has to run, whatever is before it.
        must_run = schedule.missed == Schedule.Missed.RUN_ALL and _is_late(schedule, to_run, now)
        slot_make(schedule=schedule, at=to_run, now=now, user=schedule.created_by, must_run=must_run)
    made = len(missed) + bool(to_run)
    last = due[made - 1] if made else first
    is_over = left is not None and made >= left
    following = next_fields(schedule, last) | ({"next_at": None} if is_over else {})
    schedule.next_at = following["next_at"]
    Schedule.objects.filter(pk=schedule.pk, next_at=first).update(**following, break_offs=0)
    return made


def _due_schedule(now: datetime, without: set[int]) -> Schedule | None:
    waiting = Schedule.objects.filter(paused_at=None, archived_at=None, next_at__lte=now).exclude(pk__in=without)
    locked = waiting.select_for_update(skip_locked=True, of=("self",)).select_related("plan", "created_by")
    return locked.order_by("next_at", "pk").first()


def _divided_times(schedule: Schedule, due: list[datetime], now: datetime) -> tuple[list[datetime], datetime | None]:
    """Return the times, from the first on, that are only recorded as missed, and the one after them to launch."""
    late = [at for at in due if _is_late(schedule, at, now)]
    on_time = due[len(late)] if len(late) < len(due) else None
    if not late or schedule.missed == Schedule.Missed.RUN_ALL:
        return [], due[0] if due else None
    if schedule.missed == Schedule.Missed.RUN_ONCE and on_time is None:
        # Of a full batch the last may not be the newest: it begins the next one.
        return late[:-1], late[-1] if len(due) < _BATCH else None
    return late, on_time


def _record_missed(schedule: Schedule, missed: list[datetime], now: datetime) -> None:
    once = schedule.missed == Schedule.Missed.RUN_ONCE
    code = "slot_made_up_later" if once else "slot_missed"
    Slot.objects.bulk_create(
        (
            Slot(
                schedule=schedule,
                at=at,
                state=State.MISSED,
                claimed_at=now,
                **reason_fields("reason", Reason(code, lateness=duration_text(now - at))),
            )
            for at in missed
        ),
        ignore_conflicts=True,
    )


def _is_late(schedule: Schedule, at: datetime, now: datetime) -> bool:
    return now - at > max(GRACE, timedelta(seconds=schedule.slip_seconds))
