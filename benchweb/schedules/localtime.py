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
    return reading(local.replace(tzinfo=zone).astimezone(UTC), zone) != local


def instant(local: datetime, zone: ZoneInfo) -> datetime:
    """Give the one instant of a local time, in UTC."""
    if is_skipped(local, zone):
        return _end_of_gap(local, zone)
    return local.replace(tzinfo=zone).astimezone(UTC)


def second_instant(local: datetime, zone: ZoneInfo) -> datetime | None:
    """Give when clocks show an existing local time for the second time, or None."""
    first, second = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return second if second > first else None


def _end_of_gap(local: datetime, zone: ZoneInfo) -> datetime:
    # In a gap, fold 0 counts by the offset before it and fold 1 by the one after: the change lies between the two.
    after, before = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    offset_after = after.astimezone(zone).utcoffset()
    while after - before > _SECOND:
        middle = before + timedelta(seconds=(after - before) // _SECOND // 2)
        if middle.astimezone(zone).utcoffset() == offset_after:
            after = middle
        else:
            before = middle
    return after
