"""When a message may go: ends of quiet hours and times of digests, in the rule's zone; pure."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


def next_time_of_day(now: datetime, at: time, zone: ZoneInfo) -> datetime:
    """Return the first moment after now at which a clock in the zone shows this time."""
    today = now.astimezone(zone).date()
    moments = (_moment(today + timedelta(days=days), at, zone) for days in range(3))
    return next(moment for moment in moments if moment > now)


def end_of_quiet(now: datetime, begins: time | None, ends: time | None, zone: ZoneInfo) -> datetime | None:
    """Return when the quiet hours end that it is in; None outside of them."""
    if begins is None or ends is None:
        return None
    clock = now.astimezone(zone).time().replace(tzinfo=None)
    is_quiet = begins <= clock < ends if begins < ends else clock >= begins or clock < ends
    return next_time_of_day(now, ends, zone) if is_quiet else None


def _moment(day: date, at: time, zone: ZoneInfo) -> datetime:
    # Of an hour that there is twice the first; what a change of clocks leaves out comes as much later.
    return datetime.combine(day, at, zone).astimezone(UTC)
