"""The forms of users and teams."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from benchweb.accounts.login.password_reset import can_mail
from benchweb.accounts.models import Role, Team
from benchweb.accounts.roles.grants import user_name_fault
from benchweb.hosts.models import Environment
from benchweb.site.values import site_setting
from benchweb.web.shared.forms import PageForm, text_field

_DAYS = (1, 7, 30)


class RoleForm(PageForm):
    """A role, and where."""

    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)
    environment = forms.ModelChoiceField(
        Environment.objects.none(), label=_("Where"), required=False, empty_label=_("everywhere")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["environment"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101  for mypy: declared above
        field.queryset = Environment.objects.filter(archived_at=None)


class ServiceForm(RoleForm):
    """A service account: its name and its role."""

    name = text_field(_("Name"), required=True, max_length=142, placeholder=_("nightly-export"))

    field_order = ("name", "role", "environment")


class TeamForm(PageForm):
    """A team's name."""

    name = text_field(_("Name"), required=True, max_length=100, placeholder=_("network lab"))

    @classmethod
    def of(cls, team: Team) -> "TeamForm":
        """Return the form with a team's name."""
        return cls(initial={"name": team.name})


class TeamChoice(PageForm):
    """A team that a user joins."""

    team = forms.ModelChoiceField(Team.objects.all(), label=_("Team"), empty_label=None)


class MemberForm(PageForm):
    """A user who joins a team, by name: there may be too many for a list."""

    name = text_field(_("User"), required=True, max_length=150, list="users")

    def clean_name(self) -> User:
        """Return the user; refuse a name that no active account has."""
        name = self.cleaned_data["name"].strip()
        user = User.objects.filter(username=name, is_active=True).first() if name.isprintable() else None
        if user is None:
            raise forms.ValidationError(_("No active user has this name."))
        return user


def _lifetimes() -> list[tuple[str, str]]:
    return [(str(each), ngettext("{days} day", "{days} days", each).format(days=each)) for each in _DAYS]


class InvitationForm(PageForm):
    """Who is invited, and what they get."""

    email = forms.EmailField(
        label=_("Mail address"),
        required=False,
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=lambda: site_setting("DEFAULT_ROLE"))
    teams = forms.ModelMultipleChoiceField(
        label=_("Teams"),
        required=False,
        queryset=Team.objects.all(),
        widget=forms.CheckboxSelectMultiple,
    )
    lasts = forms.ChoiceField(label=_("The link expires after"), choices=_lifetimes, initial="7")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        mailed = gettext("The link is mailed there. If empty, the next page shows it.")
        self.fields["email"].help_text = (
            mailed if can_mail() else gettext("This site sends no mail: the next page shows the link.")
        )
        if not Team.objects.exists():
            del self.fields["teams"]

    @property
    def values(self) -> dict[str, Any]:
        """Return what an account or an invitation is made of."""
        values = self.cleaned_data
        ids = [team.pk for team in values.get("teams", ())]
        return {"email": values["email"], "role": values["role"], "team_ids": ids}

    @property
    def lifetime(self) -> timedelta:
        """Return how long the link is good."""
        return timedelta(days=int(self.cleaned_data["lasts"]))


class UserForm(InvitationForm):
    """A user whom an admin adds; the link sets their password."""

    name = text_field(_("User name"), required=True, max_length=150)
    field_order = ["name"]

    def clean_name(self) -> str:
        """Refuse a name that can't be had."""
        name: str = self.cleaned_data["name"].strip()
        if fault := user_name_fault(name):
            raise forms.ValidationError(fault)
        return name
