"""Times in words as people type them, as cron: "every night at 02:00", "Mondays at 6:30 pm", 每天 02:00."""

import re

from benchweb.schedules.timing.cron_fields import WEEKDAY

_CLOCK = r"(?P<hour>\d{1,2})(?P<minute>[:.]\d{2})? ?(?P<half>[ap]\.?m\.?)?(?: o'?clock)?"
_TIME = rf"(?:at )?(?:{_CLOCK}|(?P<word>midnight|noon))"
# The time comes last or first.
_DAYS_FIRST = re.compile(rf"(?P<days>[a-z].*?),? (?P<time>{_TIME})")
_TIME_FIRST = re.compile(rf"(?P<time>{_TIME}),? (?P<days>[a-z].*)")
_INTERVAL = re.compile(r"(?:every|each) (?:(?P<count>\d{1,2}) )?(?P<unit>min(?:ute)?|h(?:ou)?r)s?")
_EACH = re.compile(r"(?:on |every |each |the )+")
_EVERY_DAY = {"day", "daily", "everyday", "night", "nightly", "morning", "evening", "afternoon"}
_GROUPS = {"weekday": "MON-FRI", "workday": "MON-FRI", "working day": "MON-FRI", "weekend": "SAT,SUN"}
_SPAN = re.compile(r"([a-z]+) ?(?:-|to|through|until|till) ?([a-z]+)")
_OF_MONTH = re.compile(r"(?:monthly|every month|each month)(?: on)?|of (?:every|each|the|a) month|of the month")
_DAY_OF_MONTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?")
_NTH = {"first": "#1", "second": "#2", "third": "#3", "fourth": "#4", "fifth": "#5", "last": "L"}
_CHINESE = re.compile(
    r"每(?P<days>天|日|晚|夜|个?工作日|个?(?:周|星期|礼拜)[一二三四五六日天末]|个?月(?P<day>\d{1,2})[日号]) ?的?"
    r"(?P<half>凌晨|早上|上午|中午|下午|傍晚|晚上)? ?(?P<hour>\d{1,2})(?::|点|时)(?:(?P<minute>\d{2})分?)?"
)
_CHINESE_DAYS = dict(zip("日一二三四五六", WEEKDAY.short, strict=True)) | {"天": "SUN", "末": "SAT,SUN"}
_HOURS, _MINUTES, _NOON, _DAYS = 24, 60, 12, 31


_BEGINNING = re.compile(r"(?:every|each|daily|nightly|on|at|weekdays?|weekends?) |每", re.IGNORECASE)


def is_phrase(text: str) -> bool:
    """Return whether a text is meant as words, understood or not."""
    return _BEGINNING.match(text) is not None


def cron_of_phrase(text: str) -> str:
    """Return the cron expression that words mean; nothing where they are none that are known here."""
    words = " ".join(text.lower().rstrip(".").split())
    if chinese := _CHINESE.fullmatch(words):
        return _clock_of_chinese(chinese)
    if interval := _INTERVAL.fullmatch(words):
        return _interval_expression(int(interval["count"] or 1), is_hours=interval["unit"].startswith("h"))
    timed = _DAYS_FIRST.fullmatch(words) or _TIME_FIRST.fullmatch(words)
    if timed is None or not (clock := _clock(timed)) or not (days := _days(timed["days"])):
        return ""
    return f"{clock} {days}"


def _interval_expression(count: int, *, is_hours: bool) -> str:
    """Return what comes again evenly within an hour or a day; others are intervals, which cron has none of."""
    if not count or (_HOURS if is_hours else _MINUTES) % count:
        return ""
    step = "*" if count == 1 else f"*/{count}"
    return f"0 {step} * * *" if is_hours else f"{step} * * * *"


def _clock(timed: re.Match[str]) -> str:
    """Return minute and hour; nothing for a bare number, which may be anything, and for what no clock shows."""
    if timed["word"]:
        return "0 0" if timed["word"] == "midnight" else f"0 {_NOON}"
    hour, minute, half = int(timed["hour"]), int((timed["minute"] or ":0")[1:]), (timed["half"] or "")[:1]
    if not (timed["minute"] or half or timed["time"].startswith("at ")):
        return ""
    if half and not 1 <= hour <= _NOON:
        return ""
    if half:
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    return f"{minute} {hour}" if hour < _HOURS and minute < _MINUTES else ""


def _days(words: str) -> str:
    """Return day of the month, month and day of the week."""
    if _OF_MONTH.search(words):
        return _day_of_month(_EACH.sub("", _OF_MONTH.sub("", words)).strip())
    plain = _EACH.sub("", words).strip()
    if plain in _EVERY_DAY:
        return "* * *"
    if group := _GROUPS.get(plain.removesuffix("s")):
        return f"* * {group}"
    if span := _SPAN.fullmatch(plain):
        ends = [_weekday(end) for end in span.groups()]
        return f"* * {'-'.join(ends)}" if all(ends) else ""
    names = [_weekday(name) for name in re.split(r",? and |, ?| & | ", plain)]
    return f"* * {','.join(names)}" if all(names) else ""


def _day_of_month(words: str) -> str:
    plain = words.removesuffix(" day").strip()
    if plain == "last":
        return "L * *"
    if plain in ("last weekday", "last working"):
        return "LW * *"
    which, _space, name = plain.partition(" ")
    if which in _NTH and (day := _weekday(name)):
        return f"* * {day}{_NTH[which]}"
    parts = re.split(r",? and |, ?", plain)
    days = [match[1] for part in parts if (match := _DAY_OF_MONTH.fullmatch(part))]
    is_whole = len(days) == len(parts) and all(1 <= int(day) <= _DAYS for day in days)
    return f"{','.join(days)} * *" if is_whole else ""


def _weekday(name: str) -> str:
    upper = name.upper()
    number = WEEKDAY.names.get(upper, WEEKDAY.names.get(upper.removesuffix("S")))
    return "" if number is None else WEEKDAY.short[number]


def _clock_of_chinese(match: re.Match[str]) -> str:
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if match["half"] in ("下午", "傍晚", "晚上") and hour < _NOON:
        hour += _NOON
    if hour >= _HOURS or minute >= _MINUTES or not 1 <= int(match["day"] or 1) <= _DAYS:
        return ""
    if match["day"]:
        days = f"{int(match['day'])} * *"
    elif "工作日" in match["days"]:
        days = "* * MON-FRI"
    elif len(match["days"]) == 1:
        days = "* * *"
    else:
        days = f"* * {_CHINESE_DAYS[match['days'][-1]]}"
    return f"{minute} {hour} {days}"
