"""A forgotten password: ask for a link by mail, and set a new password by it."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth import views
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.accounts.credentials import credentials_end, credentials_of
from benchweb.accounts.hashing import HashingBusyError
from benchweb.accounts.login.password_reset import can_mail, reset_request
from benchweb.web.login.forms import MailAddressForm, ResetForm
from benchweb.web.login.session_views import busy, too_many

_BROKER_SECONDS = 60


@never_cache
@require_http_methods(["GET", "POST"])
def password_forgotten(request: HttpRequest) -> HttpResponse:
    """Ask for a mail address; the answer is the same whether an account has it or not."""
    if not can_mail():
        raise Http404(_("This site sends no mail. Ask its administrators for a new password."))
    form = MailAddressForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return render(request, "login/password_forgotten.html", {"form": form, "bare": True})
    if seconds := throttle.mail_refused(client_address(request)):
        return _refusal(request, form, HTTPStatus.TOO_MANY_REQUESTS, seconds, too_many(seconds))
    email = form.cleaned_data["email"]
    if not throttle.is_mailbox_full(email) and not reset_request(email=email, language=get_language() or "en"):
        text = _("No mail can be sent at the moment. Try again in a minute.")
        return _refusal(request, form, HTTPStatus.SERVICE_UNAVAILABLE, _BROKER_SECONDS, text)
    messages.success(request, _("If an account has this address, a mail with a link is on its way."))
    return redirect("web:login")


class NewPassword(views.PasswordResetConfirmView):
    """Django's page behind a mailed link; a new password ends whatever else opens the account."""

    template_name = "login/new_password.html"
    form_class = ResetForm
    success_url = reverse_lazy("web:login")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Set the password, unless too many are being hashed."""
        try:
            return super().post(request, *args, **kwargs)
        except HashingBusyError:
            messages.error(request, busy())
            return redirect(request.path)

    def form_valid(self, form: Any) -> HttpResponse:
        """Set it; whoever was logged in has to log in again."""
        response = super().form_valid(form)
        credentials_end(user=form.user)
        messages.success(self.request, _("The password is changed. Log in with it."))
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Keep the shell's bar off, and show what ends."""
        ending = {"credentials": credentials_of(self.user)} if self.validlink and self.user else {}
        return super().get_context_data(**kwargs) | ending | {"bare": True}


def _refusal(request: HttpRequest, form: MailAddressForm, status: HTTPStatus, seconds: int, text: str) -> HttpResponse:
    context = {"form": form, "bare": True, "refusal": text}
    response = render(request, "login/password_forgotten.html", context, status=status)
    response["Retry-After"] = str(seconds)
    return response
