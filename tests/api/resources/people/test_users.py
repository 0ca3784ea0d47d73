"""Users over REST: added, changed as one, deactivated at once, and never without an admin."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Role
from benchweb.accounts.permissions import access_of
from benchweb.accounts.roles.grants import member_add, role_set, team_create
from benchweb.accounts.roles.service_accounts import service_account_create
from benchweb.accounts.services import token_create
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_environment

pytestmark = pytest.mark.django_db
NO_ADMIN = "This would leave no admin: make somebody else an admin first."


def test_a_user_is_added_with_role_and_teams_and_no_password(api: ApiClient) -> None:
    team = team_create(name="night shift")
    role_set(role="operator", team=team, environment_id=(lab := make_environment("lab")).pk)
    body = {"name": "grace", "email": "grace@example.org", "role": "editor", "teams": [team.pk]}
    answer = api.post("/users", body)
    assert answer.status_code == 201
    item = answer.json()
    assert item == api.get(f"/users/{item['id']}").json()
    assert (item["name"], item["email"], item["role"], item["role_in_effect"]) == (
        "grace",
        "grace@example.org",
        "editor",
        "editor",
    )
    assert item["environment_roles"] == [{"environment": lab.pk, "role": "operator"}]
    assert (item["teams"], item["has_password"], item["is_active"]) == ([team.pk], False, True)
    entry = AuditEntry.objects.get(table="auth_user", action="created", object_name="grace")
    assert (entry.user_name, entry.via) == ("ada", "token")


def test_users_are_listed_by_id_with_filters_and_service_accounts_apart(api: ApiClient, admin: User) -> None:
    team = team_create(name="night shift")
    vera, gone = User.objects.create_user("vera"), User.objects.create_user("gone", is_active=False)
    member_add(team=team, user=vera)
    service = service_account_create(name="export", role="viewer")

    def ids(query: str) -> list[int]:
        return [item["id"] for item in api.get(f"/users{query}").json()["items"]]

    assert ids("") == [admin.pk, vera.pk, gone.pk]
    assert ids("?is_active=false") == [gone.pk]
    assert ids("?name=VERA") == ids(f"?team={team.pk}") == [vera.pk]
    first = api.get("/users?limit=2").json()
    assert [item["name"] for item in api.get(f"/users?cursor={first['next']}").json()["items"]] == ["gone"]
    assert api.get("/users?role=admin").status_code == 422
    assert api.get(f"/users/{service.pk}").status_code == 404
    assert api.patch(f"/users/{service.pk}", {"role": "admin"}).status_code == 404


def test_a_list_costs_the_same_however_many_there_are(
    api: ApiClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    team = team_create(name="night shift")
    for number in range(5):
        member_add(team=team, user=User.objects.create_user(f"user-{number}"))
    api.get("/users")
    with django_assert_num_queries(4):
        assert len(api.get("/users").json()["items"]) == 6


def test_a_change_is_done_as_one_or_not_at_all(api: ApiClient, refused: Refused) -> None:
    vera, team = User.objects.create_user("vera"), team_create(name="night shift")
    path = f"/users/{vera.pk}"
    refused(api.patch(path, {"role": "editor", "teams": [team.pk, 999_999]}), 422, "teams.1")
    assert not Grant.objects.filter(user=vera).exists() and not vera.teams.exists()
    item = api.patch(path, {"role": "editor", "teams": [team.pk]}).json()
    assert (item["role"], item["teams"]) == ("editor", [team.pk])
    item = api.patch(path, {"role": None}).json()
    assert (item["role"], item["role_in_effect"], item["teams"]) == (None, "viewer", [team.pk])
    assert api.patch(path, {"teams": []}).json()["teams"] == []
    (entry, *_rest) = AuditEntry.objects.filter(table="accounts_grant").order_by("-pk")
    assert (entry.action, entry.user_name, entry.via) == ("deleted", "ada", "token")


def test_deactivation_ends_sessions_and_tokens_for_good(api: ApiClient) -> None:
    vera = User.objects.create_user("vera")
    browser, script = Client(), ApiClient(token_create(user=vera, name="script")[1])
    browser.force_login(vera)
    assert (browser.get("/hosts").status_code, script.get("/hosts").status_code) == (200, 200)
    assert api.patch(f"/users/{vera.pk}", {"is_active": False}).json()["is_active"] is False
    assert (browser.get("/hosts").status_code, script.get("/hosts").status_code) == (302, 401)
    api.patch(f"/users/{vera.pk}", {"is_active": True})
    assert (browser.get("/hosts").status_code, script.get("/hosts").status_code) == (302, 401)


@pytest.mark.parametrize("change", [{"role": "viewer"}, {"role": None}])
def test_the_last_admin_stays_one(api: ApiClient, admin: User, refused: Refused, change: dict[str, object]) -> None:
    assert refused(api.patch(f"/users/{admin.pk}", change), 409) == NO_ADMIN
    own = api.patch(f"/users/{admin.pk}", {"is_active": False})
    assert "You can't deactivate your own account" in refused(own, 409)
    assert access_of(User.objects.get(pk=admin.pk)).everywhere == Role.ADMIN


def test_the_last_admin_is_not_deactivated_by_a_service_account_either(admin: User, refused: Refused) -> None:
    service = service_account_create(name="directory", role="admin")
    script = ApiClient(token_create(user=service, name="sync")[1])
    assert refused(script.patch(f"/users/{admin.pk}", {"is_active": False}), 409) == NO_ADMIN
    admin.refresh_from_db()
    assert admin.is_active


def test_who_becomes_an_admin_by_a_team_may_give_the_own_role_up_in_the_same_call(api: ApiClient, admin: User) -> None:
    team = team_create(name="admins")
    role_set(role="admin", team=team)
    item = api.patch(f"/users/{admin.pk}", {"role": "viewer", "teams": [team.pk]}).json()
    assert (item["role"], item["role_in_effect"]) == ("viewer", "admin")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "ada"}, "name"),
        ({"name": "a b"}, "name"),
        ({"name": "grace", "email": "grace"}, "email"),
        ({"name": "grace", "email": "grace@example.org\nBcc: eve@example.org"}, "email"),
        ({"name": "grace", "role": "owner"}, "role"),
        ({"name": "grace", "teams": [1]}, "teams.0"),
        ({"name": "grace", "password": "chosen by a script"}, "password"),  # pragma: allowlist secret
        ({"name": "grace", "is_superuser": True}, "is_superuser"),
        ({"name": "grace", "is_staff": True}, "is_staff"),
    ],
)
def test_a_wrong_user_is_refused(api: ApiClient, refused: Refused, body: dict[str, object], field: str) -> None:
    refused(api.post("/users", body), 422, field)
    assert not User.objects.filter(username="grace").exists()


@pytest.mark.parametrize("field", ["name", "email", "is_superuser", "is_staff", "password", "grants", "id"])
def test_nothing_else_is_changed(api: ApiClient, refused: Refused, admin: User, field: str) -> None:
    refused(api.patch(f"/users/{admin.pk}", {field: "x"}), 422, field)
