"""What is searched for beside names: a message size, a test and days, as in "alpha 4k three weeks ago"."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from benchweb.catalog import Kind, catalog
from benchweb.common.formatting import typed_number

_NUMBERS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNT = rf"(\d{{1,3}}|{'|'.join(_NUMBERS)}|[一二两三四五六七八九十])"
_CHINESE = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
# Who says weeks ago means no day of them.
_AROUND_WEEKS, _AROUND_MONTHS = timedelta(days=3), timedelta(days=15)
_DAYS_OF_MONTH = 30
_SIZE = re.compile(r"(?<!\S)(\d+(?:\.\d+)?) ?(k|ki|kib|kb|m|mi|mib|mb|b|bytes?)(?!\S)", re.IGNORECASE)

Days = tuple[date, date]


@dataclass(frozen=True)
class Meaning:
    """What was understood, and the words that are left: names, it is to be hoped."""

    words: tuple[str, ...]
    size_bytes: int | None = None
    kind: Kind | None = None
    days: Days | None = None

    @property
    def is_empty(self) -> bool:
        return self.size_bytes is None and self.kind is None and self.days is None


def meaning(words: Sequence[str], today: date) -> Meaning:
    """Read a size, a test and days out of words; `today` is that of the reader."""
    text = " ".join(words)
    days, text = _days(text, today)
    size, text = _size(text)
    kind, text = _kind(text)
    return Meaning(tuple(text.split()), size, kind, days)


def _days(text: str, today: date) -> tuple[Days | None, str]:
    for pattern, days_of in _DAYS:
        match = pattern.search(text)
        days = days_of(match, today) if match else None
        if match and days:
            return days, _without(text, match)
    return None, text


def _size(text: str) -> tuple[int | None, str]:
    match = _SIZE.search(text)
    if match is None:
        return None, text
    # Of messages k is 1,024, as the sizes of plans are: 4k is 4 KiB.
    sign = match[2][0].lower()
    number = typed_number(match[1] + {"k": "Ki", "m": "Mi", "b": ""}[sign])
    return (None, text) if number is None else (round(number), _without(text, match))


def _kind(text: str) -> tuple[Kind | None, str]:
    """Find a test by its name or label, the longest of those that are there."""
    found = [
        (match, kind)
        for kind in catalog().kinds.values()
        for called in (kind.name.replace("_", " "), kind.label)
        if (match := re.search(rf"(?<!\S){re.escape(called)}(?!\S)", text.replace("_", " "), re.IGNORECASE))
    ]
    if not found:
        return None, text
    match, kind = max(found, key=lambda each: len(each[0][0]))
    return kind, _without(text, match)


def _without(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}".strip()


def _number(text: str) -> int:
    text = text.lower()
    if text in _CHINESE:
        return _CHINESE[text]
    return int(text) if text.isdecimal() else max(1, _NUMBERS.index(text))


def _around(match: re.Match[str], today: date, step: timedelta, reach: timedelta) -> Days:
    day = today - _number(match[1]) * step
    return day - reach, min(day + reach, today)


def _named_day(match: re.Match[str], _today: date) -> Days | None:
    try:
        day = date.fromisoformat(match[1])
    except ValueError:
        return None
    return day, day


def _ago(unit: str, chinese: str, step: timedelta, reach: timedelta) -> tuple[re.Pattern[str], Callable[..., Days]]:
    pattern = rf"(?<!\S){_COUNT}(?: {unit}s? ago| ?个?{chinese}前)(?!\S)"
    return re.compile(pattern, re.IGNORECASE), lambda match, today: _around(match, today, step, reach)


def _last_week(_match: re.Match[str], today: date) -> Days:
    monday = today - timedelta(days=today.weekday() + 7)
    return monday, monday + timedelta(days=6)


def _last_month(_match: re.Match[str], today: date) -> Days:
    last = today.replace(day=1) - timedelta(days=1)
    return last.replace(day=1), last


def _words(*texts: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{'|'.join(texts)})(?!\S)", re.IGNORECASE)


_DAY = timedelta(days=1)
_DAYS: list[tuple[re.Pattern[str], Callable[[re.Match[str], date], Days | None]]] = [
    (re.compile(r"(?<!\S)(\d{4}-\d\d-\d\d)(?!\S)"), _named_day),
    _ago("day", "天", _DAY, timedelta()),
    _ago("week", "(?:星期|周)", 7 * _DAY, _AROUND_WEEKS),
    _ago("month", "月", _DAYS_OF_MONTH * _DAY, _AROUND_MONTHS),
    (_words("today", "今天"), lambda _match, today: (today, today)),
    (_words("yesterday", "昨天"), lambda _match, today: (today - _DAY, today - _DAY)),
    (_words("last night", "昨晚"), lambda _match, today: (today - _DAY, today)),
    (_words("last week", "上周"), _last_week),
    (_words("last month", "上个?月"), _last_month),
]
