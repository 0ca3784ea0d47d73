"""A cron expression in words, in the reader's language: At 02:00 on the 13th of every month or on Friday."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import pairwise

from cronsim import CronSim
from django.utils.dates import MONTHS, WEEKDAYS
from django.utils.translation import npgettext, pgettext

_ANY_TIME = datetime(2000, 1, 1)
_SIXTY, _HOURS, _WEEK = 60, 24, 7
# More times of day than these are said by their rule.
_MOST_TIMES = 6
# So many neighbours are said as a span.
_SPAN = 3
_TEENS = range(10, 21)
# Numbers are set off by spaces, also where a word of the language takes their place.
_BETWEEN_CHARACTERS = re.compile("(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")


def cron_words(expression: str) -> str:
    """Say a normalised expression; raises what cronsim raises for one that can't be read."""
    times = CronSim(expression, _ANY_TIME)
    fields = expression.split()
    clock = _times_of_day(times)
    when = clock or _times_by_rule(times)
    date = _date(times, any_day=fields[-3] == "*", any_weekday=fields[-1] == "*", any_month=fields[-2] == "*")
    if not date and clock:
        date = pgettext("cron", "every day")
    if fields[-2] != "*" and fields[-3] == "*":
        months = _months(times)
        days = date or (pgettext("cron", "every day") if clock else "")
        date = (
            pgettext("cron", "{days} in {months}").format(days=days, months=months)
            if days
            else pgettext("cron", "in {months}").format(months=months)
        )
    words = pgettext("cron", "{time} {date}").format(time=when, date=date) if date else when
    return _BETWEEN_CHARACTERS.sub("", words[:1].upper() + words[1:])


def _times_of_day(times: CronSim) -> str:
    """Say a few times of day, or nothing when they are many."""
    hours, minutes, seconds = sorted(times.hours), sorted(times.minutes), sorted(times.seconds)
    if len(hours) * len(minutes) * len(seconds) > _MOST_TIMES or len(hours) == _HOURS:
        return ""
    clocks = [_clock(hour, minute, second) for hour in hours for minute in minutes for second in seconds]
    return pgettext("cron", "at {times}").format(times=_listed_parts(clocks))


def _times_by_rule(times: CronSim) -> str:
    seconds = sorted(times.seconds)
    if seconds == [0]:
        return _minutes(times)
    is_always = (len(times.minutes), len(times.hours)) == (_SIXTY, _HOURS)
    if is_always and (step := _step(seconds, _SIXTY)):
        return _every_second(step)
    pattern = npgettext("cron", "{time}, at second {seconds}", "{time}, at seconds {seconds}", len(seconds))
    return pattern.format(time=_minutes(times), seconds=_numbers(seconds, _SIXTY))


def _every_second(step: int) -> str:
    if step == 1:
        return pgettext("cron", "every second")
    return pgettext("cron", "every {step} seconds").format(step=step)


def _minutes(times: CronSim) -> str:
    minutes, hours = sorted(times.minutes), _rotated_numbers(times.hours, _HOURS)
    if len(hours) == _HOURS:
        return _minutes_of_every_hour(minutes)
    hour_step = _step(sorted(hours), _HOURS)
    if len(minutes) == 1 and hour_step > 1:
        start = _clock(min(hours), minutes[0])
        return pgettext("cron", "every {step} hours from {start}").format(step=hour_step, start=start)
    step = _step(minutes, _SIXTY)
    if step and _is_run(hours, _HOURS):
        first, last = _clock(hours[0], minutes[0]), _clock(hours[-1], minutes[-1])
        interval_words = pgettext("cron", "every minute") if step == 1 else _every_minutes(step)
        return pgettext("cron", "{each} from {first} to {last}").format(each=interval_words, first=first, last=last)
    if len(minutes) == 1 and _is_run(hours, _HOURS):
        first, last = _clock(hours[0], minutes[0]), _clock(hours[-1], minutes[0])
        return pgettext("cron", "every hour from {first} to {last}").format(first=first, last=last)
    of_hours = _numbers(hours, _HOURS)
    if step:
        interval_words = pgettext("cron", "every minute") if step == 1 else _every_minutes(step)
        return pgettext("cron", "{each} in hours {hours}").format(each=interval_words, hours=of_hours)
    pattern = npgettext(
        "cron", "at minute {minutes} of hours {hours}", "at minutes {minutes} of hours {hours}", len(minutes)
    )
    return pattern.format(minutes=_numbers(minutes, _SIXTY), hours=of_hours)


def _minutes_of_every_hour(minutes: list[int]) -> str:
    step = _step(minutes, _SIXTY)
    if step == 1:
        return pgettext("cron", "every minute")
    if step:
        return _every_minutes(step)
    if minutes == [0]:
        return pgettext("cron", "at the start of every hour")
    pattern = npgettext("cron", "at minute {minutes} of every hour", "at minutes {minutes} of every hour", len(minutes))
    return pattern.format(minutes=_numbers(minutes, _SIXTY))


def _every_minutes(step: int) -> str:
    return pgettext("cron", "every {step} minutes").format(step=step)


def _date(times: CronSim, *, any_day: bool, any_weekday: bool, any_month: bool) -> str:
    """Say the days; months are in it where days of the month are."""
    days = "" if any_day else _days(times, any_month=any_month)
    weekdays = "" if any_weekday else pgettext("cron", "on {weekdays}").format(weekdays=_weekdays(times))
    if not (days and weekdays):
        return days or weekdays
    if times.day_and:
        return pgettext("cron", "{days}, and only {weekdays}").format(days=days, weekdays=weekdays)
    # By cron's own rule, which surprises many.
    return pgettext("cron", "{days} or {weekdays}").format(
        days=days, weekdays=_days_in_months(weekdays, times, any_month)
    )


def _days_in_months(days: str, times: CronSim, any_month: bool) -> str:
    return days if any_month else pgettext("cron", "{days} in {months}").format(days=days, months=_months(times))


def _days(times: CronSim, *, any_month: bool) -> str:
    numbers = sorted(day for day in times.days if isinstance(day, int) and day > 0)
    parts = []
    if numbers:
        parts.append(pgettext("cron: days of the month", "the {days}").format(days=_spans(numbers, _ordinal)))
    if CronSim.LAST in times.days:
        parts.append(pgettext("cron", "the last day"))
    if CronSim.LAST_WEEKDAY in times.days:
        parts.append(pgettext("cron", "the last weekday"))
    if any_month:
        return pgettext("cron", "on {days} of every month").format(days=_listed_parts(parts))
    return pgettext("cron", "on {days} of {months}").format(days=_listed_parts(parts), months=_months(times))


def _months(times: CronSim) -> str:
    return _spans(_rotated_numbers(times.months, 12, least=1), lambda month: str(MONTHS[month]))


def _weekdays(times: CronSim) -> str:
    """Say days of the week, Monday first; the second Friday of the month, the last one."""
    plain = {day % _WEEK or _WEEK for day in times.weekdays if isinstance(day, int)}
    parts = []
    if plain:
        spans = _spans(_rotated_numbers(plain, _WEEK, least=1), _weekday)
        parts.append(pgettext("cron: days of every week", "{weekdays}").format(weekdays=spans))
    for day, which in sorted(entry for entry in times.weekdays if not isinstance(entry, int)):
        name = _weekday(day)
        if which == CronSim.LAST:
            parts.append(pgettext("cron", "the last {weekday} of the month").format(weekday=name))
        else:
            pattern = pgettext("cron", "the {ordinal} {weekday} of the month")
            parts.append(pattern.format(ordinal=_ordinal(which), weekday=name))
    return _listed_parts(parts)


def _weekday(day: int) -> str:
    """Say a day of cron's week, in which Sunday is 0 or 7."""
    return str(WEEKDAYS[(day - 1) % _WEEK])


def _ordinal(number: int) -> str:
    if number in _TEENS or number % 10 not in (1, 2, 3):
        pattern = pgettext("4th, 11th, 12th", "{number}th")
    elif number % 10 == 1:
        pattern = pgettext("1st, 21st, 31st", "{number}st")
    elif number % 10 == 2:
        pattern = pgettext("2nd, 22nd", "{number}nd")
    else:
        pattern = pgettext("3rd, 23rd", "{number}rd")
    return pattern.format(number=number)


def _clock(hour: int, minute: int, second: int = 0) -> str:
    return f"{hour:02}:{minute:02}" + (f":{second:02}" if second else "")


def _step(numbers: Sequence[int], of: int) -> int:
    """Return the step of numbers that are evenly spread from 0 on over the whole of their field, else 0."""
    step = of // len(numbers) if len(numbers) > 1 else 0
    return step if step and list(numbers) == list(range(0, of, step)) else 0


def _rotated_numbers(numbers: Iterable[int], of: int, *, least: int = 0) -> list[int]:
    """Sort numbers of a round of so many, beginning behind a gap where they go over its end."""
    distinct = set(numbers)
    ordered = sorted(distinct)
    if len(distinct) == of or least not in distinct or least + of - 1 not in distinct:
        return ordered
    begin = next(number for number in reversed(ordered) if number - 1 not in distinct)
    return [*(number for number in ordered if number >= begin), *(number for number in ordered if number < begin)]


def _is_run(numbers: Sequence[int], of: int) -> bool:
    return all((later - earlier) % of == 1 for earlier, later in pairwise(numbers))


def _numbers(numbers: Sequence[int], of: int) -> str:
    return _spans(_rotated_numbers(numbers, of), str)


def _spans(numbers: Sequence[int], word_of: Callable[[int], str]) -> str:
    """List numbers, three and more neighbours as a span; where they go over an end, the order given tells."""
    runs: list[list[int]] = []
    for number in numbers:
        follows = bool(runs) and (number == runs[-1][-1] + 1 or number < runs[-1][-1])
        if follows:
            runs[-1].append(number)
        else:
            runs.append([number])
    words: list[str] = []
    for run in runs:
        if len(run) >= _SPAN:
            span = pgettext("cron: a span", "{first} to {last}")
            words.append(span.format(first=word_of(run[0]), last=word_of(run[-1])))
        else:
            words += map(word_of, run)
    return _listed_parts(words)


def _listed_parts(parts: Sequence[str]) -> str:
    """List parts: a, b and c."""
    *before, last = parts
    if not before:
        return last
    joined = pgettext("cron: between items of a list", ", ").join(before)
    return joined + pgettext("cron: between items of a list", " and ") + last
