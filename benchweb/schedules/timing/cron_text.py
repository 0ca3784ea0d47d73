"""Cron as people type it, rewritten as what cronsim evaluates, or refused with the part at fault and what to write.

Texts come from crontab, Quartz and Spring, AWS, Jenkins, Kubernetes and chats; docs/reference/schedules.md lists them.
"""

import re
import unicodedata

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.schedules.errors import TimingError
from benchweb.schedules.timing.cron_fields import FIELDS, WEEKDAY, field_normalised
from benchweb.schedules.timing.localtime import zone_checked
from benchweb.schedules.timing.phrases import cron_of_phrase, is_phrase

FORM = gettext_noop("five fields, minute hour day-of-month month day-of-week, such as '0 2 * * *' for 02:00 each day")
_DISPLAYED = 60
_MACROS = {
    "@HOURLY": "0 * * * *",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@WEEKLY": "0 0 * * 0",
    "@MONTHLY": "0 0 1 * *",
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
}
# What chats and word processors make of the characters of an expression, beyond what NFKC undoes.
_TYPED = str.maketrans({"、": ",", "‐": "-", "‑": "-", "–": "-", "—": "-", "−": "-", "∗": "*", "✱": "*", "⁄": "/"})
_QUOTES = "'\"`“”‘’「」"
_LIST_BLANKS = re.compile(r"\s*,\s*|(?<=\S)\s+(?=[-/]\s)|(?<=\s[-/])\s+|(?<=\S[-/])\s+(?=\d|[A-Z]{3}\b)", re.IGNORECASE)
_ZONE = re.compile(r"(?:CRON_)?TZ\s*=\s*(\S+)\s*(.*)", re.IGNORECASE | re.DOTALL)
_ZONE_BEHIND = re.compile(r"(.*\S)\s+((?:CRON_)?TZ\s*=\s*\S+)", re.IGNORECASE | re.DOTALL)
_CALL = re.compile(r"(CRON|RATE)\s*\((.*)\)", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20|21)\d\d\b[\d,*/-]*")
_SIX, _SEVEN = 6, 7


def cron_normalised(text: str, timezone: str) -> str:
    """Return the expression that cronsim evaluates, in capitals; raise TimingError. Normalised, it stays as it is."""
    expression = _without_zone(_plain_text(text), timezone)
    if call := _CALL.fullmatch(expression):
        raise _fault(_expression_of_call(*call.groups()))
    if expression.startswith("@"):
        return _expression_of_macro(expression.upper())
    if cron := cron_of_phrase(expression):
        return cron
    if is_phrase(expression):
        raise _phrase_fault(expression)
    fields = _five_or_six(_LIST_BLANKS.sub(_joint, expression).upper().split())
    try:
        return _joined_fields(fields)
    except TimingError:
        if len(fields) == _SIX and _is_sound(fields[:-1]) and not _is_sound([*fields[:-1], "*"]):
            raise _one_too_many(fields) from None
        raise


def _joined_fields(fields: list[str]) -> str:
    of = FIELDS[-len(fields) :]
    return " ".join(field_normalised(field, value) for field, value in zip(of, fields, strict=True))


def _is_sound(fields: list[str]) -> bool:
    try:
        _joined_fields(fields)
    except TimingError:
        return False
    return True


def _one_too_many(fields: list[str]) -> TimingError:
    cron_part, first = fields[-1][:_DISPLAYED], " ".join(fields[:-1])[:_DISPLAYED]
    return _fault(
        _("{cron_part} is one field too many: six fields begin with seconds. Write {first} without it.").format(
            cron_part=f"{cron_part!r}", first=f"{first!r}"
        )
    )


def _plain_text(text: str) -> str:
    """Return the text in plain characters: full-width ones, typographic dashes, quotes and invisible ones undone."""
    plain = unicodedata.normalize("NFKC", text).translate(_TYPED)
    visible = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    return visible.strip().strip(_QUOTES).strip()


def _joint(match: re.Match[str]) -> str:
    return "," if "," in match.group() else ""


def _without_zone(expression: str, timezone: str) -> str:
    if behind := _ZONE_BEHIND.fullmatch(expression):
        expression = f"{behind[2]} {behind[1]}"
    match = _ZONE.fullmatch(expression)
    if match is None:
        return expression
    zone, rest = match.group(1).strip(_QUOTES), match.group(2)
    try:
        zone_checked(zone)
    except TimingError as error:
        raise _fault(error.message) from error
    if rest and zone.casefold() != timezone.casefold():
        zone, rest = zone[:_DISPLAYED], rest[:_DISPLAYED]
        raise _fault(
            _(
                "The expression names the time zone {zone}, the schedule's is {timezone}: write {rest} here, "
                "and {zone_2} as the time zone."
            ).format(zone=zone, timezone=timezone, rest=f"{rest!r}", zone_2=zone)
        )
    return rest


def _expression_of_call(name: str, inside: str) -> str:
    inside = inside[:_DISPLAYED]
    if name.upper() == "RATE":
        return _(
            "rate({inside}) is an interval: set the schedule to an interval, such as PT5M, in place of cron."
        ).format(inside=inside)
    return _("Leave out 'cron(' and ')', and the year at the end: write {form}.").format(form=_(FORM))


def _expression_of_macro(macro: str) -> str:
    if macro in _MACROS:
        return _MACROS[macro]
    text = macro[:_DISPLAYED].lower()
    if macro == "@REBOOT":
        raise _fault(
            _(
                "@reboot is no time: a schedule runs by the clock. Let the host's start-up script ask for a "
                "run, by POST /api/v1/schedules/ID/run, or press Run now."
            )
        )
    if macro.startswith("@EVERY"):
        raise _fault(
            _("{shown} is an interval: set the schedule to an interval, such as PT5M, in place of cron.").format(
                shown=f"{text!r}"
            )
        )
    raise _fault(
        _("{shown} is not known: write @hourly, @daily, @midnight, @weekly, @monthly or @yearly, or {form}.").format(
            shown=f"{text!r}", form=_(FORM)
        )
    )


def _five_or_six(fields: list[str]) -> list[str]:
    """Return the fields without a year that says nothing; refuse other numbers of fields, and other years."""
    count = len(fields)
    if count == _SEVEN and fields[-1] in ("*", "?"):
        fields = fields[:-1]
    elif count == _SEVEN and _YEAR.fullmatch(fields[-1]):
        raise _year_fault(fields[-1], _("seventh"))
    elif count == _SIX and _YEAR.fullmatch(fields[-1]):
        raise _year_fault(fields[-1], _("sixth"))
    elif count == _SIX and "?" in (fields[2], fields[4]):
        first = " ".join(fields[:5])
        raise _fault(
            _("Six fields begin with seconds here. Without the year at the end it is {first}.").format(
                first=f"{first!r}"
            )
        )
    elif count not in (5, _SIX):
        raise _count_fault(fields)
    if len(fields) == _SIX and "?" in fields[3:]:
        _check_named(fields[-1])
    return fields


def _check_named(weekday: str) -> None:
    number = re.search(r"(?:^|[,-])(\d)", weekday)
    if number:
        cron_part, cron_field = number.group(1), _(WEEKDAY.what)
        raise _fault(
            _(
                "{cron_part} in {cron_field}: where ? is written, as in Quartz, days count from SUN = 1, in "
                "cron from SUN = 0. Write the day's name, such as MON."
            ).format(cron_part=f"{cron_part!r}", cron_field=cron_field)
        )


def _year_fault(part: str, position: str) -> TimingError:
    cron_part = part[:_DISPLAYED]
    return _fault(
        _(
            "{cron_part} in the {place} field: a cron expression has no year here. Leave it out, and set when "
            "the schedule starts and ends."
        ).format(cron_part=f"{cron_part!r}", place=position)
    )


def _phrase_fault(expression: str) -> TimingError:
    quoted = expression[:_DISPLAYED]
    return _fault(
        _(
            "{shown} is not understood: write it such as 'every night at 02:00', 'Mondays and Thursdays at 6:30 pm' or "
            "'every 15 minutes', or as {form}. Other lengths are intervals."
        ).format(shown=f"{quoted!r}", form=_(FORM))
    )


def _count_fault(fields: list[str]) -> TimingError:
    count, text = len(fields), " ".join(fields)[:_DISPLAYED].lower()
    if count == 0:
        return _fault(_("The cron expression is empty: write {form}.").format(form=_(FORM)))
    if count == 1:
        return _fault(
            _("{shown} is no cron expression: write {form}, or @hourly, @daily, @weekly, @monthly, @yearly.").format(
                shown=f"{text!r}", form=_(FORM)
            )
        )
    if count >= _SEVEN:
        return _fault(
            _("The expression has {count} fields: write {form}, without a user or a command.").format(
                count=count, form=_(FORM)
            )
        )
    return _fault(
        _("{shown} has {count} fields: a cron expression has {form}.").format(
            shown=f"{text!r}", count=count, form=_(FORM)
        )
    )


def _fault(message: str) -> TimingError:
    return TimingError("cron", message)
