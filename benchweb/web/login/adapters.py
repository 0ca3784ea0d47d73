"""Answer django-allauth while somebody logs in by more than a password."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.utils import is_mfa_enabled
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import constant_time_compare
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from benchweb.accounts.login.users import may_log_in
from benchweb.accounts.preferences import preferences_apply, preferences_of

# What a log-in that has begun hangs on, until its second step.
_BEGUN = "login_begun_with"


def is_password_the_same(request: HttpRequest, user: User) -> bool:
    """Tell whether the first step of a log-in was done with the password that the account has now."""
    return constant_time_compare(request.session.get(_BEGUN, ""), user.get_session_auth_hash())


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Log-ins that end as ours do."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Refuse: accounts are made by us."""
        return False

    def is_safe_url(self, url: str) -> bool:
        """Tell whether somebody may be led there: to paths of this site only."""
        return bool(url) and url_has_allowed_host_and_scheme(url, allowed_hosts=None)

    def is_reauthentication_required(self, *, app: str, **_named: Any) -> bool:
        """Tell whether factors are changed by who confirms it only: not by who has nothing yet to confirm it by."""
        user = context.request.user
        return bool(user.has_usable_password() or is_mfa_enabled(user))

    def pre_login(self, request: HttpRequest, user: User, **_named: Any) -> HttpResponse | None:
        """Stop who may not log in, whichever way they came."""
        if not may_log_in(user):
            return self.respond_user_inactive(request, user)
        request.session[_BEGUN] = user.get_session_auth_hash()
        return None

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Lead back to the log-in page."""
        return refused(request, _("This account is deactivated. Ask an admin."))

    def post_login(self, request: HttpRequest, user: User, **named: Any) -> HttpResponse:
        """Lead to where they wanted, with their language and theme."""
        response: HttpResponse = super().post_login(request, user, **named)
        preferences_apply(response, preferences_of(user), clears=False)
        return response

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        *_rest: Any,
        message: str | Promise | None = None,
        **_named: Any,
    ) -> None:
        """Say what has no template; of what has one we say the own words, or nothing."""
        text = message if message is not None else _MESSAGES.get(message_template or "")
        if text:
            messages.add_message(request, level, str(text))


_MESSAGES: dict[str, str | Promise] = {
    "mfa/messages/totp_activated.txt": _lazy("The authenticator app is set up."),
    "mfa/messages/totp_deactivated.txt": _lazy("The authenticator app is removed."),
    "mfa/messages/webauthn_added.txt": _lazy("The passkey is added."),
    "mfa/messages/webauthn_removed.txt": _lazy("The passkey is removed."),
    "mfa/messages/recovery_codes_generated.txt": _lazy("There are new recovery codes: keep them."),
}


def refused(request: HttpRequest, text: str) -> HttpResponse:
    """Lead back to the log-in page, which says why."""
    messages.error(request, text)
    return redirect("web:login")


def refusal(request: HttpRequest, text: str) -> ImmediateHttpResponse:
    """Return what ends a log-in from within allauth's flows."""
    return ImmediateHttpResponse(refused(request, text))
