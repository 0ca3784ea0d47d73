"""The form of a share link."""

from datetime import datetime, timedelta

from django import forms
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from benchweb.sharing.services import default_days
from benchweb.site.values import is_allowed
from benchweb.web.shared.forms import PageForm

_NEVER = "never"
_DAYS_OFFERED = (1, 7, 30, 365)


def _choices() -> list[tuple[str, str]]:
    """Return the days that are offered, those of the setting among them."""
    days = sorted({*_DAYS_OFFERED, *filter(None, [default_days()])})
    named = [(str(each), ngettext("{days} day", "{days} days", each).format(days=each)) for each in days]
    return [*named, (_NEVER, gettext("never (until revoked)"))] if is_allowed("SHARE_ENDLESS") else named


def _chosen_first() -> str:
    return str(default_days() or _NEVER)


class ShareForm(PageForm):
    """For how long, and whether with names."""

    lasts = forms.ChoiceField(label=_("Expires after"), choices=_choices, initial=_chosen_first)
    anonymise = forms.BooleanField(
        label=_("Replace host names and addresses"),
        required=False,
        help_text=_(
            "With pseudonyms, used consistently in the report and its downloads. Free text, such as notes and error "
            "messages, is left out."
        ),
    )

    password = forms.CharField(
        label=_("Password"),
        required=False,
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("If set, the link alone opens nothing. Send it another way than the link."),
    )

    @property
    def expires_at(self) -> datetime | None:
        """Return the time that the choice stands for."""
        chosen = self.cleaned_data["lasts"]
        return None if chosen == _NEVER else timezone.now() + timedelta(days=int(chosen))
