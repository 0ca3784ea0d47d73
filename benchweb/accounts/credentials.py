"""End what opens an account beside its password: sessions, API tokens and passkeys. They end with the password."""

from dataclasses import dataclass
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from benchweb.accounts import throttle
from benchweb.accounts.models import ApiToken, UserSession
from benchweb.accounts.services import tokens_revoke


@dataclass(frozen=True)
class Credentials:
    """The number of sessions beside one's own, and the tokens and passkeys that are good."""

    sessions: int
    tokens: list[ApiToken]
    passkeys: list[Authenticator]


def credentials_of(user: User, *, but_session: str | None = None) -> Credentials:
    """Return what opens a user's account, but for the session of a key."""
    return Credentials(
        UserSession.objects.filter(user=user).exclude(session_key=but_session).count(),
        list(ApiToken.objects.filter(user=user, revoked_at=None)),
        list(_passkeys(user)),
    )


@transaction.atomic
def credentials_end(
    *, user: User, but_session: str | None = None, keeps_tokens: bool = False, keeps_passkeys: bool = False
) -> None:
    """End them, whoever made them; the audit log has each token and passkey.

    An authenticator app stays: it opens nothing by itself, and without it a stolen mailbox would be enough. Wrong codes
    that came after the former password are forgotten.
    """
    throttle.factor_succeeded(user.get_username())
    UserSession.objects.filter(user=user).exclude(session_key=but_session).delete()
    if not keeps_tokens:
        tokens_revoke(user=user)
    if not keeps_passkeys:
        _passkeys(user).delete()
        if not is_mfa_enabled(user, ["totp"]):
            # Recovery codes that somebody has read would be good for the next factor.
            Authenticator.objects.filter(user=user).delete()


def _passkeys(user: User) -> QuerySet[Any]:
    passkeys: QuerySet[Any] = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    return passkeys
