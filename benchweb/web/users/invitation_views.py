"""Invitations: list, new, revoke; and the page that shows a link this once."""

from dataclasses import dataclass
from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
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
from benchweb.accounts.roles.needs import needs
from benchweb.hosts.enrolment.commands import site_address
from benchweb.web.users.forms import InvitationForm

_MOST_SHOWN = 500


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
        InvitationRow(each, [names[number] for number in each.team_ids if number in names])
        for each in open_invitations().select_related("created_by", "user")[:_MOST_SHOWN]
    ]
    return render(request, "users/invitations.html", {"rows": rows})


@needs(Permission.ADMIN)
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
        "link": "" if is_mailed else site_address(request, invitation_path(token)),
        "back": back,
    }
    return render(request, "users/link.html", context)
