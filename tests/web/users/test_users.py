"""The pages of users: who there is, with which roles, and how they are given, taken and shut out."""

import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Role, Team, UserSession
from benchweb.accounts.permissions import Access, Permission, access_of, users_who_may
from benchweb.accounts.roles import grants
from benchweb.accounts.roles.grants import RoleError
from benchweb.accounts.services import token_create, token_user
from tests.factories import make_environment


@pytest.fixture(autouse=True)
def default_role(settings: Settings) -> None:
    settings.DEFAULT_ROLE = "viewer"


@pytest.fixture
def admin(ada: User) -> User:
    Grant.objects.create(user=ada, role=Role.ADMIN)
    return ada


@pytest.fixture
def by_admin(admin: User, signed_in: Client) -> Client:
    return signed_in


@pytest.fixture
def vera(db: None) -> User:
    return User.objects.create_user("vera", email="vera@example.org")


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_the_list_says_roles_teams_and_where_they_hold(by_admin: Client, vera: User) -> None:
    lab = make_environment("lab")
    team = grants.team_create(name="night shift")
    grants.member_add(team=team, user=vera)
    grants.role_set(role="operator", team=team)
    grants.role_set(role="editor", user=vera, environment_id=lab.pk)
    rows = {row.user.get_username(): row for row in by_admin.get("/users").context["rows"]}
    assert (rows["ada"].role, rows["vera"].role) == ("Admin", "Operator")
    assert rows["vera"].elsewhere == ["Editor in lab"]
    assert [each.name for each in rows["vera"].teams] == ["night shift"]


def test_the_list_finds_by_name_mail_address_and_team(by_admin: Client, vera: User) -> None:
    grants.member_add(team=grants.team_create(name="night shift"), user=vera)
    for text in ("ver", "@example", "night"):
        assert [row.user for row in by_admin.get("/users", {"q": text}).context["rows"]] == [vera]
    assert "Nothing matches these filters." in text_of(by_admin, "/users?q=nobody")
    assert "No account is deactivated." in text_of(by_admin, "/users?inactive=1")


def test_the_list_costs_the_same_for_many(
    by_admin: Client, vera: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    team, lab = grants.team_create(name="night shift"), make_environment("lab")
    for number in range(20):
        user = User.objects.create_user(f"user-{number}")
        grants.member_add(team=team, user=user)
        Grant.objects.create(user=user, role=Role.OPERATOR, environment=lab)
    with django_assert_max_num_queries(7):
        by_admin.get("/users")


def test_a_role_is_given_changed_and_taken(by_admin: Client, vera: User) -> None:
    lab = make_environment("lab")
    page = f"/users/{vera.pk}"
    assert "Viewer (default)" in text_of(by_admin, page)
    for role in ("operator", "editor"):
        assert by_admin.post(f"{page}/roles", {"role": role}).headers["Location"] == page
    by_admin.post(f"{page}/roles", {"role": "operator", "environment": lab.pk})
    assert access_of(vera) == Access(Role.EDITOR, {lab.pk: Role.OPERATOR})
    assert "Viewer (default)" not in text_of(by_admin, page)
    for grant in Grant.objects.filter(user=vera):
        assert by_admin.post(f"/roles/{grant.pk}/take").headers["Location"] == page
    assert access_of(User.objects.get(pk=vera.pk)) == Access(Role.VIEWER)


def test_an_admin_of_one_environment_is_refused_at_the_field(by_admin: Client, vera: User) -> None:
    lab = make_environment("lab")
    response = by_admin.post(f"/users/{vera.pk}/roles", {"role": "admin", "environment": lab.pk})
    assert "An admin is one everywhere" in response.content.decode()
    assert response.context["form"]["environment"].value() == str(lab.pk)
    assert not Grant.objects.filter(user=vera).exists()


def test_a_user_joins_and_leaves_a_team(by_admin: Client, vera: User) -> None:
    team = grants.team_create(name="night shift")
    by_admin.post(f"/users/{vera.pk}/teams", {"team": team.pk})
    assert list(team.members.all()) == [vera]
    by_admin.post(f"/teams/{team.pk}/members/{vera.pk}")
    assert not team.members.exists()


def test_a_deactivated_user_is_out_at_the_next_request_and_back_when_activated(by_admin: Client, vera: User) -> None:
    _row, secret = token_create(user=vera, name="script")
    browser = Client()
    browser.force_login(vera)
    assert browser.get("/hosts").status_code == 200
    page = f"/users/{vera.pk}/deactivate"
    asked = text_of(by_admin, page)
    assert "1 session ends." in asked
    assert "API tokens that are revoked:" in asked and "<li>script (<code>bw_" in asked
    by_admin.post(page)
    assert browser.get("/hosts").status_code == 302
    assert token_user(secret=secret) is None
    assert Client(headers={"Authorization": f"Bearer {secret}"}).get("/api/v1/hosts").status_code == 401
    assert not UserSession.objects.filter(user=vera).exists()
    assert [row.user for row in by_admin.get("/users?inactive=1").context["rows"]] == [vera]
    by_admin.post(f"/users/{vera.pk}/activate")
    # Whoever had the account before gets in by nothing from then.
    assert token_user(secret=secret) is None
    assert browser.get("/hosts").status_code == 302


def test_nobody_deactivates_their_own_account(by_admin: Client, admin: User) -> None:
    by_admin.post(f"/users/{admin.pk}/deactivate")
    admin.refresh_from_db()
    assert admin.is_active
    assert "Deactivate…" not in text_of(by_admin, f"/users/{admin.pk}")


def test_the_last_admin_stays_one(by_admin: Client, admin: User) -> None:
    by_admin.post(f"/users/{admin.pk}/roles", {"role": "editor"})
    by_admin.post(f"/roles/{Grant.objects.get(user=admin).pk}/take")
    assert access_of(User.objects.get(pk=admin.pk)) == Access(Role.ADMIN)
    team = grants.team_create(name="admins")
    grants.role_set(role="admin", team=team)
    other = User.objects.create_user("otto")
    grants.member_add(team=team, user=other)
    by_admin.post(f"/users/{admin.pk}/roles", {"role": "editor"})
    assert [user.get_username() for user in users_who_may(Permission.ADMIN)] == ["otto"]
    for take in (
        lambda: grants.team_delete(team=team),
        lambda: grants.member_remove(team=team, user=other),
        lambda: grants.role_take(grant=team.grants.get()),
        lambda: grants.user_deactivate(user=other, by=admin),
    ):
        with pytest.raises(RoleError, match="This would leave no admin"):
            take()
    assert [user.get_username() for user in users_who_may(Permission.ADMIN)] == ["otto"]


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_demote_each_other_at_once_leave_one() -> None:
    pair = [User.objects.create_user(name) for name in ("ann", "ben")]
    for user in pair:
        Grant.objects.create(user=user, role=Role.ADMIN)
    ready, refusals = threading.Barrier(2), []

    def demote(user: User) -> None:
        ready.wait()
        try:
            grants.role_set(role="viewer", user=user)
        except RoleError as error:
            refusals.append(error.message)
        finally:
            connection.close()

    threads = [threading.Thread(target=demote, args=[user]) for user in pair]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(users_who_may(Permission.ADMIN)) == 1
    assert len(refusals) == 1


def test_what_an_admin_gives_is_in_the_audit_log(by_admin: Client, vera: User) -> None:
    by_admin.post(f"/users/{vera.pk}/roles", {"role": "operator"})
    entry = AuditEntry.objects.get(table="accounts_grant", user_name="ada")
    assert (entry.action, entry.changes["role"], entry.changes["user_id"]) == (
        "created",
        [None, "operator"],
        [None, vera.pk],
    )


def test_a_role_everywhere_that_follows_groups_is_said(by_admin: Client, vera: User, settings: Settings) -> None:
    assert "follows the user's groups" not in text_of(by_admin, f"/users/{vera.pk}")
    settings.GROUP_ROLES = {"netops": "operator"}
    assert "follows the user&#x27;s groups" in text_of(by_admin, f"/users/{vera.pk}").replace("'", "&#x27;")


def test_a_user_of_the_console_is_said_to_be(by_admin: Client) -> None:
    root = User.objects.create_superuser("root")
    assert "Admin (created at the console)" in text_of(by_admin, f"/users/{root.pk}")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.EDITOR])
def test_only_admins_see_them(ada: User, signed_in: Client, role: Role) -> None:
    Grant.objects.create(user=ada, role=role)
    for address in ("/users", f"/users/{ada.pk}", "/teams"):
        assert signed_in.get(address).status_code == 403
    assert signed_in.post(f"/users/{ada.pk}/roles", {"role": "admin"}).status_code == 403
    assert access_of(User.objects.get(pk=ada.pk)) == Access(role)
    assert not Team.objects.exists()
