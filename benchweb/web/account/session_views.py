"""Log in and out."""

from http import HTTPStatus
from typing import Any

from django.contrib.auth import views
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, ngettext

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.accounts.hashing import HashingBusyError

_BUSY_SECONDS = 2


class Login(views.LoginView):
    """The log-in page; someone already logged in goes on to where they wanted."""

    template_name = "account/login.html"
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the form; a partial update whose session has ended reloads its page, which then leads here whole."""
        if request.headers.get("HX-Request"):
            return HttpResponse(headers={"HX-Refresh": "true"})
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check the password, unless too many were wrong: then it isn't even looked at."""
        self.attempt = throttle.begin_login(request.POST.get("username", ""), client_address(request))
        if seconds := self.attempt.retry_after_seconds:
            return self._refused(HTTPStatus.TOO_MANY_REQUESTS, seconds, _too_many(seconds))
        try:
            return super().post(request, *args, **kwargs)
        except HashingBusyError:
            throttle.login_unchecked(self.attempt)
            busy = gettext("Too many log-ins at the moment. Try again in a few seconds.")
            return self._refused(HTTPStatus.SERVICE_UNAVAILABLE, _BUSY_SECONDS, busy)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Log in."""
        throttle.login_succeeded(self.attempt)
        return super().form_valid(form)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Show the form again; who tried it, and from where, is logged."""
        throttle.login_failed(self.attempt)
        return super().form_invalid(form)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Keep the shell's bar off a page for someone not yet inside."""
        return super().get_context_data(**kwargs) | {"bare": True}

    def _refused(self, status: HTTPStatus, seconds: int, text: str) -> HttpResponse:
        # An unbound form: a bound one would check the password.
        form = self.form_class(self.request)
        context = self.get_context_data(form=form, refusal=text)
        headers = {"Retry-After": str(seconds)}
        return self.response_class(
            self.request, self.get_template_names(), context, status=status, headers=headers, using=self.template_engine
        )


class Logout(views.LogoutView):
    """Log out by POST, so that no link or image can."""


def _too_many(seconds: int) -> str:
    minutes = -(-seconds // 60)
    return ngettext(
        "Too many failed log-ins. Try again in %(minutes)d minute.",
        "Too many failed log-ins. Try again in %(minutes)d minutes.",
        minutes,
    ) % {"minutes": minutes}
