"""Add users, grant roles to them and to teams, make teams, shut accounts: what admins do; one admin always stays."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from benchweb.accounts.credentials import credentials_end
from benchweb.accounts.demo_account import USERNAME
from benchweb.accounts.models import Grant, Membership, Role, Team
from benchweb.accounts.permissions import Permission, users_who_may
from benchweb.accounts.user_names import is_possible_name, users_of_name
from benchweb.common.names import name_fault, name_key, stored_name
from benchweb.common.refusals import RefusedWrite


class RoleError(RefusedWrite):
    """A role that can't be given or taken; `field` is at fault, `message` says why and what to do."""


def user_add(*, name: str, email: str = "", role: str = "", team_ids: Sequence[int] = ()) -> User:
    """Make an account without a password, with a role and in teams; raise RoleError for a name that can't be had."""
    if fault := user_name_fault(name):
        raise RoleError("name", fault)
    with transaction.atomic():
        try:
            with transaction.atomic():
                user = User.objects.create_user(name, email)
        except IntegrityError as error:
            raise RoleError("name", _("There is a user of this name already.")) from error
        if role:
            role_set(role=role, user=user)
        for team in Team.objects.filter(pk__in=team_ids):
            member_add(team=team, user=user)
    return user


def user_name_fault(name: str) -> str:
    """Say why a new account can't have a name; "" when it can."""
    if not is_possible_name(name):
        return _("At most 150 letters, digits and @ . + - _ make a name.")
    if name_key(name) == USERNAME or users_of_name(name).exists():
        return _("There is a user of this name already.")
    return ""


def role_set(
    *, role: str, user: User | None = None, team: Team | None = None, environment_id: int | None = None
) -> Grant:
    """Set the role of a user or a team, in one environment or everywhere, in place of the one that they have there."""
    if role == Role.ADMIN and environment_id is not None:
        raise RoleError("environment", _("An admin is one everywhere: choose another role, or no environment."))
    with _one_admin_staying():
        # The stubs know no null in a look-up by id.
        scope: dict[str, Any] = {"user": user, "team": team, "environment_id": environment_id}
        return Grant.objects.update_or_create(defaults={"role": Role(role)}, **scope)[0]


def role_take(*, grant: Grant) -> None:
    """Take a role away; a user without one of their own has the default one."""
    with _one_admin_staying():
        Grant.objects.filter(pk=grant.pk).delete()


def team_create(*, name: str) -> Team:
    """Make a team without members and roles."""
    return _saved_team(Team(), name)


def team_rename(*, team: Team, name: str) -> Team:
    """Rename a team."""
    return _saved_team(team, name)


def team_delete(*, team: Team) -> None:
    """Delete a team; its members lose the roles that it gave them."""
    with _one_admin_staying():
        # The instance stays whole, should this be refused.
        Team.objects.filter(pk=team.pk).delete()


def member_add(*, team: Team, user: User) -> None:
    """Put a user into a team; who is in it stays."""
    Membership.objects.get_or_create(team=team, user=user)


def member_remove(*, team: Team, user: User) -> bool:
    """Take a user out of a team; False for who isn't in it."""
    with _one_admin_staying():
        return bool(Membership.objects.filter(team=team, user=user).delete()[0])


def user_deactivate(*, user: User, by: User | None) -> None:
    """Shut an account: its sessions, tokens and passkeys end; its rows stay."""
    if user == by:
        raise RoleError("", _("You can't deactivate your own account: ask another admin."))
    with _one_admin_staying():
        User.objects.filter(pk=user.pk).update(is_active=False)
        credentials_end(user=user)


def user_activate(*, user: User) -> None:
    """Open an account again, with the roles, teams and password that it had."""
    User.objects.filter(pk=user.pk).update(is_active=True)


@contextmanager
def _one_admin_staying() -> Iterator[None]:
    with transaction.atomic():
        admins = [user.pk for user in users_who_may(Permission.ADMIN)]
        # Two who take the role from each other wait here: the second one finds what the first has left.
        list(User.objects.select_for_update().filter(pk__in=admins).order_by("pk"))
        yield
        if not users_who_may(Permission.ADMIN):
            raise RoleError("", _("This would leave no admin: make somebody else an admin first."))


def _saved_team(team: Team, name: str) -> Team:
    if fault := name_fault(name):
        raise RoleError("name", fault)
    team.name, team.name_key = stored_name(name), name_key(name)
    try:
        with transaction.atomic():
            team.save()
    except IntegrityError as error:
        raise RoleError("name", _("There is a team of this name already.")) from error
    return team
