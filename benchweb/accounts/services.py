"""Create, check and revoke API tokens."""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from benchweb.accounts.demo_account import is_shut
from benchweb.accounts.models import ApiToken
from benchweb.common.names import stored_name

PREFIX = "bw_"
# A token's last use is written at most once a minute: reading the API must not become a write load.
LAST_USE_STEP = timedelta(minutes=1)


def token_create(*, user: User, name: str, secret: str = "") -> tuple[ApiToken, str]:
    """Make a token of 256 random bits; return the row and the secret, which is never shown again."""
    secret = secret or PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(user=user, name=stored_name(name), prefix=secret[:8], digest=token_digest(secret))
    return token, secret


def token_user(*, secret: str) -> User | None:
    """Return the active user of a token that isn't revoked, else None; the demo's only while the demo is on."""
    token = (
        ApiToken.objects.select_related("user")
        .filter(digest=token_digest(secret), revoked_at=None, user__is_active=True)
        .first()
    )
    if token is None or is_shut(token.user):
        return None
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > LAST_USE_STEP:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.user


def token_revoke(*, user: User, token_id: int) -> bool:
    """Revoke one of the user's own tokens; False when there is none such."""
    return bool(ApiToken.objects.filter(pk=token_id, user=user, revoked_at=None).update(revoked_at=timezone.now()))


def token_digest(secret: str) -> str:
    """Return what is stored of a token."""
    # A token has 256 random bits: a plain hash is enough, a slow one would only slow each call.
    return hashlib.sha256(secret.encode()).hexdigest()
