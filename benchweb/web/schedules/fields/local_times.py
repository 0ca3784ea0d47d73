"""A field of a date and time in the schedule's zone."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

# With seconds: an interval counts from its start, and an edit must not move it.
LOCAL_TIME = "%Y-%m-%dT%H:%M:%S"


class LocalTimeField(forms.CharField):
    """A date and time without a zone: the schedule's own is added when it is known."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"})

    def to_python(self, value: Any) -> Any:
        if not value:
            return None
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            raise forms.ValidationError(_("Enter a date and a time, such as 2026-12-24T02:00.")) from None
        if moment.tzinfo is not None or not 1970 <= moment.year <= 2200:
            raise forms.ValidationError(
                _("Enter a date from 1970 to 2200 without a time zone: the schedule's zone is used.")
            )
        return moment
