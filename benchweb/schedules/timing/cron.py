"""The instants of a cron expression in a time zone.

cronsim walks plain local times; the zone is applied here, for cron's own habit depends on how the hours are written
("*/2" runs twice where "0,2,4" runs once), and stepping by hours through a change of half an hour skips times.
"""

from collections import deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from django.utils.translation import gettext as _

from benchweb.schedules.errors import TimingError
from benchweb.schedules.timing.cron_text import FORM
from benchweb.schedules.timing.localtime import instant, is_skipped, reading, second_instant

MAXIMUM_LENGTH = 200
_HOURS_A_DAY = 24
_DAY = timedelta(days=1)
_ANY_TIME = datetime(2000, 1, 1)
# In a common year.
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# More days than these are no choice of days.
_MOST_DAYS_CHOSEN = 27


def cron_check(expression: str) -> None:
    """Raise TimingError unless the expression can be read and some day matches it."""
    if len(expression) > MAXIMUM_LENGTH:
        raise TimingError(
            "cron",
            _("A cron expression has at most {maximum_length} characters.").format(maximum_length=MAXIMUM_LENGTH),
        )
    _walk(expression, _ANY_TIME)


def leaves_months_out(expression: str) -> bool:
    """Tell whether it names days that some of its months lack, such as the 31st."""
    times = _walk(expression, _ANY_TIME)
    days = {day for day in times.days if isinstance(day, int) and day > 0}
    is_choice = len(days) <= _MOST_DAYS_CHOSEN and not expression.split()[-3].startswith("*")
    shortest = min(_MONTH_DAYS[month - 1] for month in times.months if isinstance(month, int))
    return is_choice and max(days, default=0) > shortest


def counts_hours(expression: str) -> bool:
    """Tell whether every hour matches: then its times are hours as they pass, whatever clocks show."""
    return len(_walk(expression, _ANY_TIME).hours) == _HOURS_A_DAY


def cron_instants(expression: str, zone: ZoneInfo, start: datetime) -> Iterator[datetime]:
    """Return the instants from `start` on, in UTC, ascending, each once; ends if none comes for 50 years.

    With hours named, each local time counts once a day: skipped ones at the end of the gap, doubled ones the first
    time. With every hour matching, the expression counts hours as they pass: none is moved, a doubled hour is two.
    """
    last = start - timedelta(microseconds=1)
    for at in _with_doubled_hours(expression, zone, _first_reading(last, zone)):
        if at > last:
            yield at
            last = at


def _with_doubled_hours(expression: str, zone: ZoneInfo, begin: datetime) -> Iterator[datetime]:
    is_counting = counts_hours(expression)
    later: deque[datetime] = deque()
    for local in _walk(expression, begin):
        at = instant(local, zone)
        while later and later[0] <= at:
            yield later.popleft()
        if is_counting and is_skipped(local, zone):
            continue
        yield at
        if is_counting and (second := second_instant(local, zone)):
            later.append(second)


def _first_reading(last: datetime, zone: ZoneInfo) -> datetime:
    """Return the least that a clock shows after `last`: clocks that are about to go back show times again."""
    return min(reading(last, zone), reading(last + _DAY, zone) - _DAY)


def _walk(expression: str, begin: datetime) -> CronSim:
    try:
        return CronSim(expression, begin)
    # Also what cronsim doesn't foresee, such as a step over the last day of the month.
    except (CronSimError, AssertionError, TypeError, ValueError, IndexError) as error:
        raise TimingError("cron", _fault(expression)) from error


def _fault(expression: str) -> str:
    fields = expression.split()
    # With any day of the month it is sound: then it is the day that never comes.
    if len(fields) in (5, 6) and fields[-3] != "*" and _is_sound([*fields[:-3], "*", *fields[-2:]]):
        cron_part = fields[-3][:60]
        return _(
            "{cron_part} in the day of the month never comes in the months chosen: no such month has that day. "
            "L is the last day of a month."
        ).format(cron_part=f"{cron_part!r}")
    return _("{expression} is not a valid cron expression: it has {form}.").format(
        expression=f"{expression[:60]!r}", form=_(FORM)
    )


def _is_sound(fields: list[str]) -> bool:
    try:
        CronSim(" ".join(fields), _ANY_TIME)
    except (CronSimError, AssertionError, TypeError, ValueError, IndexError):
        return False
    return True
