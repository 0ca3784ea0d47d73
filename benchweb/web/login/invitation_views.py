"""Let who was invited choose a name and a password, and log them in."""

from http import HTTPStatus
from typing import cast

from allauth.account.utils import perform_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchweb.accounts.credentials import credentials_of
from benchweb.accounts.hashing import HashingBusyError
from benchweb.accounts.login.invitations import invitation_accept, invitation_of_token
from benchweb.accounts.roles.grants import RoleError
from benchweb.web.login.forms import WelcomeForm
from benchweb.web.login.session_views import busy


@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show the form of an invitation; on POST make the account or set its password, and log in."""
    invitation = invitation_of_token(token)
    if invitation is None:
        return render(request, "login/invitation.html", {"bare": True}, status=HTTPStatus.NOT_FOUND)
    form = WelcomeForm(invitation.user, request.POST or None)
    status = HTTPStatus.OK
    if form.is_valid():
        values = form.cleaned_data
        try:
            user = invitation_accept(
                invitation=invitation, name=values.get("name", ""), password=values["new_password1"]
            )
            return cast(HttpResponse, perform_login(request, user, redirect_url=reverse("web:overview")))
        except RoleError as error:
            form.refuse(error.field, error.message)
        except HashingBusyError:
            form.refuse("", busy())
            status = HTTPStatus.SERVICE_UNAVAILABLE
    credentials = credentials_of(invitation.user) if invitation.user else None
    context = {"bare": True, "invitation": invitation, "form": form, "credentials": credentials}
    return render(request, "login/invitation.html", context, status=status)
