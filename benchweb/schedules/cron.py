"""The instants of a cron expression in a time zone.

cronsim walks plain local times; the zone is applied here, for cron's own habit depends on how the hours are written
("*/2" runs twice where "0,2,4" runs once), and stepping by hours through a change of half an hour skips times.
"""

from collections import deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from benchweb.schedules.errors import TimingError
from benchweb.schedules.localtime import instant, is_skipped, reading, second_instant

MAXIMUM_LENGTH = 200
_HOURS_A_DAY = 24
_DAY = timedelta(days=1)
_ANY_TIME = datetime(2000, 1, 1)
_FORM = "it has five fields, minute hour day-of-month month day-of-week, such as '0 2 * * *' for 02:00 each day."


def cron_check(expression: str) -> None:
    """Raise TimingError unless the expression can be read and some day matches it."""
    if len(expression) > MAXIMUM_LENGTH:
        raise TimingError("cron", f"A cron expression has at most {MAXIMUM_LENGTH} characters.")
    _walk(expression, _ANY_TIME)


def cron_instants(expression: str, zone: ZoneInfo, start: datetime) -> Iterator[datetime]:
    """Give the instants from `start` on, in UTC, ascending, each once; ends if none comes for 50 years.

    With hours named, each local time counts once a day: skipped ones at the end of the gap, doubled ones the first
    time. With every hour matching, the expression counts hours as they pass: none is moved, a doubled hour is two.
    """
    last = start - timedelta(microseconds=1)
    for at in _with_doubled_hours(expression, zone, _first_reading(last, zone)):
        if at > last:
            yield at
            last = at


def _with_doubled_hours(expression: str, zone: ZoneInfo, begin: datetime) -> Iterator[datetime]:
    times = _walk(expression, begin)
    counts_hours = len(times.hours) == _HOURS_A_DAY
    later: deque[datetime] = deque()
    for local in times:
        at = instant(local, zone)
        while later and later[0] <= at:
            yield later.popleft()
        if counts_hours and is_skipped(local, zone):
            continue
        yield at
        if counts_hours and (second := second_instant(local, zone)):
            later.append(second)


def _first_reading(last: datetime, zone: ZoneInfo) -> datetime:
    """Give the least that a clock shows after `last`: clocks that are about to go back show times again."""
    return min(reading(last, zone), reading(last + _DAY, zone) - _DAY)


def _walk(expression: str, begin: datetime) -> CronSim:
    try:
        return CronSim(expression, begin)
    except CronSimError as error:
        fault = str(error)
        raise TimingError("cron", f"{expression[:60]!r} is no cron expression ({fault.lower()}): {_FORM}") from error
    # What cronsim doesn't foresee, such as a step over the last day of the month.
    except (AssertionError, TypeError, ValueError, IndexError) as error:
        raise TimingError("cron", f"{expression[:60]!r} is no cron expression: {_FORM}") from error
