"""Log in and out."""

from http import HTTPStatus
from typing import Any, cast

from allauth.account.utils import perform_login
from django.conf import settings
from django.contrib.auth import views
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.accounts.hashing import HashingBusyError
from benchweb.accounts.login.directory import DirectoryUnavailable
from benchweb.accounts.login.first_admin import is_only_way_in
from benchweb.accounts.login.password_reset import can_mail
from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.accounts.user_names import stored_spelling

_BUSY_SECONDS = 2
_DIRECTORY_SECONDS = 60


class Login(views.LoginView):
    """The log-in page; someone already logged in goes on to where they wanted, and on a new site to the first admin."""

    template_name = "login/login.html"
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the form; a partial update whose session has ended reloads its page, which then leads here whole."""
        if request.headers.get("HX-Request"):
            return HttpResponse(headers={"HX-Refresh": "true"})
        if is_only_way_in():
            return redirect("web:first_admin")
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check the password, unless too many were wrong: then it isn't even looked at."""
        # All spellings that open an account are counted together.
        name = stored_spelling(request.POST.get("username", ""))
        self.attempt = throttle.begin_login(name, client_address(request))
        if seconds := self.attempt.retry_after_seconds:
            return self._refused(HTTPStatus.TOO_MANY_REQUESTS, seconds, too_many(seconds))
        try:
            return super().post(request, *args, **kwargs)
        except HashingBusyError:
            throttle.login_unchecked(self.attempt)
            return self._refused(HTTPStatus.SERVICE_UNAVAILABLE, _BUSY_SECONDS, busy())
        except DirectoryUnavailable:
            throttle.login_unchecked(self.attempt)
            away = gettext("The directory that knows the passwords can't be reached. Try again in a minute.")
            return self._refused(HTTPStatus.SERVICE_UNAVAILABLE, _DIRECTORY_SECONDS, away)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Log in, or ask for the second factor first."""
        throttle.login_succeeded(self.attempt)
        return cast(HttpResponse, perform_login(self.request, form.get_user(), redirect_url=self.get_success_url()))

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Show the form again; who tried it, and from where, is logged."""
        throttle.login_failed(self.attempt)
        return super().form_invalid(form)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Keep the shell's bar off a page for someone not yet inside."""
        return (
            super().get_context_data(**kwargs)
            | {
                "bare": True,
                "mails_passwords": can_mail(),
                "provider": settings.OIDC_NAME if settings.OIDC_URL else "",
                "refusal": _not_let_in(self.request),
            }
            | kwargs
        )

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


@never_cache
@require_GET
def session_state(request: HttpRequest) -> HttpResponse:
    """Tell a page's script who is logged in, with the token of its forms; 401 for nobody.

    Only pages of this site can read it: a form that was typed in is sent once the session is there.
    """
    if not request.user.is_authenticated:
        return JsonResponse({}, status=HTTPStatus.UNAUTHORIZED)
    return JsonResponse({"user": request.user.pk, "token": get_token(request)})


@needs(Permission.READ)
@require_GET
def logged_in(request: HttpRequest) -> HttpResponse:
    """Say that the log-in is done to who came from another tab."""
    return render(request, "login/logged_in.html")


def _not_let_in(request: HttpRequest) -> str:
    """Say it to whom a proxy has logged in, and benchweb not."""
    name = getattr(request, "not_let_in", "")
    text = gettext("You are {name} to the proxy in front of benchweb, but no account opens to this name. Ask an admin.")
    return text.format(name=name) if name else ""


def busy() -> str:
    """Say that passwords can't be hashed at the moment."""
    return gettext("Too many log-ins at the moment. Try again in a few seconds.")


def too_many(seconds: int) -> str:
    """Say when a password may be tried again."""
    minutes = -(-seconds // 60)
    return ngettext(
        "Too many failed log-ins. Try again in %(minutes)d minute.",
        "Too many failed log-ins. Try again in %(minutes)d minutes.",
        minutes,
    ) % {"minutes": minutes}
