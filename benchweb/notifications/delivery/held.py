"""What is held for a time of day follows where the rules of its zone change before that has come."""

from datetime import datetime

from django.db.models import QuerySet

from benchweb.catalog.reasons import reason_fields
from benchweb.notifications.models import Delivery
from benchweb.notifications.timing import digest_reason, held_fields, quiet_reason
from benchweb.schedules.timing.localtime import same_reading, zone_of


def follow_zones() -> int:
    """Move what is held to when its zone's clocks show the time that it waits for; return how many were moved."""
    held = Delivery.objects.filter(state=Delivery.State.HELD, digest=None, held_offset_seconds__isnull=False)
    names = ("held_zone", "held_offset_seconds", "next_attempt_at", "digest_due_at")
    return sum(_follow_zone(held.filter(**alike), **alike) for alike in list(held.order_by().values(*names).distinct()))


def _follow_zone(
    waiting: "QuerySet[Delivery, Delivery]",
    *,
    held_zone: str,
    held_offset_seconds: int,
    next_attempt_at: datetime | None,
    digest_due_at: datetime | None,
) -> int:
    """Move those that wait for the same moment, for which the zone's clocks were to be so far ahead of UTC."""
    expected = next_attempt_at or digest_due_at
    if expected is None:
        return 0
    zone = zone_of(held_zone)
    until = same_reading(expected, held_offset_seconds, zone)
    if until == expected:
        return 0
    times = {"next_attempt_at": until} if next_attempt_at else {"digest_due_at": until}
    reason = quiet_reason(until) if next_attempt_at else digest_reason(until)
    return waiting.update(**times, **held_fields(until, zone), **reason_fields("reason", reason))
