"""Second factors and passkeys: django-allauth's views with our pages, and our limits of guessing."""

from datetime import timedelta
from http import HTTPStatus
from typing import Any, cast

import redis
from allauth.account.views import ReauthenticateView
from allauth.mfa.base.views import AuthenticateView, IndexView
from allauth.mfa.base.views import ReauthenticateView as ReauthenticateByCodeView
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.mfa.utils import is_mfa_enabled
from allauth.mfa.webauthn.views import AddWebAuthnView, LoginWebAuthnView, ReauthenticateWebAuthnView
from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.accounts.hashing import HashingBusyError
from benchweb.accounts.login.password_reset import factor_warning_request
from benchweb.accounts.login.proxy import is_of_proxy
from benchweb.accounts.second_factors import lacks_factor
from benchweb.accounts.sessions import logged_in_at
from benchweb.web.login.adapters import is_password_the_same, refused
from benchweb.web.login.session_views import busy, too_many

# Who has no password to prove themselves with again adds a first factor so soon after a log-in.
_FRESH = timedelta(minutes=15)


class Factors(IndexView):  # type: ignore[misc]
    """One's own factors, and whether the site requires one that isn't there."""

    template_name = "second_factors/second_factors.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Say so."""
        is_missing = lacks_factor(cast(User, self.request.user), by_proxy=is_of_proxy(self.request))
        return cast(dict[str, Any], super().get_context_data(**kwargs)) | {"is_missing": is_missing}


class _Guessable:
    """Counts what is tried: a code has six digits only, so few attempts are enough for guessing to be hopeless."""

    request: HttpRequest

    def who(self) -> User:
        """Return whose code it is."""
        return cast(User, self.request.user)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Look at what was entered, unless too many were wrong."""
        if seconds := throttle.begin_factor(self.who().get_username()):
            return self._later(too_many(seconds))
        try:
            return cast(HttpResponse, super().post(request, *args, **kwargs))  # type: ignore[misc]
        except (redis.RedisError, HashingBusyError):
            # Which codes were used is remembered by the broker: without it none is taken.
            return self._later(busy())

    def form_valid(self, form: Any) -> HttpResponse:
        """Forget those before."""
        throttle.factor_succeeded(self.who().get_username())
        return cast(HttpResponse, super().form_valid(form))  # type: ignore[misc]

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again; who tried it, and from where, is logged."""
        name = self.who().get_username()
        throttle.login_failed(throttle.Attempt(name, client_address(self.request)))
        user_login_failed.send(sender=__name__, credentials={"username": name}, request=self.request)
        return cast(HttpResponse, super().form_invalid(form))  # type: ignore[misc]

    def _later(self, text: str) -> HttpResponse:
        messages.error(self.request, text)
        return redirect(self.request.get_full_path())


class Code(_Guessable, AuthenticateView):  # type: ignore[misc]
    """The second step of a log-in: a code, a recovery code or a passkey."""

    template_name = "second_factors/code.html"

    def who(self) -> User:
        """Return who has entered their password."""
        return cast(User, self.stage.login.user)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Look at what was entered, unless the password that came before it is another by now."""
        if not is_password_the_same(request, self.who()):
            return refused(request, _("The password was changed in the meantime: log in anew."))
        return super().post(request, *args, **kwargs)

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again, and tell the user by mail that somebody has their password."""
        user = self.who()
        if throttle.factor_failed(user.get_username()):
            factor_warning_request(user=user, address=client_address(self.request))
        return super().form_invalid(form)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Say which factors there are; the shell's bar stays off."""
        user = self.who()
        has = {"has_app": is_mfa_enabled(user, ["totp"]), "has_passkey": is_mfa_enabled(user, ["webauthn"])}
        return cast(dict[str, Any], super().get_context_data(**kwargs)) | has | {"bare": True}


class PasskeyLogin(LoginWebAuthnView):  # type: ignore[misc]
    """Log in by a passkey alone, which has asked for a finger or a PIN; wrong ones count as wrong passwords."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer with a challenge, which is kept in a session."""
        if seconds := throttle.start_refused(client_address(request)):
            return HttpResponse(too_many(seconds), status=HTTPStatus.TOO_MANY_REQUESTS, content_type="text/plain")
        return cast(HttpResponse, super().get(request, *args, **kwargs))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Look at the passkey, unless too many were wrong."""
        self.attempt = throttle.begin_passkey(client_address(request))
        if seconds := self.attempt.retry_after_seconds:
            return refused(request, too_many(seconds))
        return cast(HttpResponse, super().post(request, *args, **kwargs))

    def form_valid(self, form: Any) -> HttpResponse:
        """Log in."""
        throttle.passkey_succeeded(self.attempt)
        return cast(HttpResponse, super().form_valid(form))

    def form_invalid(self, form: Any) -> HttpResponse:
        """Lead back to the log-in page; whose passkey it was is not known."""
        throttle.login_failed(self.attempt)
        user_login_failed.send(sender=__name__, credentials={}, request=self.request)
        return cast(HttpResponse, super().form_invalid(form))


class _Confirms:
    """A page that nobody needs who has nothing to confirm by."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Lead those back."""
        try:
            return cast(HttpResponseBase, super().dispatch(request, *args, **kwargs))  # type: ignore[misc]
        except PermissionDenied:
            return redirect("mfa_index")


class ConfirmByPassword(_Confirms, _Guessable, ReauthenticateView):  # type: ignore[misc]
    """Enter the password again before factors are changed."""

    template_name = "second_factors/confirm.html"


class ConfirmByCode(_Confirms, _Guessable, ReauthenticateByCodeView):  # type: ignore[misc]
    """Enter a code before factors are changed."""

    template_name = "second_factors/confirm.html"


class ConfirmByPasskey(_Confirms, _Guessable, ReauthenticateWebAuthnView):  # type: ignore[misc]
    """Use a passkey before factors are changed."""

    template_name = "second_factors/confirm_passkey.html"


class _TakesFreshLogin:
    """For who has no password here and no factor yet: what they may change hangs on their log-in, so it must be new."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Refuse an old log-in."""
        user = cast(User, request.user)
        if user.has_usable_password() or is_mfa_enabled(user) or _is_fresh(request):
            return cast(HttpResponseBase, super().dispatch(request, *args, **kwargs))  # type: ignore[misc]
        messages.error(request, _("Log out and in again first: this takes a log-in of the last 15 minutes."))
        return redirect("mfa_index")


class AppAdd(_TakesFreshLogin, _Guessable, ActivateTOTPView):  # type: ignore[misc]
    """Set up an authenticator app."""

    template_name = "second_factors/app_add.html"


class PasskeyAdd(_TakesFreshLogin, AddWebAuthnView):  # type: ignore[misc]
    """Add a passkey."""

    template_name = "second_factors/passkey_add.html"

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again, with a status by which a browser doesn't keep it."""
        response = cast(HttpResponse, super().form_invalid(form))
        response.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
        return response


def _is_fresh(request: HttpRequest) -> bool:
    at = logged_in_at(request)
    return at is not None and timezone.now() - at < _FRESH
