"""What users and service accounts have in common: their bodies and answers, and how a call changes them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from pydantic import Field

from benchweb.accounts.models import Grant, Role, Team
from benchweb.accounts.permissions import access_of, with_grants
from benchweb.accounts.roles.bounds import making_no_admin
from benchweb.accounts.roles.changes import AccountChange, account_change
from benchweb.accounts.user_names import users_of_name
from benchweb.api.authentication import caller, caller_token
from benchweb.api.paging import PageQuery
from benchweb.api.rows import rows_named
from benchweb.api.schemas import Body, Identifier, Item
from benchweb.common.names import searched

RoleName = Literal["viewer", "operator", "editor", "admin"]
TeamIds = Annotated[list[Identifier], Field(max_length=200)]


class AccountChangeBody(Body):
    """A `role` of null leaves the default one everywhere; `teams` are all that the account is in then."""

    role: RoleName | None = None
    teams: TeamIds | None = None
    is_active: bool | None = None


class AccountQuery(PageQuery):
    name: Annotated[str, Field(max_length=200)] = ""
    is_active: bool | None = None
    team: Identifier | None = None


class EnvironmentRole(Item):
    environment: int
    role: str


class AccountItem(Item):
    """`role` is the account's own one everywhere, or null; `role_in_effect` counts the default one and its teams'.

    `environment_roles` are those that add to it in an environment.
    """

    id: int
    name: str
    is_active: bool
    role: str | None
    role_in_effect: str | None
    environment_roles: list[EnvironmentRole]
    teams: list[int]
    created_at: datetime


def accounts_found(rows: "QuerySet[User]", query: AccountQuery, prefix: str = "") -> "QuerySet[User]":
    """Return the accounts that a list's filters leave."""
    if query.name:
        rows = rows.filter(pk__in=users_of_name(prefix + searched(query.name)))
    if query.is_active is not None:
        rows = rows.filter(is_active=query.is_active)
    if query.team is not None:
        rows = rows.filter(teams=query.team)
    return with_teams(rows)


def with_teams(rows: "QuerySet[User]") -> "QuerySet[User]":
    """Add what an item tells beside the account's own row; two queries for a whole page."""
    return with_grants(rows).prefetch_related("teams")


def account_items(users: Sequence[User]) -> list[dict[str, Any]]:
    """Return the fields that items of all accounts have; one query for the roles that are theirs alone."""
    grants = Grant.objects.filter(user__in=users, environment=None)
    own = dict(grants.values_list("user_id", "role"))
    return [_fields(user, own.get(user.pk)) for user in users]


def account_changed(request: HttpRequest, user: User, body: AccountChangeBody) -> None:
    """Do what the body names, all of it or nothing."""
    change = AccountChange(
        role=Role(body.role) if body.role else None,
        takes_role="role" in body.model_fields_set and body.role is None,
        teams=None if body.teams is None else rows_named(Team.objects.all(), body.teams, "teams"),
        is_active=body.is_active,
    )
    with making_no_admin(caller_token(request)):
        account_change(user=user, change=change, by=caller(request))


def _fields(user: User, own: str | None) -> dict[str, Any]:
    access = access_of(user)
    elsewhere = sorted(access.by_environment.items())
    return {
        "id": user.pk,
        "name": user.get_username(),
        "is_active": user.is_active,
        "role": own,
        "role_in_effect": access.everywhere.value if access.everywhere else None,
        "environment_roles": [EnvironmentRole(environment=number, role=role.value) for number, role in elsewhere],
        "teams": sorted(team.pk for team in user.teams.all()),
        "created_at": user.date_joined,
    }
