"""Users: people who log in. Their passwords are set by invitations, never by a call."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import AfterValidator, Field

from benchweb.accounts.models import Team
from benchweb.accounts.roles.bounds import making_no_admin
from benchweb.accounts.roles.grants import user_add
from benchweb.accounts.roles.service_accounts import people
from benchweb.api.authentication import ADMIN, caller_token
from benchweb.api.paging import Page, page_of
from benchweb.api.resources.people.accounts import (
    AccountChangeBody,
    AccountItem,
    AccountQuery,
    RoleName,
    TeamIds,
    account_changed,
    account_items,
    accounts_found,
    with_teams,
)
from benchweb.api.rows import row_or_404, rows_named
from benchweb.api.schemas import Body, Identifier, Name

router = Router(tags=["people"])


def _mail_address(text: str) -> str:
    if text:
        try:
            validate_email(text)
        except ValidationError:
            raise ValueError("Write a mail address such as ann@example.org.") from None
    return text


MailAddress = Annotated[str, Field(max_length=254), AfterValidator(_mail_address)]


class UserBody(Body):
    """Without a `role` the user has the default one of the dashboard."""

    name: Name
    email: MailAddress = ""
    role: RoleName | None = None
    teams: TeamIds = []


class UserItem(AccountItem):
    """A person; `has_password` tells whether one was set here, which who logs in elsewhere doesn't need."""

    email: str
    has_password: bool
    last_login_at: datetime | None


@router.get("/users", response=Page[UserItem], auth=ADMIN)
def user_list(request: HttpRequest, query: Query[AccountQuery]) -> Page[UserItem]:
    """List users by id, deactivated ones too. Filters `name`, `is_active`, `team`."""
    return page_of(request, query, accounts_found(people(), query), _items)


@router.post("/users", response={201: UserItem}, auth=ADMIN)
def user_create(request: HttpRequest, body: UserBody) -> Status[UserItem]:
    """Add a user, who sets a password by the link that `POST /invitations` makes for the id."""
    teams = rows_named(Team.objects.all(), body.teams, "teams")
    with making_no_admin(caller_token(request)):
        user = user_add(name=body.name, email=body.email, role=body.role or "", team_ids=[team.pk for team in teams])
    return Status(201, user_detail(request, user.pk))


@router.get("/users/{user_id}", response=UserItem, auth=ADMIN)
def user_detail(request: HttpRequest, user_id: Identifier) -> UserItem:
    """Show a user."""
    return _items([row_or_404(with_teams(people()), user_id)])[0]


@router.patch("/users/{user_id}", response=UserItem, auth=ADMIN)
def user_update(request: HttpRequest, user_id: Identifier, body: AccountChangeBody) -> UserItem:
    """Change what the body names. `is_active` false ends sessions and refuses tokens; one admin always stays (409)."""
    account_changed(request, row_or_404(people(), user_id), body)
    return user_detail(request, user_id)


def _items(users: Sequence[User]) -> list[UserItem]:
    return [
        UserItem(**fields, email=user.email, has_password=user.has_usable_password(), last_login_at=user.last_login)
        for user, fields in zip(users, account_items(users), strict=True)
    ]
