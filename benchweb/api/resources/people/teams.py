"""Teams: users who have roles together. Who is in one is a field of each user."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Count
from django.http import HttpRequest
from ninja import Query, Router, Status

from benchweb.accounts.models import Grant, Role, Team
from benchweb.accounts.roles import grants
from benchweb.accounts.roles.bounds import making_no_admin
from benchweb.accounts.roles.changes import own_role_change
from benchweb.api.authentication import ADMIN, caller_token
from benchweb.api.paging import Page, PageQuery, page_of
from benchweb.api.resources.people.accounts import EnvironmentRole, RoleName
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Body, Identifier, Item, Name
from benchweb.common.names import name_key, searched

router = Router(tags=["people"])


class TeamBody(Body):
    name: Name
    role: RoleName | None = None


class TeamChange(Body):
    """A `role` of null takes the one that the team has everywhere."""

    name: Name | None = None
    role: RoleName | None = None


class TeamQuery(PageQuery):
    name: str = ""


class TeamItem(Item):
    """`role` is the one everywhere, or null; `member_count` counts users and service accounts."""

    id: int
    name: str
    role: str | None
    environment_roles: list[EnvironmentRole]
    member_count: int
    created_at: datetime


@router.get("/teams", response=Page[TeamItem], auth=ADMIN)
def team_list(request: HttpRequest, query: Query[TeamQuery]) -> Page[TeamItem]:
    """List teams by id. Filter `name`; `GET /users?team=ID` lists members."""
    rows = Team.objects.filter(name_key=name_key(searched(query.name))) if query.name else Team.objects.all()
    return page_of(request, query, rows, _items)


@router.post("/teams", response={201: TeamItem}, auth=ADMIN)
def team_create(request: HttpRequest, body: TeamBody) -> Status[TeamItem]:
    """Make a team without members."""
    with making_no_admin(caller_token(request)):
        team = grants.team_create(name=body.name)
        if body.role:
            grants.role_set(role=body.role, team=team)
    return Status(201, team_detail(request, team.pk))


@router.get("/teams/{team_id}", response=TeamItem, auth=ADMIN)
def team_detail(request: HttpRequest, team_id: Identifier) -> TeamItem:
    """Show a team."""
    return _items([row_or_404(Team.objects.all(), team_id)])[0]


@router.patch("/teams/{team_id}", response=TeamItem, auth=ADMIN)
def team_update(request: HttpRequest, team_id: Identifier, body: TeamChange) -> TeamItem:
    """Change what the body names; one admin always stays (409)."""
    team = row_or_404(Team.objects.all(), team_id)
    with making_no_admin(caller_token(request)):
        if body.name is not None:
            grants.team_rename(team=team, name=body.name)
        takes_role = "role" in body.model_fields_set and body.role is None
        own_role_change(team=team, role=Role(body.role) if body.role else None, takes_role=takes_role)
    return team_detail(request, team_id)


@router.delete("/teams/{team_id}", response={204: None}, auth=ADMIN)
def team_delete(request: HttpRequest, team_id: Identifier) -> Status[None]:
    """Delete a team for good; its members lose the roles that it gave them."""
    grants.team_delete(team=row_or_404(Team.objects.all(), team_id))
    return Status(204, None)


def _items(teams: Sequence[Team]) -> list[TeamItem]:
    held = Grant.objects.filter(team__in=teams).order_by("environment_id")
    counts = dict(Team.objects.filter(pk__in=[team.pk for team in teams]).values_list("pk").annotate(Count("members")))
    by_team: dict[int, list[Grant]] = {}
    for grant in held:
        by_team.setdefault(grant.team_id or 0, []).append(grant)
    return [_item(team, by_team.get(team.pk, []), counts.get(team.pk, 0)) for team in teams]


def _item(team: Team, held: Sequence[Grant], member_count: int) -> TeamItem:
    return TeamItem(
        id=team.pk,
        name=team.name,
        role=next((grant.role for grant in held if grant.environment_id is None), None),
        environment_roles=[
            EnvironmentRole(environment=grant.environment_id, role=grant.role)
            for grant in held
            if grant.environment_id is not None
        ],
        member_count=member_count,
        created_at=team.created_at,
    )
