"""Nobody reaches a view without what it needs; a view that says nothing is reached by nobody."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

from benchweb.accounts.login.proxy import is_of_proxy
from benchweb.accounts.permissions import access_of
from benchweb.accounts.roles.needs import Needs, needs_of
from benchweb.accounts.second_factors import lacks_factor
from benchweb.common.exchange import note_user

# Pages that lead to a second factor.
_SET_UP = {
    *("mfa_index", "mfa_activate_totp", "mfa_list_webauthn", "mfa_add_webauthn"),
    *("mfa_view_recovery_codes", "mfa_generate_recovery_codes"),
    *("account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn"),
}
_log = logging.getLogger(__name__)


class PermissionMiddleware(MiddlewareMixin):
    """Send strangers to log in, and refuse those whose role doesn't allow it."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> HttpResponse | None:
        """Let a request through to its view, or answer it."""
        stated = needs_of(view)
        if stated is None:
            _log.error("%s names no permission: nobody is let in", request.path)
            raise PermissionDenied
        if not isinstance(stated, Needs):
            return None
        note_user(request, request.user.pk)
        if not request.user.is_authenticated:
            return _to_log_in(request, stated)
        if not _may_come_without_factor(request) and _lacks_factor(request):
            return _to_factors(request, stated)
        stated.demand(access_of(request.user), request.method or "", named)
        return None


def _may_come_without_factor(request: HttpRequest) -> bool:
    """Tell whether a page is one by which a second factor is set up; by others nothing can be done before."""
    return request.resolver_match is not None and request.resolver_match.url_name in _SET_UP


def _lacks_factor(request: HttpRequest) -> bool:
    return isinstance(request.user, User) and lacks_factor(request.user, by_proxy=is_of_proxy(request))


def _to_factors(request: HttpRequest, stated: Needs) -> HttpResponse:
    if not stated.redirects:
        return HttpResponse("Set up a second factor first.", status=403, content_type="text/plain; charset=utf-8")
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": reverse("mfa_index")})
    return redirect("mfa_index")


def _to_log_in(request: HttpRequest, stated: Needs) -> HttpResponse:
    if stated.redirects:
        return redirect_to_login(request.get_full_path())
    return HttpResponse("Log in first.", status=403, content_type="text/plain; charset=utf-8")
