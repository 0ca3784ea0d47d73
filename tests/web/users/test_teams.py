"""The pages of teams."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.models import Grant, Role, Team
from benchweb.accounts.permissions import Access, access_of
from benchweb.accounts.roles import grants
from tests.factories import make_environment


@pytest.fixture
def by_admin(ada: User, signed_in: Client, settings: Settings) -> Client:
    settings.DEFAULT_ROLE = "viewer"
    Grant.objects.create(user=ada, role=Role.ADMIN)
    return signed_in


@pytest.fixture
def team(db: None) -> Team:
    return grants.team_create(name="Night shift")


def test_the_first_team_is_made_and_listed(by_admin: Client) -> None:
    assert "Create the first team" in by_admin.get("/teams").content.decode()
    made = by_admin.post("/teams/new", {"name": "  Night   shift "})
    team = Team.objects.get()
    assert (team.name, made.headers["Location"]) == ("Night shift", f"/teams/{team.pk}")
    assert [(row.team, row.members, row.roles) for row in by_admin.get("/teams").context["rows"]] == [(team, 0, [])]


@pytest.mark.parametrize(("name", "refusal"), [("night SHIFT", "There is a team of this name"), ("\u202ex", "turn")])
def test_a_name_that_is_taken_or_none_is_refused_with_what_was_typed(
    by_admin: Client, team: Team, name: str, refusal: str
) -> None:
    other = grants.team_create(name="Day shift")
    for address in ("/teams/new", f"/teams/{other.pk}/edit"):
        response = by_admin.post(address, {"name": name})
        assert refusal in response.content.decode()
        assert response.context["form"]["name"].value() == name
    assert set(Team.objects.values_list("name", flat=True)) == {"Night shift", "Day shift"}


def test_a_team_is_renamed(by_admin: Client, team: Team) -> None:
    assert by_admin.post(f"/teams/{team.pk}/edit", {"name": "NIGHT shift"}).status_code == 302
    team.refresh_from_db()
    assert team.name == "NIGHT shift"


def test_members_have_what_the_team_has(by_admin: Client, team: Team) -> None:
    vera, lab = User.objects.create_user("vera"), make_environment("lab")
    assert by_admin.post(f"/teams/{team.pk}/members", {"name": "vera"}).status_code == 302
    by_admin.post(f"/teams/{team.pk}/roles", {"role": "operator"})
    by_admin.post(f"/teams/{team.pk}/roles", {"role": "editor", "environment": lab.pk})
    assert access_of(vera) == Access(Role.OPERATOR, {lab.pk: Role.EDITOR})
    (row,) = by_admin.get("/teams").context["rows"]
    assert (row.members, row.roles) == (1, ["Operator everywhere", "Editor in lab"])
    assert "vera" in by_admin.get(f"/teams/{team.pk}").content.decode()


@pytest.mark.parametrize("name", ["nobody", "gone", "a\0b"])
def test_who_has_no_active_account_is_refused_as_a_member(by_admin: Client, team: Team, name: str) -> None:
    User.objects.create_user("gone", is_active=False)
    response = by_admin.post(f"/teams/{team.pk}/members", {"name": name})
    assert response.status_code in (200, 400)
    assert not team.members.exists()


def test_deleting_a_team_says_what_is_lost_and_takes_its_roles(by_admin: Client, team: Team) -> None:
    vera = User.objects.create_user("vera")
    grants.member_add(team=team, user=vera)
    grants.role_set(role="operator", team=team)
    asked = by_admin.get(f"/teams/{team.pk}/delete").content.decode()
    assert "1 member loses the roles of this team." in asked
    assert "Operator everywhere" in asked
    assert by_admin.post(f"/teams/{team.pk}/delete").headers["Location"] == "/teams"
    assert access_of(vera) == Access(Role.VIEWER)
    assert not Team.objects.exists()
