"""Users: list, page, roles, teams, deactivate and activate."""

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts import sessions
from benchweb.accounts.credentials import credentials_of
from benchweb.accounts.models import ApiToken, Grant, Team
from benchweb.accounts.permissions import Permission, access_of, is_service, with_grants
from benchweb.accounts.roles import grants
from benchweb.accounts.roles.grants import RoleError
from benchweb.accounts.roles.needs import needs
from benchweb.accounts.roles.service_accounts import people
from benchweb.common.names import searched
from benchweb.web.shared.lists import Column, list_page, listing
from benchweb.web.users.forms import RoleForm, TeamChoice
from benchweb.web.users.page import default_words, grant_words, user_rows

COLUMNS = [
    Column(gettext_noop("User"), "username"),
    Column(gettext_noop("Role")),
    Column(gettext_noop("Teams")),
    Column(gettext_noop("Last log-in"), "last_login"),
    Column(gettext_noop("State")),
]


@needs(Permission.ADMIN)
@require_GET
def user_list(request: HttpRequest) -> HttpResponse:
    """List users with their roles and teams; `inactive=1` those whose account is deactivated."""
    is_inactive = request.GET.get("inactive") == "1"
    users = with_grants(people().filter(is_active=not is_inactive)).prefetch_related("teams")
    if text := searched(request.GET.get("q", "")):
        users = users.filter(Q(username__icontains=text) | Q(email__icontains=text) | Q(teams__name__icontains=text))
    page = listing(request, users.distinct(), columns=COLUMNS, sort="username", filters=["q", "inactive"])
    context = {"page": page, "rows": user_rows(page.rows), "is_inactive": is_inactive}
    return list_page(request, "users/users.html", context)


@needs(Permission.ADMIN)
@require_GET
def user_page(request: HttpRequest, user_id: int) -> HttpResponse:
    """Show a user: roles, teams, sessions and tokens."""
    return _page(request, _user(user_id), RoleForm())


@needs(Permission.ADMIN)
@require_POST
def user_role(request: HttpRequest, user_id: int) -> HttpResponse:
    """Set a user's role, everywhere or in an environment."""
    user, form = _user(user_id), RoleForm(request.POST)
    if form.is_valid():
        environment = form.cleaned_data["environment"]
        try:
            grant = grants.role_set(
                role=form.cleaned_data["role"], user=user, environment_id=environment.pk if environment else None
            )
        except RoleError as error:
            form.refuse(error.field, error.message)
        else:
            messages.success(request, f"{user.get_username()}: {grant_words(grant)}")
            return redirect("web:user", user.pk)
    return _page(request, user, form)


@needs(Permission.ADMIN)
@require_POST
def user_team(request: HttpRequest, user_id: int) -> HttpResponse:
    """Put a user into a team."""
    user, form = _user(user_id), TeamChoice(request.POST)
    if form.is_valid():
        grants.member_add(team=form.cleaned_data["team"], user=user)
    return redirect("web:user", user.pk)


@needs(Permission.ADMIN)
@require_POST
def role_take(request: HttpRequest, grant_id: int) -> HttpResponse:
    """Take a role from a user or a team."""
    grant = get_object_or_404(Grant.objects.select_related("user", "team", "environment"), pk=grant_id)
    try:
        grants.role_take(grant=grant)
        messages.success(request, _("Removed: {role}").format(role=grant_words(grant)))
    except RoleError as error:
        messages.error(request, error.message)
    return redirect("web:team", grant.team_id) if grant.team_id else redirect("web:user", cast(int, grant.user_id))


@needs(Permission.ADMIN)
@require_http_methods(["GET", "POST"])
def user_deactivate(request: HttpRequest, user_id: int) -> HttpResponse:
    """Ask, then deactivate an account."""
    user = _user(user_id)
    if request.method == "POST":
        try:
            grants.user_deactivate(user=user, by=cast(User, request.user))
            messages.success(request, _("{user} is deactivated and logged out.").format(user=user.get_username()))
        except RoleError as error:
            messages.error(request, error.message)
        return redirect("web:user", user.pk)
    context = {
        "subject": user,
        "credentials": credentials_of(user),
    }
    return render(request, "users/user_deactivate.html", context)


@needs(Permission.ADMIN)
@require_POST
def user_activate(request: HttpRequest, user_id: int) -> HttpResponse:
    """Activate an account again."""
    user = _user(user_id)
    grants.user_activate(user=user)
    messages.success(request, _("{user} is active again.").format(user=user.get_username()))
    return redirect("web:user", user.pk)


def _user(user_id: int) -> User:
    return get_object_or_404(with_grants(User.objects.all()), pk=user_id)


def _page(request: HttpRequest, user: User, form: RoleForm) -> HttpResponse:
    own = list(Grant.objects.filter(user=user).select_related("environment"))
    teams = list(user.teams.prefetch_related("grants__environment"))
    access = access_of(user)
    context = {
        # `user` is the reader.
        "subject": user,
        "is_service": is_service(user),
        "role": access.everywhere.label if access.everywhere else "",
        "grants": own,
        "default": default_words(user, own),
        "teams": [(team, [grant_words(grant) for grant in team.grants.all()]) for team in teams],
        "other_teams": Team.objects.exclude(pk__in=[team.pk for team in teams]),
        "form": form,
        "sessions": sessions.sessions_of(user).count(),
        "tokens": ApiToken.objects.filter(user=user, revoked_at=None).count(),
        "has_group_roles": bool(settings.GROUP_ROLES),
    }
    return render(request, "users/user.html", context)
