"""Teams over REST: their roles count for their members, and one admin stays."""

import pytest
from django.contrib.auth.models import User

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Team
from benchweb.accounts.permissions import access_of
from benchweb.accounts.roles.grants import member_add, role_set, team_create
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_environment

pytestmark = pytest.mark.django_db


def test_a_team_is_made_changed_and_deleted(api: ApiClient) -> None:
    made = api.post("/teams", {"name": "night shift", "role": "operator"})
    assert made.status_code == 201
    path = f"/teams/{made.json()['id']}"
    team = Team.objects.get()
    role_set(role="editor", team=team, environment_id=(lab := make_environment("lab")).pk)
    member_add(team=team, user=(vera := User.objects.create_user("vera")))
    shown = api.get(path).json()
    assert (shown["name"], shown["role"], shown["member_count"]) == ("night shift", "operator", 1)
    assert shown["environment_roles"] == [{"environment": lab.pk, "role": "editor"}]
    assert api.get("/teams?name=NIGHT+shift").json()["items"] == [shown]
    assert api.get("/teams?name=night").json()["items"] == []
    changed = api.patch(path, {"name": "late shift", "role": None}).json()
    assert (changed["name"], changed["role"]) == ("late shift", None)
    assert access_of(User.objects.get(pk=vera.pk)).everywhere == "viewer"
    assert api.delete(path).status_code == 204
    assert not Team.objects.exists() and not Grant.objects.filter(team__isnull=False).exists()
    entry = AuditEntry.objects.get(table="accounts_team", action="deleted")
    assert (entry.user_name, entry.via, entry.object_name) == ("ada", "token", "late shift")


def test_a_team_that_makes_the_last_admin_stays(api: ApiClient, admin: User, refused: Refused) -> None:
    team = team_create(name="admins")
    role_set(role="admin", team=team)
    member_add(team=team, user=admin)
    role_set(role="viewer", user=admin)
    for answer in (
        api.delete(f"/teams/{team.pk}"),
        api.patch(f"/teams/{team.pk}", {"role": "editor"}),
        api.patch(f"/users/{admin.pk}", {"teams": []}),
    ):
        assert "This would leave no admin" in refused(answer, 409)
    assert access_of(User.objects.get(pk=admin.pk)).everywhere == "admin"


def test_a_wrong_team_is_refused(api: ApiClient, refused: Refused) -> None:
    team_create(name="night shift")
    refused(api.post("/teams", {"name": "Night Shift"}), 422, "name")
    refused(api.post("/teams", {"name": ""}), 422, "name")
    refused(api.post("/teams", {"name": "late", "role": "owner"}), 422, "role")
    refused(api.post("/teams", {"name": "late", "members": [1]}), 422, "members")
    assert Team.objects.count() == 1
