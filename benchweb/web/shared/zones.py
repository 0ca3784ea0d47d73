"""The reader's time zone, which the browser tells by a cookie, and times as two zones say them."""

from datetime import UTC, date, datetime, time, tzinfo
from functools import lru_cache
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.utils.dateformat import format as date_format
from django.utils.dateparse import parse_date
from django.utils.translation import get_language, pgettext

from benchweb.accounts.preferences import ZONE_COOKIE
from benchweb.charts.history.query import FIRST_YEAR, LAST_YEAR
from benchweb.schedules.timing.localtime import zone_keys
from benchweb.site.values import site_setting

# Of the browser.
COOKIE = "zone"
_DAYS_CACHED = 4_096


@lru_cache(maxsize=1)
def zone_names() -> list[str]:
    """Return the zones that this system knows, without the names kept for old systems."""
    return sorted(name for name in zone_keys() if name == "UTC" or ("/" in name and not name.startswith("Etc/")))


def zone_named(name: str) -> ZoneInfo | None:
    """Return the zone of that name, or None; a name is no path."""
    return ZoneInfo(name) if name in zone_keys() else None


def reader_zone(request: HttpRequest) -> ZoneInfo:
    """Return the zone that the reader chose, else that of their browser; until it has told, the installation's."""
    zones = (zone_named(unquote(request.COOKIES.get(name, ""))) for name in (ZONE_COOKIE, COOKIE))
    return next(filter(None, zones), zone_named(site_setting("DEFAULT_TIME_ZONE")) or ZoneInfo("UTC"))


def requested_day(text: str, zone: ZoneInfo) -> datetime | None:
    """Return the begin of a day that an address names, YYYY-MM-DD, in a zone; None if it names none."""
    try:
        day = parse_date(text)
    except ValueError:
        return None
    # Far from the edges of what dates can be, so that a day more can't overflow.
    if day is None or not FIRST_YEAR <= day.year <= LAST_YEAR:
        return None
    return datetime.combine(day, time.min, zone)


def moment_text(moment: datetime, zone: tzinfo) -> str:
    """Say a time in a zone: Sun 22 Nov 02:00; with the year when it isn't this one."""
    local = moment.astimezone(zone)
    is_this_year = local.year == datetime.now(UTC).astimezone(zone).year
    clock = f"{local.hour:02}:{local.minute:02}" + (f":{local.second:02}" if local.second else "")
    return f"{_day_text(local.date(), is_this_year, get_language())} {clock}"


def day_text(day: date) -> str:
    """Say a day: Sun 22 Nov; with the year when it isn't this one."""
    return _day_text(day, day.year == datetime.now(UTC).year, get_language())


@lru_cache(maxsize=_DAYS_CACHED)
def _day_text(day: date, is_this_year: bool, _language: str | None) -> str:
    """Say a day: what is kept, for a list says the same days again and again."""
    form = pgettext("a date without a year", "D j M") if is_this_year else pgettext("a date", "D j M Y")
    return date_format(day, form)
