"""Users whom a proxy in front of us has logged in: it names them in a header, which only named proxies may send."""

from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

from benchweb.accounts.addresses import is_within
from benchweb.accounts.login.groups import groups_apply
from benchweb.accounts.login.users import mail_address_apply, user_of_session, user_vouched_for
from benchweb.common.loopback import parsed_address
from benchweb.login_settings import words


def named_user(request: HttpRequest) -> str:
    """Return whom the proxy names; "" without such a proxy. What anybody else sends isn't looked at.

    It is the connection's own peer that counts: X-Forwarded-For would be believed from more than these.
    """
    peer = parsed_address(request.META.get("REMOTE_ADDR", ""))
    if not settings.LOGIN_PROXY_HEADER or not is_within(peer, settings.LOGIN_PROXIES):
        return ""
    return _header(request, settings.LOGIN_PROXY_HEADER)


def proxy_says_apply(request: HttpRequest, user: User) -> None:
    """Keep mail address and role as the proxy says them with this request; no query while they are."""
    mail_address_apply(user=user, email=_header(request, settings.LOGIN_PROXY_MAIL_HEADER))
    if settings.LOGIN_PROXY_GROUPS_HEADER:
        text, separator = _header(request, settings.LOGIN_PROXY_GROUPS_HEADER), settings.LOGIN_PROXY_GROUPS_SEPARATOR
        groups_apply(user=user, groups=words(text, separator))


class ProxyBackend(BaseBackend):
    """Log in whom a proxy names."""

    def authenticate(self, request: HttpRequest | None, proxy_user: str = "", **_: Any) -> User | None:
        """Return the account of that name, with the mail address and the role that the proxy says."""
        if request is None or not proxy_user:
            return None
        user = user_vouched_for(name=proxy_user)
        if user is not None:
            proxy_says_apply(request, user)
        return user

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session while the account is active and the header is set; their roles come along."""
        return user_of_session(user_id) if settings.LOGIN_PROXY_HEADER else None


def is_of_proxy(request: HttpRequest) -> bool:
    """Tell whether it was a proxy that opened the request's session."""
    backend = f"{ProxyBackend.__module__}.{ProxyBackend.__qualname__}"
    return request.session.get(BACKEND_SESSION_KEY) == backend


def _header(request: HttpRequest, name: str) -> str:
    """Return a header's text: in UTF-8 where its bytes are, which Django hands on as Latin-1."""
    text = request.headers.get(name, "").strip() if name else ""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text
