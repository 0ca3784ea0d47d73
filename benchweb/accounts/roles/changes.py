"""Change an account in one step: all of it or nothing, as a call of the API asks for."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from benchweb.accounts.models import Grant, Role, Team
from benchweb.accounts.roles.grants import (
    member_add,
    member_remove,
    role_set,
    role_take,
    user_activate,
    user_deactivate,
)


@dataclass(frozen=True)
class AccountChange:
    """The changes of an account; what is None stays, and `takes_role` leaves it the default one everywhere."""

    role: Role | None = None
    takes_role: bool = False
    # All that it is in then.
    teams: Iterable[Team] | None = None
    is_active: bool | None = None


@transaction.atomic
def account_change(*, user: User, change: AccountChange, by: User) -> None:
    """Change it in the name of somebody; raise RoleError where no admin would be left."""
    if change.is_active:
        user_activate(user=user)
    if change.teams is not None:
        # Whoever is an admin by a team first gets what keeps them one.
        _join(user, change.teams)
    own_role_change(user=user, role=change.role, takes_role=change.takes_role)
    if change.teams is not None:
        _leave_others(user, change.teams)
    if change.is_active is False:
        user_deactivate(user=user, by=by)


def own_role_change(*, role: Role | None, takes_role: bool, user: User | None = None, team: Team | None = None) -> None:
    """Set or take the role that a user or a team has everywhere."""
    if role is not None:
        role_set(role=role, user=user, team=team)
    elif takes_role:
        for grant in Grant.objects.filter(user=user, team=team, environment=None):
            role_take(grant=grant)


def _join(user: User, teams: Iterable[Team]) -> None:
    for team in teams:
        member_add(team=team, user=user)


def _leave_others(user: User, teams: Iterable[Team]) -> None:
    for team in user.teams.exclude(pk__in=[team.pk for team in teams]):
        member_remove(team=team, user=user)
