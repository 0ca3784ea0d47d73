"""A schedule's next time, and how it follows where the rules of its zone change before it has come.

What clocks showed when the last slot was made is kept: a time that was a slot by the rules of before is none again, and
none that comes earlier by the new rules is lost.
"""

import logging
from datetime import datetime
from typing import Any

from benchweb.common.rows import database_now
from benchweb.schedules.models import Schedule
from benchweb.schedules.timing.cron import counts_hours
from benchweb.schedules.timing.localtime import offset_seconds, same_reading, zone_of
from benchweb.schedules.timing.rules import rule_of
from benchweb.schedules.timing.times import occurrences

_log = logging.getLogger(__name__)


def next_fields(schedule: Schedule, after: datetime) -> dict[str, Any]:
    """Return the fields of a schedule that say its next time after a moment."""
    return _fields(schedule, after, next(occurrences(rule_of(schedule), after), None))


def follow_zones() -> int:
    """Plan anew what has not come and whose zone's rules have changed since; return how many times moved."""
    now = database_now()
    planned = Schedule.objects.filter(paused_at=None, archived_at=None, next_at__isnull=False)
    return sum(_follow_zone(schedule, now) for schedule in planned)


def _follow_zone(schedule: Schedule, now: datetime) -> bool:
    try:
        fields = _changed_fields(schedule, now)
    except Exception:
        # One schedule's fault must not keep the others from their time.
        _log.exception("Schedule %s could not be planned anew", schedule.pk)
        return False
    if not fields:
        return False
    same = Schedule.objects.filter(pk=schedule.pk, next_at=schedule.next_at, counted_from=schedule.counted_from)
    return bool(same.update(**fields)) and fields["next_at"] != schedule.next_at


def _changed_fields(schedule: Schedule, now: datetime) -> dict[str, Any]:
    """Return what is to be written of a schedule; nothing where its zone's rules are as they were."""
    at, after, offset = schedule.next_at, schedule.counted_from, schedule.counted_offset_seconds
    if at is None:
        return {}
    if after is None or offset is None:
        # What is due already keeps its time.
        return _fields(schedule, now, at) if at > now else {}
    zone = zone_of(schedule.timezone)
    if schedule.next_offset_seconds == offset_seconds(at, zone):
        return {}
    if schedule.cron and not counts_hours(schedule.cron):
        after = max(after, same_reading(after, offset, zone))
    return next_fields(schedule, after)


def _fields(schedule: Schedule, after: datetime, next_at: datetime | None) -> dict[str, Any]:
    zone = zone_of(schedule.timezone)
    return {
        "next_at": next_at,
        "counted_from": after,
        "counted_offset_seconds": offset_seconds(after, zone),
        "next_offset_seconds": offset_seconds(next_at, zone) if next_at else None,
    }
