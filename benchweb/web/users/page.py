"""What the pages of users and teams show of roles."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from benchweb.accounts.models import Grant, Role, Team
from benchweb.accounts.permissions import access_of, default_role
from benchweb.hosts.models import Environment

# Names that a field suggests.
_MOST_SUGGESTED = 500


@dataclass(frozen=True)
class UserRow:
    """A user in the list: the role that they have everywhere in the end, teams, and roles in environments in words."""

    user: User
    role: str
    teams: list[Team]
    elsewhere: list[str]


@dataclass(frozen=True)
class TeamRow:
    """A team in the list, with its roles in words."""

    team: Team
    members: int
    roles: list[str]


def user_rows(users: Sequence[User]) -> list[UserRow]:
    """Return the rows of users who were read with their grants and teams; one query for names of environments."""
    accesses = {user.pk: access_of(user) for user in users}
    ids = {number for access in accesses.values() for number in access.by_environment}
    names = dict(Environment.objects.filter(pk__in=ids).values_list("pk", "name")) if ids else {}
    return [
        UserRow(
            user,
            str(access.everywhere.label) if (access := accesses[user.pk]).everywhere else "",
            list(user.teams.all()),
            [
                _("{role} in {environment}").format(role=role.label, environment=names[number])
                for number, role in access.by_environment.items()
                if number in names
            ],
        )
        for user in users
    ]


def team_rows(teams: Iterable[Team]) -> list[TeamRow]:
    """Return the rows of teams that were read with their members and grants."""
    return [
        TeamRow(team, len(team.members.all()), [grant_words(grant) for grant in team.grants.all()]) for team in teams
    ]


def grant_words(grant: Grant) -> str:
    """Say a role and where."""
    label = Role(grant.role).label
    if grant.environment is None:
        return _("{role} everywhere").format(role=label)
    return _("{role} in {environment}").format(role=label, environment=grant.environment)


def default_words(user: User, grants: Iterable[Grant]) -> str:
    """Say the role that a user has for want of one of their own; empty for who has one everywhere."""
    if any(grant.environment_id is None for grant in grants):
        return ""
    words = _("created at the console") if user.is_superuser else _("default")
    return f"{default_role(user).label} ({words})"


def suggested_users() -> list[str]:
    """Return names that a field suggests."""
    active = User.objects.filter(is_active=True).order_by("username")
    return list(active.values_list("username", flat=True)[:_MOST_SUGGESTED])
