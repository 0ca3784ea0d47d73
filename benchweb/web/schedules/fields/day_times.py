"""The time picker: a time of day and days of the week, which are a cron expression of the simplest kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import time
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_SIMPLE = re.compile(r"(\d{1,2}) (\d{1,2}) \* \* (\*|[A-Z]{3}(?:[-,][A-Z]{3})*)")


def time_of_day(label: StrOrPromise, help_text: StrOrPromise = "") -> forms.TimeField:
    """Return a field of a local time of day."""
    widget = forms.TimeInput(attrs={"type": "time"}, format="%H:%M")
    return forms.TimeField(label=label, help_text=help_text, required=False, widget=widget)


def days_field() -> forms.MultipleChoiceField:
    """Return a field of the days of the week as boxes; none is every day."""
    return forms.MultipleChoiceField(
        label=_("Only on"),
        required=False,
        choices=list(zip(_DAYS, WEEKDAYS.values(), strict=True)),
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
        error_messages={"invalid_choice": _("%(value)s is no day of the week.")},
    )


def cron_of_picked(data: Mapping[str, Any]) -> str:
    """Return what was picked as a cron expression; empty without a time."""
    at: time | None = data.get("at")
    if at is None:
        return ""
    days = [day for day in _DAYS if day in data.get("days", ())]
    return f"{at.minute} {at.hour} * * {_weekdays(days)}"


def picked_from(cron: str) -> dict[str, Any]:
    """Return the picker's values of an expression that it can show; empty for any other."""
    simple = _SIMPLE.fullmatch(cron)
    days = _named_days(simple[3]) if simple else None
    if simple is None or days is None:
        return {}
    picked = {"at": time(int(simple[2]), int(simple[1])), "days": days}
    # Another spelling would be another expression once it is saved.
    return {"repeat": "times", **picked} if cron_of_picked(picked) == cron else {}


def _weekdays(days: list[str]) -> str:
    if len(days) in (0, len(_DAYS)):
        return "*"
    first, last = _DAYS.index(days[0]), _DAYS.index(days[-1])
    is_span = len(days) > 2 and last - first == len(days) - 1
    return f"{days[0]}-{days[-1]}" if is_span else ",".join(days)


def _named_days(field: str) -> list[str] | None:
    """Return the days of a field of names; none for every day, None where one is no day's name."""
    if field == "*":
        return []
    days: set[str] = set()
    for part in field.split(","):
        first, _dash, last = part.partition("-")
        if not {first, last or first} <= set(_DAYS):
            return None
        begin, end = _DAYS.index(first), _DAYS.index(last or first)
        # Round the end of the week.
        days |= {_DAYS[number % 7] for number in range(begin, end + (7 if end < begin else 0) + 1)}
    return [day for day in _DAYS if day in days]
