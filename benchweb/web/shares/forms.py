"""The form of a share link."""

from datetime import datetime, timedelta

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchweb.web.shared.forms import PageForm

_NEVER = "never"
_LASTS = [
    ("1", _("1 day")),
    ("7", _("7 days")),
    ("30", _("30 days")),
    ("365", _("a year")),
    (_NEVER, _("never (until revoked)")),
]


class ShareForm(PageForm):
    """For how long, and whether with names."""

    lasts = forms.ChoiceField(label=_("Expires after"), choices=_LASTS, initial="30")
    anonymise = forms.BooleanField(
        label=_("Replace host names and addresses"),
        required=False,
        help_text=_("With pseudonyms, used consistently in the report and its downloads."),
    )

    @property
    def expires_at(self) -> datetime | None:
        """Return the time that the choice stands for."""
        chosen = self.cleaned_data["lasts"]
        return None if chosen == _NEVER else timezone.now() + timedelta(days=int(chosen))
