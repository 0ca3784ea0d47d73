"""Roles of users, teams and service accounts in single environments: each adds to what they have everywhere."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Status

from benchweb.accounts.models import Grant, Team
from benchweb.accounts.roles.grants import role_set, role_take
from benchweb.accounts.roles.service_accounts import people, service_accounts
from benchweb.api.authentication import ADMIN
from benchweb.api.paging import Page, PageQuery, page
from benchweb.api.problems import Problem
from benchweb.api.resources.people.accounts import EnvironmentRole, RoleName
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Body, Identifier
from benchweb.hosts.models import Environment

router = Router(tags=["people"])
_USER = "/users/{user_id}/environment-roles"
_TEAM = "/teams/{team_id}/environment-roles"
_SERVICE = "/service-accounts/{account_id}/environment-roles"


class EnvironmentRoleBody(Body):
    """An admin is one everywhere, so that role is refused."""

    role: RoleName


@router.get(_USER, response=Page[EnvironmentRole], auth=ADMIN)
def user_environment_role_list(
    request: HttpRequest, user_id: Identifier, query: Query[PageQuery]
) -> Page[EnvironmentRole]:
    """List a user's own roles in environments; `environment_roles` of the user count those of teams too."""
    return _role_page(request, query, user=row_or_404(people(), user_id))


@router.put(f"{_USER}/{{environment_id}}", response=EnvironmentRole, auth=ADMIN)
def user_environment_role_set(
    request: HttpRequest, user_id: Identifier, environment_id: Identifier, body: EnvironmentRoleBody
) -> EnvironmentRole:
    """Set a user's role in an environment, in place of the one that they have there."""
    return _set(environment_id, body, user=row_or_404(people(), user_id))


@router.delete(f"{_USER}/{{environment_id}}", response={204: None}, auth=ADMIN)
def user_environment_role_take(request: HttpRequest, user_id: Identifier, environment_id: Identifier) -> Status[None]:
    """Take a user's role in an environment away. Where there is none this is no error."""
    return _role_taken(environment_id, user=row_or_404(people(), user_id))


@router.get(_TEAM, response=Page[EnvironmentRole], auth=ADMIN)
def team_environment_role_list(
    request: HttpRequest, team_id: Identifier, query: Query[PageQuery]
) -> Page[EnvironmentRole]:
    """List a team's roles in environments."""
    return _role_page(request, query, team=row_or_404(Team.objects.all(), team_id))


@router.put(f"{_TEAM}/{{environment_id}}", response=EnvironmentRole, auth=ADMIN)
def team_environment_role_set(
    request: HttpRequest, team_id: Identifier, environment_id: Identifier, body: EnvironmentRoleBody
) -> EnvironmentRole:
    """Set a team's role in an environment, in place of the one that it has there."""
    return _set(environment_id, body, team=row_or_404(Team.objects.all(), team_id))


@router.delete(f"{_TEAM}/{{environment_id}}", response={204: None}, auth=ADMIN)
def team_environment_role_take(request: HttpRequest, team_id: Identifier, environment_id: Identifier) -> Status[None]:
    """Take a team's role in an environment away. Where there is none this is no error."""
    return _role_taken(environment_id, team=row_or_404(Team.objects.all(), team_id))


@router.get(_SERVICE, response=Page[EnvironmentRole], auth=ADMIN)
def service_environment_role_list(
    request: HttpRequest, account_id: Identifier, query: Query[PageQuery]
) -> Page[EnvironmentRole]:
    """List a service account's own roles in environments."""
    return _role_page(request, query, user=row_or_404(service_accounts(), account_id))


@router.put(f"{_SERVICE}/{{environment_id}}", response=EnvironmentRole, auth=ADMIN)
def service_environment_role_set(
    request: HttpRequest, account_id: Identifier, environment_id: Identifier, body: EnvironmentRoleBody
) -> EnvironmentRole:
    """Set a service account's role in an environment, in place of the one that it has there."""
    return _set(environment_id, body, user=row_or_404(service_accounts(), account_id))


@router.delete(f"{_SERVICE}/{{environment_id}}", response={204: None}, auth=ADMIN)
def service_environment_role_take(
    request: HttpRequest, account_id: Identifier, environment_id: Identifier
) -> Status[None]:
    """Take a service account's role in an environment away. Where there is none this is no error."""
    return _role_taken(environment_id, user=row_or_404(service_accounts(), account_id))


def _role_page(
    request: HttpRequest, query: PageQuery, *, user: User | None = None, team: Team | None = None
) -> Page[EnvironmentRole]:
    return page(request, query, _held_roles(user, team), _item)


def _set(
    environment_id: int, body: EnvironmentRoleBody, *, user: User | None = None, team: Team | None = None
) -> EnvironmentRole:
    environment = row_or_404(Environment.objects.all(), environment_id)
    if environment.archived_at is not None:
        raise Problem(409, f"The environment {environment.name} is archived: restore it first.")
    return _item(role_set(role=body.role, user=user, team=team, environment_id=environment.pk))


def _role_taken(environment_id: int, *, user: User | None = None, team: Team | None = None) -> Status[None]:
    row_or_404(Environment.objects.all(), environment_id)
    for grant in _held_roles(user, team).filter(environment=environment_id):
        role_take(grant=grant)
    return Status(204, None)


def _held_roles(user: User | None, team: Team | None) -> "QuerySet[Grant, Grant]":
    # The stubs know no null in a look-up.
    whose: dict[str, Any] = {"user": user, "team": team}
    return Grant.objects.filter(**whose).exclude(environment=None)


def _item(grant: Grant) -> EnvironmentRole:
    return EnvironmentRole(environment=grant.environment_id or 0, role=grant.role)
