"""The forms of the account and of API tokens."""

from datetime import timedelta
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from benchweb.accounts.addresses import MOST_NETWORKS, networks_of
from benchweb.accounts.credentials import credentials_of
from benchweb.accounts.models import ApiToken, Preferences
from benchweb.accounts.services import USUAL_LIFE, TokenLimits
from benchweb.hosts.models import Environment
from benchweb.web.shared.forms import PageForm, known_zone, text_field
from benchweb.web.shared.zones import zone_names

_DAYS = (7, 30, 90, 365)
ALL_OF_ITS = _("All that the account may")


def _lifetimes() -> list[tuple[str, str]]:
    days = [(str(each), ngettext("{days} day", "{days} days", each).format(days=each)) for each in _DAYS]
    return [*days, ("0", gettext("never (until revoked)"))]


class TokenForm(PageForm):
    """The name of a token, and what it is limited to."""

    name = text_field(
        _("What is it for?"),
        required=True,
        max_length=100,
        help_text=_("A name that reminds you which script uses it."),
        placeholder=_("nightly export"),
    )
    scope = forms.ChoiceField(
        label=_("It may"),
        choices=ApiToken.Scope.choices,
        initial=ApiToken.Scope.READ,
        help_text=_("Never more than you may yourself."),
    )
    lasts = forms.ChoiceField(label=_("Expires after"), choices=_lifetimes, initial=str(USUAL_LIFE.days))
    environments = forms.ModelMultipleChoiceField(
        label=_("Changes only in"),
        required=False,
        queryset=Environment.objects.filter(archived_at=None),
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None ticked: wherever you may."),
    )
    networks = text_field(
        _("Valid from"),
        max_length=1_000,
        help_text=_("Addresses and networks, with commas between. If empty, from anywhere."),
        placeholder="192.0.2.0/24",
    )

    def clean_networks(self) -> list[str]:
        """Return the networks as PostgreSQL and Python write them."""
        words = self.cleaned_data["networks"].replace(",", " ").split()
        if len(words) > MOST_NETWORKS:
            raise forms.ValidationError(_("At most {most} networks.").format(most=MOST_NETWORKS))
        try:
            return networks_of(words)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None

    @property
    def limits(self) -> TokenLimits:
        """Return what the token is limited to."""
        values = self.cleaned_data
        days = int(values["lasts"])
        return TokenLimits(
            scope=values["scope"],
            expires_at=timezone.now() + timedelta(days=days) if days else None,
            networks=values["networks"],
            environment_ids=[environment.pk for environment in values["environments"]],
        )


class ServiceTokenForm(TokenForm):
    """A token of a service account, made by an admin."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scope = cast(forms.ChoiceField, self.fields["scope"])
        scope.choices = [
            (value, ALL_OF_ITS if value == ApiToken.Scope.ADMIN else label) for value, label in ApiToken.Scope.choices
        ]
        self.fields["scope"].help_text = _("Never more than the account may.")
        self.fields["environments"].help_text = _("None ticked: wherever the account may.")


class PreferencesForm(PageForm):
    """The pages as a user wants them; what is empty follows the browser."""

    time_zone = text_field(
        _("Time zone"),
        help_text=_("Such as Asia/Shanghai. If empty, the browser's."),
        max_length=64,
        list="zones",
        placeholder=_("as the browser"),
    )
    language = forms.ChoiceField(
        label=_("Language"), required=False, choices=[("", _("As the browser")), *settings.LANGUAGES]
    )
    theme = forms.ChoiceField(
        label=_("Theme"), required=False, choices=[("", _("As the system")), *Preferences.Theme.choices]
    )

    @classmethod
    def of(cls, preferences: Preferences) -> "PreferencesForm":
        """Return the form as it is stored."""
        return cls(
            initial={
                "time_zone": preferences.time_zone,
                "language": preferences.language,
                "theme": preferences.theme,
            }
        )

    @staticmethod
    def suggestions() -> dict[str, list[str]]:
        """Return what its fields suggest."""
        return {"zones": zone_names()}

    def clean_time_zone(self) -> str:
        """Refuse a name that no zone has."""
        return known_zone(self.cleaned_data["time_zone"])


class PasswordForm(PasswordChangeForm):
    """Django's, with widgets as the style sheet knows them, and the choice to keep what the old one may have made."""

    keep_tokens = forms.BooleanField(
        label=_("Keep my API tokens"),
        required=False,
        help_text=_("Only if nobody else may know the old password. Otherwise scripts need new tokens."),
        widget=forms.CheckboxInput(attrs={"class": "form-check-input"}),
    )
    keep_passkeys = forms.BooleanField(
        label=_("Keep my passkeys"),
        required=False,
        help_text=_("Only if you know each of them."),
        widget=forms.CheckboxInput(attrs={"class": "form-check-input"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **({"label_suffix": ""} | kwargs))
        self.credentials = credentials_of(self.user)
        if not self.credentials.tokens:
            del self.fields["keep_tokens"]
        if not self.credentials.passkeys:
            del self.fields["keep_passkeys"]
        for field in self.fields.values():
            field.widget.attrs.setdefault("class", "form-control")


class OwnMailAddressForm(PageForm):
    """The address that links to a new password are mailed to; empty for none."""

    email = forms.EmailField(
        label=_("Mail address"),
        required=False,
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    old_password = forms.CharField(
        label=_("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user

    def clean_old_password(self) -> str:
        """Refuse a wrong password."""
        password: str = self.cleaned_data["old_password"]
        if not self._user.check_password(password):
            raise forms.ValidationError(_("This password is wrong."))
        return password
