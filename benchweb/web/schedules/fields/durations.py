"""A field of a length of time as people write it: 30 min, 6 h, 1 day, 1 h 30 min, or ISO 8601."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchweb.schedules.errors import TimingError
from benchweb.schedules.timing.durations import duration_seconds

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_UNITS = {"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600}
_UNITS |= {"d": 86_400, "day": 86_400, "w": 604_800, "week": 604_800}
_PART = re.compile(r"(\d{1,9})\s*([a-z]+)", re.ASCII)
_LONGEST_TEXT = 60
_FORM = _("Enter a duration, such as 30 min, 6 h or 1 day.")


class DurationField(forms.CharField):
    """Clean to whole seconds, or None when empty."""

    def __init__(self, label: StrOrPromise, *, help_text: StrOrPromise = "", initial: Any = None) -> None:
        widget = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
        super().__init__(label=label, required=False, help_text=help_text, initial=initial, widget=widget)

    def prepare_value(self, value: Any) -> Any:
        """Show seconds, or ISO 8601 as it is stored, in words."""
        if isinstance(value, str) and value.upper().startswith("P"):
            try:
                return spelled(duration_seconds(value))
            except TimingError:
                return value
        return spelled(value) if isinstance(value, int) and value else value or ""

    def to_python(self, value: Any) -> Any:
        text = str(value or "").strip()
        return read_duration(text) if text else None


def read_duration(text: str) -> int:
    """Return the seconds that a text says; raise ValidationError."""
    if text[:1] in "pP":
        try:
            return duration_seconds(text)
        except TimingError as error:
            raise forms.ValidationError(error.message) from error
    parts = _PART.findall(text.lower())
    rest = _PART.sub("", text.lower()).strip()
    factors = [_UNITS.get(unit.removesuffix("s") if unit != "s" else unit) for _, unit in parts]
    if len(text) > _LONGEST_TEXT or rest or not parts or None in factors:
        raise forms.ValidationError(_FORM)
    return sum(int(count) * (factor or 0) for (count, _), factor in zip(parts, factors, strict=True))


def spelled(seconds: int) -> str:
    """Write seconds so that the field reads them back: 1 h 30 min."""
    parts = []
    for factor, unit in ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, seconds = divmod(seconds, factor)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 s"
