"""Log-in by an LDAP directory; loaded only where one is set, for its library is installed only there."""

from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django_auth_ldap.backend import LDAPBackend, ldap_error

from benchweb.accounts.login.directory import DirectoryUnavailable
from benchweb.accounts.login.groups import groups_apply
from benchweb.accounts.login.users import mail_address_apply, user_of_session, user_vouched_for


class DirectoryBackend(LDAPBackend):  # type: ignore[misc]
    """django-auth-ldap's, with accounts, mail addresses and roles as the other ways to log in have them."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **_: Any
    ) -> User | None:
        """Return the user whose password the directory takes; raises DirectoryUnavailable."""
        user = cast(User | None, super().authenticate(request, username=username, password=password))
        if user is None:
            return None
        found = cast(Any, user).ldap_user
        mail_address_apply(user=user, email=next(iter(found.attrs.get("mail", [])), ""))
        if settings.AUTH_LDAP_GROUP_SEARCH is not None:
            groups_apply(user=user, groups=found.group_names)
        return user

    def get_or_build_user(self, _username: str, ldap_user: Any) -> tuple[User, bool]:
        """Return the account by the name that the directory has: what was typed may be spelled otherwise."""
        names = ldap_user.attrs.get(settings.LDAP_NAME_ATTRIBUTE) or [""]
        user = user_vouched_for(name=names[0].lower())
        if user is None:
            raise ldap_user.AuthenticationFailed("no account that may log in")
        return user, False

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session while the account is active; their roles come with them."""
        return user_of_session(user_id)


def _unavailable(**_: Any) -> None:
    raise DirectoryUnavailable


ldap_error.connect(_unavailable, dispatch_uid="directory")
