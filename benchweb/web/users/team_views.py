"""Teams: list, page, new, rename, roles, members, delete."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.models import Team
from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles import grants
from benchweb.accounts.roles.grants import RoleError
from benchweb.accounts.roles.needs import needs
from benchweb.web.shared.plain_pages import FormPages
from benchweb.web.users.forms import MemberForm, RoleForm, TeamForm
from benchweb.web.users.page import grant_words, suggested_users, team_rows

# Of an installation; a company has dozens.
_MOST_TEAMS = 500


@needs(Permission.ADMIN)
@require_GET
def team_list(request: HttpRequest) -> HttpResponse:
    """List teams with their roles and the number of members."""
    teams = Team.objects.prefetch_related("members", "grants__environment")[:_MOST_TEAMS]
    return render(request, "users/teams.html", {"rows": team_rows(teams)})


class TeamFormPages(FormPages[Team, TeamForm, TeamForm]):
    """The forms that make and rename a team."""

    model, page_name, permission = Team, "team", Permission.ADMIN
    name, path, list_name = "team", "teams", "teams"
    # None is ever archived: a team is deleted.
    has_archived_pages = True
    new_form = change_form = TeamForm
    add_title = gettext_lazy("New team")

    def create(self, form: TeamForm, request: HttpRequest) -> Team:
        return grants.team_create(name=form.cleaned_data["name"])

    def update(self, row: Team, form: TeamForm) -> None:
        grants.team_rename(team=row, name=form.cleaned_data["name"])

    def edit_title(self, row: Team) -> str:
        return _("Rename {team}").format(team=row.name)


@needs(Permission.ADMIN)
@require_GET
def team_page(request: HttpRequest, team_id: int) -> HttpResponse:
    """Show a team: its roles and members."""
    return _page(request, get_object_or_404(Team, pk=team_id), RoleForm(), MemberForm())


@needs(Permission.ADMIN)
@require_POST
def team_role(request: HttpRequest, team_id: int) -> HttpResponse:
    """Set a team's role, everywhere or in an environment."""
    team, form = get_object_or_404(Team, pk=team_id), RoleForm(request.POST)
    if form.is_valid():
        environment = form.cleaned_data["environment"]
        try:
            grant = grants.role_set(
                role=form.cleaned_data["role"], team=team, environment_id=environment.pk if environment else None
            )
        except RoleError as error:
            form.refuse(error.field, error.message)
        else:
            messages.success(request, f"{team.name}: {grant_words(grant)}")
            return redirect("web:team", team.pk)
    return _page(request, team, form, MemberForm())


@needs(Permission.ADMIN)
@require_POST
def team_member_add(request: HttpRequest, team_id: int) -> HttpResponse:
    """Put a user into a team."""
    team, form = get_object_or_404(Team, pk=team_id), MemberForm(request.POST)
    if form.is_valid():
        grants.member_add(team=team, user=form.cleaned_data["name"])
        return redirect("web:team", team.pk)
    return _page(request, team, RoleForm(), form)


@needs(Permission.ADMIN)
@require_POST
def team_member_remove(request: HttpRequest, team_id: int, user_id: int) -> HttpResponse:
    """Take a user out of a team."""
    team, user = get_object_or_404(Team, pk=team_id), get_object_or_404(User, pk=user_id)
    try:
        grants.member_remove(team=team, user=user)
        messages.success(request, _("{user} is no longer in {team}.").format(user=user.get_username(), team=team.name))
    except RoleError as error:
        messages.error(request, error.message)
    return redirect("web:team", team.pk)


@needs(Permission.ADMIN)
@require_http_methods(["GET", "POST"])
def team_delete(request: HttpRequest, team_id: int) -> HttpResponse:
    """Ask, then delete a team."""
    team = get_object_or_404(Team.objects.prefetch_related("members", "grants__environment"), pk=team_id)
    if request.method == "POST":
        try:
            grants.team_delete(team=team)
        except RoleError as error:
            messages.error(request, error.message)
            return redirect("web:team", team_id)
        messages.success(request, _("Team {team} is deleted.").format(team=team.name))
        return redirect("web:teams")
    return render(request, "users/team_delete.html", {"row": team_rows([team])[0]})


def _page(request: HttpRequest, team: Team, form: RoleForm, member_form: MemberForm) -> HttpResponse:
    context = {
        "team": team,
        "grants": list(team.grants.select_related("environment")),
        "members": list(team.members.order_by("username")),
        "form": form,
        "member_form": member_form,
        "suggestions": {"users": suggested_users()},
    }
    return render(request, "users/team.html", context)
