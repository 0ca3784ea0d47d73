"""Local times as instants, each exactly once, whatever the clocks of its zone do.

A time that the clocks skip is the first instant after the gap; a time that they show twice is the first of the two.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django.utils.translation import gettext as _

from benchweb.schedules.errors import TimingError

_SECOND = timedelta(seconds=1)
# Files of the database that are no places: what this machine is set to, a template, a mark of a machine not set up.
_NOT_ZONES = {"localtime", "posixrules", "Factory"}
_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])\s*(\d{1,2})(?::?00)?", re.IGNORECASE)
_LARGEST_OFFSET = 12
# Cities that people look for, and the zone that has their time.
_CITIES = {"asia/beijing": "Asia/Shanghai", "beijing": "Asia/Shanghai", "china": "Asia/Shanghai"}


def zone_of(name: str) -> ZoneInfo:
    """Return the zone of the IANA database, or raise TimingError."""
    try:
        return ZoneInfo(name)
    # A name may also be a folder of the database, too long, or climb out of it.
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise TimingError(
            "timezone",
            _("{name} is no time zone of the IANA database: write it as in Asia/Shanghai or UTC.").format(
                name=f"{name[:60]!r}"
            ),
        ) from error


def zone_checked(name: str) -> ZoneInfo:
    """Return the zone as people may name one: by a name of the database that means the same on every machine."""
    if name in zone_keys():
        return ZoneInfo(name)
    zone = name[:60]
    plain = re.sub(r"^(?:posix|right)/", "", name)
    if plain != name and plain in zone_keys():
        raise TimingError(
            "timezone",
            _("{zone} is a variant of {plain} for old systems: write {plain_2}.").format(
                zone=f"{zone!r}", plain=plain, plain_2=plain
            ),
        )
    if name in _NOT_ZONES:
        raise TimingError(
            "timezone",
            _("{zone} names no place: write the zone itself, such as Asia/Shanghai or UTC.").format(zone=f"{zone!r}"),
        )
    if meant := _meant_name(name):
        raise TimingError(
            "timezone",
            _("{zone} is no time zone of the IANA database: write {meant}.").format(zone=f"{zone!r}", meant=meant),
        )
    return zone_of(name)


@lru_cache(maxsize=1)
def zone_keys() -> frozenset[str]:
    """Return every zone's name; looking for them walks through hundreds of files, some 10 ms."""
    return frozenset(available_timezones() - _NOT_ZONES)


def zones_forget() -> None:
    """Forget the rules of all zones, so that they are read anew where they have changed."""
    ZoneInfo.clear_cache()
    zone_keys.cache_clear()


def offset_seconds(at: datetime, zone: ZoneInfo) -> int:
    """Return how far clocks in the zone are ahead of UTC at an instant, as far as its rules are known now."""
    return int((reading(at, zone) - at.astimezone(UTC).replace(tzinfo=None)).total_seconds())


def same_reading(at: datetime, was_ahead_seconds: int, zone: ZoneInfo) -> datetime:
    """Return when clocks in the zone show what they were to show at an instant by the offset expected before."""
    local = at.astimezone(UTC).replace(tzinfo=None) + timedelta(seconds=was_ahead_seconds)
    return at if was_ahead_seconds == offset_seconds(at, zone) else instant(local, zone)


def _meant_name(name: str) -> str:
    """Return the name that was meant: in other letters, by a city, or by an offset (its sign is reversed)."""
    folded = name.strip().casefold().replace(" ", "_")
    if found := next((key for key in sorted(zone_keys()) if key.casefold() == folded), _CITIES.get(folded, "")):
        return found
    offset = _OFFSET.fullmatch(name.strip())
    if offset and int(offset.group(2)) <= _LARGEST_OFFSET:
        sign = "-" if offset.group(1) == "+" else "+"
        return f"Etc/GMT{sign}{int(offset.group(2))}"
    return ""


def reading(at: datetime, zone: ZoneInfo) -> datetime:
    """Return what clocks in the zone show at an instant, without a zone."""
    return at.astimezone(zone).replace(tzinfo=None)


def is_skipped(local: datetime, zone: ZoneInfo) -> bool:
    """Tell whether no clock in the zone ever shows this time."""
    before, after = _offsets(local, zone)
    return before < after


def instant(local: datetime, zone: ZoneInfo) -> datetime:
    """Return the one instant of a local time, in UTC."""
    before, after = _offsets(local, zone)
    return _end_of_gap(local, before, after, zone) if before < after else _instant_of_offset(local, before)


def second_instant(local: datetime, zone: ZoneInfo) -> datetime | None:
    """Return when clocks show an existing local time for the second time, or None."""
    before, after = _offsets(local, zone)
    return _instant_of_offset(local, after) if before > after else None


def _offsets(local: datetime, zone: ZoneInfo) -> tuple[timedelta, timedelta]:
    """Return the offsets before and after the change that touches this local time: mostly the same (PEP 495)."""
    before, after = (zone.utcoffset(local.replace(fold=fold)) or timedelta() for fold in (0, 1))
    return before, after


def _instant_of_offset(local: datetime, offset: timedelta) -> datetime:
    return (local - offset).replace(tzinfo=UTC)


def _end_of_gap(local: datetime, before: timedelta, after: timedelta, zone: ZoneInfo) -> datetime:
    # Counted by the offset after the gap it lies before the change, by the one before the gap behind it.
    early, late = _instant_of_offset(local, after), _instant_of_offset(local, before)
    while late - early > _SECOND:
        middle = early + timedelta(seconds=(late - early) // _SECOND // 2)
        if middle.astimezone(zone).utcoffset() == after:
            late = middle
        else:
            early = middle
    return late
