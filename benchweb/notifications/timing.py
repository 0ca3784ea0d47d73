"""Work out when a message may go: ends of quiet hours and times of digests, in the rule's zone; pure."""

from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from benchweb.catalog.reasons import Reason
from benchweb.schedules.timing.localtime import instant, offset_seconds, reading
from benchweb.schedules.timing.openings import DailySpan, Openings


def next_time_of_day(now: datetime, at: time, zone: ZoneInfo) -> datetime:
    """Return the first moment after now at which a clock in the zone shows this time; of a doubled hour the first."""
    today = reading(now, zone).date()
    moments = (instant(datetime.combine(today + timedelta(days=days), at), zone) for days in range(3))
    return next(moment for moment in moments if moment > now)


def end_of_quiet(now: datetime, begins: time | None, ends: time | None, zone: ZoneInfo) -> datetime | None:
    """Return when the quiet hours end that it is in; None outside of them."""
    if begins is None or ends is None:
        return None
    openings = Openings(zone, blackouts=(DailySpan(begins, ends),))
    opens = openings.opens_at(now)
    # Where the clocks skip what is between, the next day's begin as the last day's end.
    while (later := openings.opens_at(opens)) > opens:
        opens = later
    return opens if opens > now else None


def held_fields(until: datetime, zone: ZoneInfo) -> dict[str, Any]:
    """Return the fields by which a message that waits for a time of day follows where the zone's rules change."""
    return {"held_zone": zone.key, "held_offset_seconds": offset_seconds(until, zone)}


def quiet_reason(until: datetime) -> str:
    """Say why a message waits for the end of quiet hours."""
    return Reason("delivery_quiet_hours", until=utc_text(until))


def digest_reason(due: datetime) -> str:
    """Say for which digest a message waits."""
    return Reason("delivery_in_digest", at=utc_text(due))


def utc_text(moment: datetime) -> str:
    """Return a moment as reasons write it."""
    return moment.strftime("%Y-%m-%d %H:%M UTC")
