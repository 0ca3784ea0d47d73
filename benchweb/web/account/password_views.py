"""Change what takes the user's password again: the password, the mail address."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.generic import FormView

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.accounts.credentials import credentials_end, credentials_of
from benchweb.accounts.hashing import HashingBusyError
from benchweb.web.account.forms import OwnMailAddressForm, PasswordForm
from benchweb.web.login.session_views import busy, too_many


class _TakesPassword(FormView):  # type: ignore[type-arg]
    """A form with the field `old_password`; wrong ones count as failed log-ins."""

    success_url = reverse_lazy("web:account")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check the old password, unless too many were wrong: then it isn't even looked at."""
        self.attempt = throttle.begin_login(request.user.get_username(), client_address(request))
        if seconds := self.attempt.retry_after_seconds:
            return self._refused(too_many(seconds))
        try:
            return super().post(request, *args, **kwargs)
        except HashingBusyError:
            throttle.login_unchecked(self.attempt)
            return self._refused(busy())

    def form_valid(self, form: Any) -> HttpResponse:
        """Change it."""
        throttle.login_succeeded(self.attempt)
        return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again; only a wrong old password counts as a failed log-in."""
        outcome = throttle.login_failed if "old_password" in form.errors else throttle.login_succeeded
        outcome(self.attempt)
        return super().form_invalid(form)

    def _refused(self, text: str) -> HttpResponse:
        messages.error(self.request, text)
        return redirect(self.request.path)


@method_decorator(never_cache, name="dispatch")
class PasswordChange(_TakesPassword, views.PasswordChangeView):
    """Django's change of the password; it ends whatever else opens the account, unless its user keeps it."""

    template_name = "account/password.html"
    form_class = PasswordForm

    def form_valid(self, form: Any) -> HttpResponse:
        """Change it, and end the others."""
        response = super().form_valid(form)
        credentials_end(
            user=cast(User, self.request.user),
            but_session=self.request.session.session_key,
            keeps_tokens=form.cleaned_data.get("keep_tokens", False),
            keeps_passkeys=form.cleaned_data.get("keep_passkeys", False),
        )
        messages.success(self.request, _("The password is changed. Your other sessions are ended."))
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Show what ends."""
        user, key = cast(User, self.request.user), self.request.session.session_key
        return super().get_context_data(**kwargs) | {"credentials": credentials_of(user, but_session=key)}


@method_decorator(never_cache, name="dispatch")
class MailAddressChange(_TakesPassword):
    """Another address for links to a new password: whoever can change it can take the account."""

    template_name = "account/mail_address.html"
    form_class = OwnMailAddressForm

    def get_form_kwargs(self) -> dict[str, Any]:
        """Return the form's arguments with its user."""
        user = cast(User, self.request.user)
        return super().get_form_kwargs() | {"user": user, "initial": {"email": user.email}}

    def form_valid(self, form: Any) -> HttpResponse:
        """Store it."""
        user = cast(User, self.request.user)
        user.email = form.cleaned_data["email"]
        user.save(update_fields=["email"])
        messages.success(self.request, _("The mail address is changed."))
        return super().form_valid(form)
