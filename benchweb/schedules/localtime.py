"""Local times as instants, each exactly once, whatever the clocks of its zone do.

A time that the clocks skip is the first instant after the gap; a time that they show twice is the first of the two.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from benchweb.schedules.errors import TimingError

_SECOND = timedelta(seconds=1)


def zone_of(name: str) -> ZoneInfo:
    """Give the zone of the IANA database, or raise TimingError."""
    try:
        return ZoneInfo(name)
    # A name may also be a folder of the database, too long, or climb out of it.
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise TimingError(
            "timezone", f"{name[:60]!r} is no time zone of the IANA database: write it as in Asia/Shanghai or UTC."
        ) from error


def reading(at: datetime, zone: ZoneInfo) -> datetime:
    """Give what clocks in the zone show at an instant, without a zone."""
    return at.astimezone(zone).replace(tzinfo=None)


def is_skipped(local: datetime, zone: ZoneInfo) -> bool:
    """Tell whether no clock in the zone ever shows this time."""
    before, after = _offsets(local, zone)
    return before < after


def instant(local: datetime, zone: ZoneInfo) -> datetime:
    """Give the one instant of a local time, in UTC."""
    before, after = _offsets(local, zone)
    return _end_of_gap(local, before, after, zone) if before < after else _less(local, before)


def second_instant(local: datetime, zone: ZoneInfo) -> datetime | None:
    """Give when clocks show an existing local time for the second time, or None."""
    before, after = _offsets(local, zone)
    return _less(local, after) if before > after else None


def _offsets(local: datetime, zone: ZoneInfo) -> tuple[timedelta, timedelta]:
    """Give the offsets before and after the change that touches this local time: mostly one and the same (PEP 495)."""
    before, after = (zone.utcoffset(local.replace(fold=fold)) or timedelta() for fold in (0, 1))
    return before, after


def _less(local: datetime, offset: timedelta) -> datetime:
    return (local - offset).replace(tzinfo=UTC)


def _end_of_gap(local: datetime, before: timedelta, after: timedelta, zone: ZoneInfo) -> datetime:
    # Counted by the offset after the gap it lies before the change, by the one before the gap behind it.
    early, late = _less(local, after), _less(local, before)
    while late - early > _SECOND:
        middle = early + timedelta(seconds=(late - early) // _SECOND // 2)
        if middle.astimezone(zone).utcoffset() == after:
            late = middle
        else:
            early = middle
    return late
