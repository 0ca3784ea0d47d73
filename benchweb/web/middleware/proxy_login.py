"""Log in whom a trusted proxy names, and log out whom it names no more."""

from collections.abc import Callable

from django.conf import settings
from django.contrib import auth
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse

from benchweb.accounts.login.proxy import is_of_proxy, named_user, proxy_says_apply
from benchweb.accounts.preferences import preferences_apply, preferences_of
from benchweb.web.middleware.language import is_for_programs

# As whom the proxy named the user of a session.
_NAMED = "named_by_proxy"


class ProxyLoginMiddleware:
    """Like Django's RemoteUserMiddleware, for proxies of a list; a session of its making lasts as long as the header.

    Programs send tokens: for them no session is opened.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request as whom the proxy names."""
        if not settings.LOGIN_PROXY_HEADER or is_for_programs(request.path_info):
            return self.get_response(request)
        user = _let_in(request, named_user(request))
        response = self.get_response(request)
        if user is not None:
            preferences_apply(response, preferences_of(user), clears=False)
        return response


def _let_in(request: HttpRequest, name: str) -> User | None:
    """Make the session that of whom the proxy names; return them if they were logged in just now."""
    if isinstance(request.user, User) and name and _is_of(request, name):
        if is_of_proxy(request):
            proxy_says_apply(request, request.user)
        return None
    if not name and not is_of_proxy(request):
        return None
    if request.user.is_authenticated:
        auth.logout(request)
    user = auth.authenticate(request, proxy_user=name) if name else None
    if not isinstance(user, User):
        # For the log-in page, which says so.
        request.not_let_in = name  # type: ignore[attr-defined]
        return None
    auth.login(request, user)
    request.session[_NAMED] = name
    return user


def _is_of(request: HttpRequest, name: str) -> bool:
    """Tell whether the session is that of whom the proxy names: it may spell the account's name otherwise."""
    return name in (request.session.get(_NAMED), request.user.get_username())
