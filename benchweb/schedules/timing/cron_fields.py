"""One field of a cron expression: names, ranges that go round, steps, and what is refused in it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.schedules.errors import TimingError

_DISPLAYED = 40
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_LONG_MONTHS = ("UARY", "RUARY", "CH", "IL", "", "E", "Y", "UST", "TEMBER", "OBER", "EMBER", "EMBER")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_LONG_WEEKDAYS = ("DAY", "DAY", "SDAY", "NESDAY", "RSDAY", "DAY", "URDAY")
_LAST_SUNDAY = 7
_MOST_WEEKS = 5
_HASHED = re.compile(r"H(\(.*\))?(/.*)?")
_ORDINAL = re.compile(r"(\w+)#(.*)")
_NEAREST = re.compile(r"\d+W|W\d+")


@dataclass(frozen=True)
class Field:
    """A field by what it is called, its least and largest number, and its names."""

    what: str
    least: int
    most: int
    # How to write its values.
    how: str
    short: Sequence[str] = ()
    names: Mapping[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.short) or self.most - self.least + 1


def _numbers_of_names(short: Sequence[str], endings: Sequence[str], least: int, **more: str) -> dict[str, int]:
    names = {name: number for number, name in enumerate(short, least)}
    names |= {f"{name}{ending}": names[name] for name, ending in zip(short, endings, strict=True)}
    return names | {alias: names[name] for alias, name in more.items()}


DAY = Field(
    gettext_noop("the day of the month"),
    1,
    31,
    gettext_noop("write 1 to 31, L for the last day, LW for the last weekday"),
)
WEEKDAY = Field(
    gettext_noop("the day of the week"),
    0,
    7,
    gettext_noop("write SUN to SAT, or 0 to 7 with Sunday as 0 and 7"),
    _WEEKDAYS,
    _numbers_of_names(_WEEKDAYS, _LONG_WEEKDAYS, 0, TUES="TUE", WEDS="WED", THUR="THU", THURS="THU"),
)
FIELDS = (
    Field(gettext_noop("the seconds"), 0, 59, gettext_noop("write 0 to 59")),
    Field(gettext_noop("the minute"), 0, 59, gettext_noop("write 0 to 59")),
    Field(gettext_noop("the hour"), 0, 23, gettext_noop("write 0 to 23")),
    DAY,
    Field(
        gettext_noop("the month"),
        1,
        12,
        gettext_noop("write JAN to DEC, or 1 to 12"),
        _MONTHS,
        _numbers_of_names(_MONTHS, _LONG_MONTHS, 1, SEPT="SEP"),
    ),
    WEEKDAY,
)


def field_normalised(of: Field, value: str) -> str:
    """Return the field as cronsim reads it; raise TimingError with the part at fault. It is in capitals."""
    if value == "?" and of in (DAY, WEEKDAY):
        return "*"
    return ",".join(_term(of, term) for term in value.split(","))


def _term(of: Field, term: str) -> str:
    _check_foreign(of, term)
    base, slash, step_text = term.partition("/")
    if of is DAY and base in ("L", "LW", "WL") and not slash:
        return {"WL": "LW"}.get(base, base)
    if of is WEEKDAY and not slash and ("#" in base or (base.endswith("L") and base != "L")):
        return _weekday_of_month(base)
    step = _step(of, term, step_text) if slash else 1
    if base == "*":
        return term if slash else "*"
    first, dash, last = base.partition("-")
    begin = _number(of, first, term)
    if not dash:
        # In cronsim a week has an eighth day.
        ends = f"-{_most_values(of)}" if of is WEEKDAY and begin < _most_values(of) else ""
        return f"{_written_number(of, first)}{ends}/{step}" if slash else _written_number(of, first)
    return _range(of, (first, last), (begin, _number(of, last, term)), step)


def _range(of: Field, texts: tuple[str, str], ends: tuple[int, int], step: int) -> str:
    begin, end = ends
    if begin == end:
        # One number, whatever the step: cronsim would go on to the end of the field.
        return _written_number(of, texts[0])
    if of is WEEKDAY and begin == _LAST_SUNDAY > end:
        begin = 0
    suffix = f"/{step}" if step > 1 else ""
    if begin <= end:
        bounds = texts if begin == ends[0] else (str(begin), texts[1])
        return "-".join(_written_number(of, text) for text in bounds) + suffix
    # Round the end of the day, the month, the year or the week.
    numbers = [*range(begin, _most_values(of) + 1), *range(of.least, end + 1)][::step]
    if of.short and not all(text.isdigit() for text in texts):
        return ",".join(of.short[number - of.least] for number in numbers)
    if step > 1 or of is WEEKDAY:
        return ",".join(map(str, numbers))
    return f"{begin}-{_most_values(of)},{of.least}-{end}"


def _written_number(of: Field, text: str) -> str:
    return of.short[of.names[text] - of.least] if text in of.names else str(int(text))


def _most_values(of: Field) -> int:
    # Sunday is counted once.
    return of.most - 1 if of is WEEKDAY else of.most


def _number(of: Field, text: str, term: str) -> int:
    if text in of.names:
        return of.names[text]
    if not (text.isascii() and text.isdigit()) or not of.least <= int(text[:9]) <= of.most:
        _refuse(of, term, of.how)
    return int(text)


def _step(of: Field, term: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text[:9]) == 0:
        _refuse(of, term, _("after / comes a whole number from 1, as in */5"))
    step = int(text[:9])
    if step > of.size:
        _refuse(
            of,
            term,
            _("a step is at most {size}, for it begins anew each time; use an interval for longer ones").format(
                size=of.size
            ),
        )
    return step


def _weekday_of_month(base: str) -> str:
    """Return the fifth Friday (FRI#5) or the last one (FRIL, FRI#L) as cronsim reads it."""
    match = _ORDINAL.fullmatch(base)
    day, which = match.groups() if match else (base[:-1], "L")
    number = _number(WEEKDAY, day, base)
    if which == "L":
        return f"{number}L"
    if not (which.isascii() and which.isdigit()) or not 1 <= int(which[:9]) <= _MOST_WEEKS:
        _refuse(WEEKDAY, base, _("after # comes 1 to 5, as in FRI#2 for the second Friday of the month"))
    return f"{_written_number(WEEKDAY, day)}#{int(which)}"


def _check_foreign(of: Field, term: str) -> None:
    """Refuse what other dialects have and this one has not, with what to write in its place."""
    if not term:
        raise TimingError(
            "cron", _("There is an empty part beside a comma in {what}: take the comma away.").format(what=_(of.what))
        )
    if _HASHED.fullmatch(term):
        _refuse(
            of, term, _("H is Jenkins' own: write a number, and spread starts by slip_seconds (May start later by)")
        )
    if "~" in term:
        _refuse(of, term, _("a random value is not possible: write a number, and spread starts by slip_seconds"))
    if term == "?":
        _refuse(of, term, _("? stands for any day only, alone in its field: write *"))
    if term.startswith("/"):
        _refuse(of, term, _("a step needs what it is taken of: write *, as in */5"))
    if of is WEEKDAY and term in ("L", "LW"):
        _refuse(
            of,
            term,
            _("say which day: FRIL is the last Friday of the month; the last weekday is LW as day of the month"),
        )
    if of is DAY and _NEAREST.fullmatch(term):
        _refuse(
            of,
            term,
            _("the nearest weekday can't be asked for: write the day, or LW for the last weekday of the month"),
        )
    if of is DAY and term.startswith("L-"):
        _refuse(of, term, _("days before the last can't be asked for: write L for the last day, or a day such as 28"))


def _refuse(of: Field, part: str, how: str) -> NoReturn:
    refusal = _("{cron_part} in {cron_field}: {how}.")
    raise TimingError("cron", refusal.format(cron_part=repr(part[:_DISPLAYED]), cron_field=_(of.what), how=_(how)))
