"""Create, check and revoke API tokens."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from benchweb.accounts import throttle
from benchweb.accounts.addresses import is_within
from benchweb.accounts.audit.actors import Actor
from benchweb.accounts.audit.logins import use_add
from benchweb.accounts.demo_account import is_shut
from benchweb.accounts.models import ApiToken
from benchweb.accounts.permissions import Permission, grants_of, hand_grants, limit_access
from benchweb.accounts.second_factors import lacks_factor
from benchweb.common.loopback import parsed_address
from benchweb.common.names import stored_name

PREFIX = "bw_"
# Of a token for which nothing else is chosen.
USUAL_LIFE = timedelta(days=365)
# A token's last use is written at most once a minute: reading the API must not become a write load.
LAST_USE_STEP = timedelta(minutes=1)
# What each scope allows at most; "metrics" nothing of the API.
_PERMISSIONS = {permission.value: permission for permission in Permission}


class TokenRefused(Exception):
    """A token that is known but not good now, or not from there; the text says which."""

    def __init__(self, token: ApiToken, message: str) -> None:
        super().__init__(message)
        self.token = token


@dataclass(frozen=True)
class TokenLimits:
    """The bounds of a token: its scope, its end, its networks, and the environments in which it may write."""

    scope: str = ApiToken.Scope.ADMIN
    expires_at: datetime | None = None
    networks: Sequence[str] = ()
    environment_ids: Sequence[int] = ()


def token_create(*, user: User, name: str, secret: str = "", limits: TokenLimits | None = None) -> tuple[ApiToken, str]:
    """Make a token of 256 random bits; return the row and the secret, which is never shown again."""
    secret, limits = secret or PREFIX + secrets.token_urlsafe(32), limits or TokenLimits()
    token = ApiToken.objects.create(
        user=user,
        name=stored_name(name),
        prefix=secret[:8],
        digest=token_digest(secret),
        scope=limits.scope,
        expires_at=limits.expires_at,
        networks=list(limits.networks),
        environment_ids=list(limits.environment_ids),
    )
    return token, secret


def token_user(*, secret: str, address: str = "") -> User | None:
    """Return the user of a token that is good, else None."""
    try:
        token = token_in_use(secret=secret, address=address)
    except TokenRefused:
        return None
    return token.user if token else None


def token_in_use(*, secret: str, address: str = "") -> ApiToken | None:
    """Return a token with its active user and their roles, as far as it allows them; None for an unknown one.

    The demo's is good while the demo is on. Raise TokenRefused for one that has expired or isn't meant for `address`,
    or whose user lacks a second factor that the site requires.
    """
    token = (
        ApiToken.objects.select_related("user")
        .filter(digest=token_digest(secret), revoked_at=None, user__is_active=True)
        .annotate(grants_held=grants_of("user_id"))
        .first()
    )
    if token is None or is_shut(token.user):
        return None
    now = timezone.now()
    _check_token(token, address, now)
    hand_grants(token, to=token.user)
    # A token tells no log-in: where a proxy logs people in, who has no password may never be asked for a factor here.
    by_proxy = bool(settings.LOGIN_PROXY_HEADER) and not token.user.has_usable_password()
    if lacks_factor(token.user, by_proxy=by_proxy):
        raise TokenRefused(token, "The bearer token's user has to set up a second factor first, on the account page.")
    limit_access(token.user, _PERMISSIONS.get(token.scope), token.environment_ids)
    _note_use(token, address, now)
    return token


def _note_use(token: ApiToken, address: str, now: datetime) -> None:
    is_due = token.last_used_at is None or now - token.last_used_at > LAST_USE_STEP
    if is_due:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now, last_used_address=address)
    # From elsewhere it is noted at once: that is what a stolen one looks like.
    if is_due or (address != token.last_used_address and throttle.is_first_in_window(f"use:{token.pk}:{address}")):
        use_add(Actor("token", token.user_id, token.user.get_username(), token.pk, address), name=token.name)


def token_holder(token: ApiToken) -> User | None:
    """Return the user of a token, as far as it allows them, for what goes on after the call; None once it has ended."""
    if token.revoked_at is not None or (token.expires_at is not None and token.expires_at <= timezone.now()):
        return None
    limit_access(token.user, _PERMISSIONS.get(token.scope), token.environment_ids)
    return token.user


def is_good_from(token: ApiToken, address: str) -> bool:
    """Tell whether a token is bound to no networks, or to one in which the address is."""
    return not token.networks or is_within(parsed_address(address), token.networks)


def _check_token(token: ApiToken, address: str, now: datetime) -> None:
    if token.expires_at is not None and token.expires_at <= now:
        when = f"{token.expires_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        raise TokenRefused(token, f"The bearer token expired at {when}: make a new one on your account page.")
    if not is_good_from(token, address):
        raise TokenRefused(token, f"The bearer token is not valid from {address}: it is bound to other networks.")


def tokens_revoke(*, user: User) -> int:
    """Revoke all tokens of a user; return how many."""
    return ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())


def token_revoke(*, user: User, token_id: int) -> bool:
    """Revoke one of the user's own tokens; False when there is none such."""
    return bool(ApiToken.objects.filter(pk=token_id, user=user, revoked_at=None).update(revoked_at=timezone.now()))


def token_digest(secret: str) -> str:
    """Return what is stored of a token."""
    # A token has 256 random bits: a plain hash is enough, a slow one would only slow each call.
    return hashlib.sha256(secret.encode()).hexdigest()
