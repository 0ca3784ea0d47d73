"""Bearer tokens of users, made and revoked on the account page."""

from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja.security import HttpBearer

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.accounts.services import token_user
from benchweb.api.problems import Problem


class BearerToken(HttpBearer):
    """Return the token's user as `request.auth`, or refuse with 401."""

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
        user = token_user(secret=token.strip())
        if user is None:
            _refuse_flood(request)
            raise Problem(
                401,
                "The bearer token is unknown or revoked: make a new one on your account page.",
                headers={"WWW-Authenticate": 'Bearer realm="benchweb", error="invalid_token"'},
            )
        return user


def caller(request: HttpRequest) -> User:
    """Return whose token a call came with."""
    user: User = request.auth  # type: ignore[attr-defined]
    return user


def _refuse_flood(request: HttpRequest) -> None:
    seconds = throttle.token_failed(client_address(request))
    if seconds:
        raise Problem(
            429,
            f"Too many calls with an unknown token came from your address: use a valid one, or wait {seconds} s.",
            headers={"Retry-After": str(seconds)},
        )
