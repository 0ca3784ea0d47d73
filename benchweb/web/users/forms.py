"""The forms of users and teams."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from benchweb.accounts.models import Role, Team
from benchweb.hosts.models import Environment
from benchweb.web.shared.forms import PageForm, text_field


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


class TeamForm(PageForm):
    """A team's name."""

    name = text_field(_("Name"), required=True, max_length=100, placeholder=_("network lab"))


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
