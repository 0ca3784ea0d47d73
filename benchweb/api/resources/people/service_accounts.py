"""Service accounts, as which scripts call the API, and their tokens: each secret is answered once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Status
from pydantic import AfterValidator, Field

from benchweb.accounts.addresses import MOST_NETWORKS, networks_of
from benchweb.accounts.models import ApiToken
from benchweb.accounts.permissions import SERVICE_PREFIX
from benchweb.accounts.roles import service_accounts
from benchweb.accounts.roles.bounds import limits_within, making_no_admin
from benchweb.accounts.services import TokenLimits, token_create, token_revoke
from benchweb.api.authentication import ADMIN, caller_token
from benchweb.api.paging import Page, PageQuery, page, page_of
from benchweb.api.problems import Problem, invalid
from benchweb.api.resources.people.accounts import (
    AccountChangeBody,
    AccountItem,
    AccountQuery,
    RoleName,
    account_changed,
    account_items,
    accounts_found,
    with_teams,
)
from benchweb.api.rows import row_named, row_or_404, rows_named
from benchweb.api.schemas import Body, Identifier, Item, MomentText, Name
from benchweb.hosts.models import Environment

router = Router(tags=["people"])
Networks = Annotated[
    list[Annotated[str, Field(max_length=50, examples=["192.0.2.0/24"])]],
    Field(max_length=MOST_NETWORKS),
    AfterValidator(networks_of),
]


class ServiceBody(Body):
    """`name` without the word "service" before it; with an `environment` the role is held there alone."""

    name: Name
    role: RoleName
    environment: Identifier | None = None


class TokenBody(Body):
    """It never allows more than its account may. Without `expires_at` it is good for a year, with null for ever.

    What binds the token that makes it binds it too: it ends no later, and `networks` and `environments` that are left
    out are those of that token. What would be wider is refused (403).
    """

    name: Annotated[Name, Field(min_length=1, max_length=100)]
    scope: Literal["metrics", "read", "run", "write", "admin"]
    expires_at: MomentText | None = None
    networks: Networks = []
    environments: Annotated[list[Identifier], Field(max_length=200)] = []


class TokenQuery(PageQuery):
    is_revoked: bool | None = None


class TokenItem(Item):
    """A token without its secret; `prefix` is how it begins."""

    id: int
    name: str
    prefix: str
    scope: str
    networks: list[str]
    environments: list[int]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    last_used_address: str
    revoked_at: datetime | None


class TokenCreated(TokenItem):
    """`secret` is answered this once: only its digest is stored."""

    secret: str


@router.get("/service-accounts", response=Page[AccountItem], auth=ADMIN)
def service_list(request: HttpRequest, query: Query[AccountQuery]) -> Page[AccountItem]:
    """List service accounts by id, deactivated ones too. Filters `name`, `is_active`, `team`."""
    found = accounts_found(service_accounts.service_accounts(), query, SERVICE_PREFIX)
    return page_of(request, query, found, _items)


@router.post("/service-accounts", response={201: AccountItem}, auth=ADMIN)
def service_create(request: HttpRequest, body: ServiceBody) -> Status[AccountItem]:
    """Add a service account without a token."""
    if body.environment is not None:
        row_named(Environment.objects.filter(archived_at=None), body.environment, "environment")
    with making_no_admin(caller_token(request)):
        user = service_accounts.service_account_create(name=body.name, role=body.role, environment_id=body.environment)
    return Status(201, service_detail(request, user.pk))


@router.get("/service-accounts/{account_id}", response=AccountItem, auth=ADMIN)
def service_detail(request: HttpRequest, account_id: Identifier) -> AccountItem:
    """Show a service account."""
    return _items([row_or_404(with_teams(service_accounts.service_accounts()), account_id)])[0]


@router.patch("/service-accounts/{account_id}", response=AccountItem, auth=ADMIN)
def service_update(request: HttpRequest, account_id: Identifier, body: AccountChangeBody) -> AccountItem:
    """Change what the body names. `is_active` false refuses its tokens from the next call on."""
    account_changed(request, _account(account_id), body)
    return service_detail(request, account_id)


@router.get("/service-accounts/{account_id}/tokens", response=Page[TokenItem], auth=ADMIN)
def service_token_list(request: HttpRequest, account_id: Identifier, query: Query[TokenQuery]) -> Page[TokenItem]:
    """List a service account's tokens, the newest first, without their secrets. Filter `is_revoked`."""
    rows = ApiToken.objects.filter(user=_account(account_id))
    if query.is_revoked is not None:
        rows = rows.filter(revoked_at__isnull=not query.is_revoked)
    return page(request, query, rows, _token_item, newest_first=True)


@router.post("/service-accounts/{account_id}/tokens", response={201: TokenCreated}, auth=ADMIN)
def service_token_create(request: HttpRequest, account_id: Identifier, body: TokenBody) -> Status[TokenCreated]:
    """Create a token of a service account."""
    user = _account(account_id)
    if not user.is_active:
        raise Problem(409, "This service account is deactivated: activate it first.")
    rows_named(Environment.objects.filter(archived_at=None), body.environments, "environments")
    token, secret = token_create(user=user, name=body.name, limits=_limits(caller_token(request), body))
    return Status(201, TokenCreated(**_token_item(token).model_dump(), secret=secret))


@router.delete("/service-accounts/{account_id}/tokens/{token_id}", response={204: None}, auth=ADMIN)
def service_token_revoke(request: HttpRequest, account_id: Identifier, token_id: Identifier) -> Status[None]:
    """Revoke a token: calls with it are refused from now on. For a revoked one this is no error."""
    user = _account(account_id)
    token_revoke(user=user, token_id=row_or_404(ApiToken.objects.filter(user=user), token_id).pk)
    return Status(204, None)


def _account(account_id: int) -> User:
    return row_or_404(service_accounts.service_accounts(), account_id)


def _limits(caller: ApiToken, body: TokenBody) -> TokenLimits:
    if body.expires_at is not None and body.expires_at <= timezone.now():
        raise invalid("expires_at", "This time is over: the token would never be good.")
    wanted = TokenLimits(body.scope, body.expires_at, body.networks, body.environments)
    return limits_within(caller, wanted, chosen=body.model_fields_set)


def _items(users: Sequence[User]) -> list[AccountItem]:
    return [AccountItem(**fields) for fields in account_items(users)]


def _token_item(token: ApiToken) -> TokenItem:
    names = TokenItem.model_fields.keys() - {"environments"}
    return TokenItem(environments=token.environment_ids, **{name: getattr(token, name) for name in names})
