"""Bearer tokens of users, made and revoked on the account page."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from ninja.security import HttpBearer

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.accounts.audit.actors import READ_METHODS, act_as, actor_of
from benchweb.accounts.audit.logins import refusal_add
from benchweb.accounts.models import ApiToken
from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import Environments, Needs
from benchweb.accounts.roles.refusals import refusal_noted
from benchweb.accounts.services import TokenRefused, token_in_use
from benchweb.api.problems import FieldError, Problem, problem_response
from benchweb.common.exchange import note_user
from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment, Host

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="benchweb", error="invalid_token"'}
_log = logging.getLogger(__name__)


class BearerToken(HttpBearer):
    """Return the token's user as `request.auth`, or refuse: with 401 a token, with 403 a user whose role is too low.

    An operation names one of READ, RUN, WRITE and ADMIN; one that names none is refused to everybody.
    """

    def __init__(self, stated: Needs | None = None) -> None:
        super().__init__()
        self.stated = stated

    def within(self, environments: Environments) -> "BearerToken":
        """Return the same for an operation whose path names what belongs to environments."""
        return BearerToken(replace(self._stated(), within=environments))

    def checked_by_view(self) -> "BearerToken":
        """Return the same for an operation that itself demands it for the environments that its body names."""
        return BearerToken(replace(self._stated(), checked_by_view=True))

    def __call__(self, request: HttpRequest) -> User:
        user = super().__call__(request)
        if isinstance(user, User):
            return user
        raise Problem(
            401,
            "The call needs the header `Authorization: Bearer TOKEN`: make a token on your account page.",
            headers={"WWW-Authenticate": 'Bearer realm="benchweb"'},
        )

    def authenticate(self, request: HttpRequest, token: str) -> User:
        try:
            token_row = token_in_use(secret=token.strip(), address=client_address(request))
        except TokenRefused as refused:
            _note_refusal(request, refused)
            raise Problem(401, str(refused), headers=_CHALLENGE) from None
        if token_row is None:
            _refuse_flood(request)
            raise Problem(
                401,
                "The bearer token is unknown or revoked: make a new one on your account page.",
                headers=_CHALLENGE,
            )
        if request.method not in READ_METHODS:
            act_as(actor_of(request, token_row.user, token_id=token_row.pk))
        request.token = token_row  # type: ignore[attr-defined]
        request.auth = token_row.user  # type: ignore[attr-defined]
        note_user(request, token_row.user.pk)
        if self.stated is None:
            _log.error("%s names no permission: nobody may call it", request.path)
            raise Problem(403, "This operation names no permission, so nobody may call it: report it as a fault.")
        arguments = request.resolver_match.kwargs if request.resolver_match else {}
        self.stated.demand(access_of(token_row.user), request.method or "", _ids(arguments))
        return token_row.user

    def _stated(self) -> Needs:
        assert self.stated is not None  # noqa: S101  for mypy: only the four below are made into others
        return self.stated


READ, RUN, WRITE, ADMIN = (BearerToken(Needs(permission, permission)) for permission in Permission)


def _ids(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a path names, an id that no row can have as one that no row has: the operation answers 404."""
    return {name: row_id(str(value)) or 0 if name.endswith("_id") else value for name, value in arguments.items()}


def refused(request: HttpRequest, error: Any) -> HttpResponse:
    """Answer 403 with the role that it takes, and note it in the audit log."""
    user = caller(request)
    refusal_noted(request, user, error, token_id=caller_token(request).pk)
    environment = Environment.objects.filter(pk=error.environment_id or 0).first()
    host = Host.objects.filter(pk=error.host_id or 0).first()
    where = f" in the environment {environment.name}" if environment else ""
    where = f" in an environment of the host {host.name}" if host else where
    own = access_of(user).everywhere
    has = f"this token has the role {own.value}" if own else "this token has no role"
    hint = "An admin gives roles to users; a token has what its scope leaves of them."
    why = error.message or f"This call needs the role {error.permission.role.value}{where}"
    return problem_response(request, Problem(403, f"{why.removesuffix('.')}; {has}. {hint}"))


def beyond_bounds(request: HttpRequest, error: Any) -> HttpResponse:
    """Answer 403 with the field and the bound, and note it in the audit log."""
    actor = actor_of(request, caller(request), token_id=caller_token(request).pk)
    refusal_add(actor, what=f"{request.method} {request.path_info}: {error}")
    return problem_response(request, Problem(403, error.message, [FieldError(error.field, error.message)]))


def caller(request: HttpRequest) -> User:
    """Return whose token a call came with."""
    user: User = request.auth  # type: ignore[attr-defined]
    return user


def caller_token(request: HttpRequest) -> ApiToken:
    """Return the token that a call came with."""
    token: ApiToken = request.token  # type: ignore[attr-defined]
    return token


def _note_refusal(request: HttpRequest, refused: TokenRefused) -> None:
    """Write it to the audit log, once in a while: a script may try again every second."""
    if throttle.is_first_in_window(f"token:{refused.token.pk}"):
        actor = actor_of(request, refused.token.user, token_id=refused.token.pk)
        refusal_add(actor, what=f"{request.method} {request.path_info}: {refused}")


def _refuse_flood(request: HttpRequest) -> None:
    seconds = throttle.token_failed(client_address(request))
    if seconds:
        raise Problem(
            429,
            f"Too many calls with an unknown token came from your address: use a valid one, or wait {seconds} s.",
            headers={"Retry-After": str(seconds)},
        )
