"""Whom an OpenID provider says somebody is, and what account that is."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest
from django.utils.translation import gettext as _

from benchweb.accounts.login.groups import groups_apply
from benchweb.accounts.login.users import mail_address_apply, user_made
from benchweb.accounts.user_names import has_other_letters, users_of_name
from benchweb.web.login.adapters import refusal

_log = logging.getLogger(__name__)


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Accounts, mail addresses and roles as the other ways to log in have them."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Refuse: accounts are made by `pre_social_login`."""
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Find or make the account of whom the provider has logged in, or refuse them."""
        claims = _claims(sociallogin)
        if not sociallogin.is_existing:
            sociallogin.connect(request, _account(request, sociallogin, claims))
        user = sociallogin.user
        mail_address_apply(user=user, email=str(claims.get("email", "")))
        groups_apply(user=user, groups=_groups(claims))

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Lead back to the log-in page: the provider refused, or its answer is no answer to what we asked."""
        _log.warning("log-in by the OpenID provider failed: %s %s", error, exception or "")
        raise refusal(request, _("The log-in by {name} failed. Try again.").format(name=settings.OIDC_NAME))


def _account(request: HttpRequest, sociallogin: SocialLogin, claims: Mapping[str, Any]) -> User:
    """Return the account for somebody who comes from the provider for the first time."""
    name = str(_claim(claims, settings.OIDC_NAME_CLAIM) or "")
    # Names may change hands at a provider; the identity that is linked with an account doesn't.
    known = users_of_name(name).first()
    is_linked = SocialAccount.objects.filter(user=known, provider=sociallogin.account.provider).exists()
    if known is not None and settings.TRUST_NAMES and not is_linked and not has_other_letters(name, known.username):
        return known
    user = user_made(name=name) if known is None else None
    if user is None:
        _log.warning("%s of the OpenID provider is not let in: see docs/how-to/log-in.md", ascii(name))
        user_login_failed.send(sender=__name__, credentials={"username": name}, request=request)
        text = _("There is no account for {name} that may be opened this way. Ask an admin.")
        raise refusal(request, text.format(name=name))
    return user


def _claims(sociallogin: SocialLogin) -> dict[str, Any]:
    """Return what the provider says: in the token, and where asked for them."""
    data: Mapping[str, Any] = sociallogin.account.extra_data
    return {**data.get("id_token", {}), **data.get("userinfo", {})}


def _groups(claims: Mapping[str, Any]) -> Iterable[str]:
    groups = _claim(claims, settings.OIDC_GROUPS_CLAIM)
    # Keycloak's groups are paths.
    return [str(each).removeprefix("/") for each in groups] if isinstance(groups, list) else []


def _claim(claims: Mapping[str, Any], path: str) -> Any:
    """Return a claim, or one inside of it: a claim's own name may have dots too."""
    if path in claims:
        return claims[path]
    value: Any = claims
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
