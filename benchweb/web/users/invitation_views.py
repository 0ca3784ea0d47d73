"""Links that an admin hands out, each shown this once: for who makes an account, and for the password of one."""

from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.login.invitations import (
    invitation_create,
    invitation_mail,
    invitation_path,
    invitation_revoke,
    open_invitations,
)
from benchweb.accounts.models import Invitation, Team
from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.grants import RoleError, user_add
from benchweb.accounts.roles.needs import needs
from benchweb.accounts.roles.service_accounts import people
from benchweb.site.addresses import public_address
from benchweb.web.access.once import once
from benchweb.web.users.forms import InvitationForm, UserForm

_MOST_SHOWN = 500
# For somebody who is told of it now.
_PASSWORD_LINK = timedelta(days=1)


@dataclass(frozen=True)
class InvitationRow:
    """An invitation in the list, with the names of its teams."""

    invitation: Invitation
    teams: list[str]


@needs(Permission.ADMIN)
@require_GET
def invitation_list(request: HttpRequest) -> HttpResponse:
    """List the invitations that are good."""
    names = dict(Team.objects.values_list("pk", "name"))
    rows = [
        InvitationRow(invitation, [names[number] for number in invitation.team_ids if number in names])
        for invitation in open_invitations().select_related("created_by", "user")[:_MOST_SHOWN]
    ]
    return render(request, "users/invitations.html", {"rows": rows})


@needs(Permission.ADMIN)
@once
@never_cache
@require_http_methods(["GET", "POST"])
def invitation_new(request: HttpRequest) -> HttpResponse:
    """Invite somebody."""
    form = InvitationForm(request.POST) if request.method == "POST" else InvitationForm()
    if request.method == "POST" and form.is_valid():
        invitation, token = invitation_create(by=cast(User, request.user), lasts=form.lifetime, **form.values)
        return link_page(request, invitation, token, title=_("Invitation"), back=reverse("web:invitations"))
    context = {"form": form, "back": reverse("web:invitations")}
    return render(request, "users/invitation_new.html", context)


@needs(Permission.ADMIN)
@once
@never_cache
@require_http_methods(["GET", "POST"])
def user_new(request: HttpRequest) -> HttpResponse:
    """Add a user, who sets their password by a link."""
    form = UserForm(request.POST) if request.method == "POST" else UserForm()
    if request.method == "POST" and form.is_valid():
        try:
            user = user_add(name=form.cleaned_data["name"], **form.values)
        except RoleError as error:
            form.refuse(error.field, error.message)
        else:
            return _password_link(request, user, form.lifetime)
    return render(request, "users/user_new.html", {"form": form, "back": reverse("web:users")})


@needs(Permission.ADMIN)
@once
@never_cache
@require_POST
def user_link(request: HttpRequest, user_id: int) -> HttpResponse:
    """Make a link by which a user sets another password."""
    return _password_link(request, get_object_or_404(people(), pk=user_id, is_active=True), _PASSWORD_LINK)


def _password_link(request: HttpRequest, user: User, lasts: timedelta) -> HttpResponse:
    admin = cast(User, request.user)
    invitation, token = invitation_create(by=admin, lasts=lasts, email=user.email, user=user)
    title = _("Password link for {name}").format(name=user.get_username())
    return link_page(request, invitation, token, title=title, back=reverse("web:user", args=[user.pk]))


@needs(Permission.ADMIN)
@require_POST
def invitation_end(request: HttpRequest, invitation_id: int) -> HttpResponse:
    """Make a link void."""
    if invitation_revoke(invitation_id=invitation_id):
        messages.success(request, _("The link is void from now on."))
    return redirect("web:invitations")


def link_page(request: HttpRequest, invitation: Invitation, token: str, *, title: str, back: str) -> HttpResponse:
    """Mail a link; show it instead, this once, where it can't be mailed."""
    is_mailed = invitation_mail(invitation=invitation, token=token)
    context = {
        "title": title,
        "invitation": invitation,
        "link": "" if is_mailed else public_address(invitation_path(token), request),
        "back": back,
    }
    return render(request, "users/link.html", context, status=201)
