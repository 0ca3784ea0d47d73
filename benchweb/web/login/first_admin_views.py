"""The first admin of a new installation."""

from http import HTTPStatus
from typing import cast

from allauth.account.utils import perform_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.accounts.hashing import HashingBusyError
from benchweb.accounts.login.first_admin import first_admin_create, is_wanted, write_code
from benchweb.accounts.roles.grants import RoleError
from benchweb.web.login.forms import FirstAdminForm
from benchweb.web.login.session_views import busy, too_many

# What wrong codes are counted as.
_WHO = "first-admin"


@never_cache
@require_http_methods(["GET", "POST"])
def first_admin(request: HttpRequest) -> HttpResponse:
    """Show the form while there is no admin; on POST make one by the code of the server's log, and log in."""
    if not is_wanted():
        raise Http404
    if request.method == "GET":
        if throttle.is_first_in_window(_WHO):
            write_code()
        return _page(request, FirstAdminForm())
    attempt = throttle.begin_login(_WHO, client_address(request))
    if seconds := attempt.retry_after_seconds:
        return _page(request, FirstAdminForm(), HTTPStatus.TOO_MANY_REQUESTS, too_many(seconds))
    form = FirstAdminForm(request.POST)
    if not form.is_valid():
        (throttle.login_failed if "code" in form.errors else throttle.login_succeeded)(attempt)
        return _page(request, form)
    throttle.login_succeeded(attempt)
    return _admin_created(request, form)


def _admin_created(request: HttpRequest, form: FirstAdminForm) -> HttpResponse:
    values = form.cleaned_data
    try:
        user = first_admin_create(name=values["name"], password=values["new_password1"])
    except RoleError as error:
        form.refuse(error.field, error.message)
        return _page(request, form)
    except HashingBusyError:
        return _page(request, form, HTTPStatus.SERVICE_UNAVAILABLE, busy())
    return cast(HttpResponse, perform_login(request, user, redirect_url=reverse("web:overview")))


def _page(
    request: HttpRequest, form: FirstAdminForm, status: HTTPStatus = HTTPStatus.OK, refusal: str = ""
) -> HttpResponse:
    context = {"bare": True, "form": form, "refusal": refusal}
    return render(request, "login/first_admin.html", context, status=status)
