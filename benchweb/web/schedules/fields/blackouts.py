"""A field of blackouts: a line each, from and until, in times of day or with dates."""

import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

MOST_LINES = 100
_BETWEEN = re.compile(r"\s+(?:to|until)\s+|\s*[–—]\s*|\s+-\s+|(?<=\d\d:\d\d)\s*-\s*(?=\d\d:\d\d$)")
_BLANK_IN_TIME = re.compile(r"(?<=\d{4}-\d\d-\d\d) +(?=\d\d:)")


class BlackoutsField(forms.CharField):
    """Reads each line as {"from", "until"}; what the times mean is the schedule's own to check."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Blackouts"),
            required=False,
            help_text=_(
                "One per line: 12:00 to 13:00 for every day, or 2026-12-24 to 2026-12-27, or with date and time."
            ),
            widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "placeholder": "12:00 to 13:00"}),
        )

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        # In the one spelling that the field reads back, whatever the reader's language.
        return "\n".join(f"{blackout['from']} to {blackout['until']}" for blackout in value)

    def to_python(self, value: Any) -> Any:
        lines = [line.strip() for line in (value or "").splitlines() if line.strip()]
        if len(lines) > MOST_LINES:
            raise forms.ValidationError(
                _("{count} blackouts; the maximum is {most}.").format(count=len(lines), most=MOST_LINES)
            )
        return [_read(line) for line in lines]


def _read(line: str) -> dict[str, str]:
    parts = _BETWEEN.split(line)
    if len(parts) != 2 or not all(parts):
        raise forms.ValidationError(
            _("{line} is not a valid blackout: use the form 12:00 to 13:00.").format(line=f"{line[:60]!r}")
        )
    begin, until = (_BLANK_IN_TIME.sub("T", part.strip()) for part in parts)
    return {"from": begin, "until": until}
