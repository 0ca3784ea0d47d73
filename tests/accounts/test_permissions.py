"""Which roles allow what, and where."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction
from django.db.models.signals import post_init
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from benchweb.accounts.models import Grant, Role, Team
from benchweb.accounts.permissions import Access, Permission, Refused, access_of, users_who_may, with_grants
from benchweb.accounts.services import token_create, token_user
from tests.factories import make_environment

ALLOWED = {
    Role.VIEWER: {Permission.READ},
    Role.OPERATOR: {Permission.READ, Permission.RUN},
    Role.EDITOR: {Permission.READ, Permission.RUN, Permission.WRITE},
    Role.ADMIN: set(Permission),
}


@pytest.fixture
def vera(db: None, settings: Settings) -> User:
    """Return a user whom nobody gave a role, where that is a viewer's."""
    settings.DEFAULT_ROLE = "viewer"
    return User.objects.create_user("vera")


def team_of(*members: User, name: str = "night") -> Team:
    team = Team.objects.create(name=name, name_key=name)
    team.members.set(members)
    return team


@pytest.mark.parametrize("role", Role)
def test_a_role_allows_what_those_below_it_do_and_more(role: Role) -> None:
    assert {permission for permission in Permission if Access(role).may(permission)} == ALLOWED[role]


def test_who_has_no_role_has_the_default_one(vera: User, settings: Settings) -> None:
    assert access_of(vera) == Access(Role.VIEWER)
    settings.DEFAULT_ROLE = "operator"
    assert access_of(vera) == Access(Role.OPERATOR)


def test_who_was_made_at_the_console_is_an_admin_until_given_another_role(vera: User) -> None:
    vera.is_superuser = True
    assert access_of(vera) == Access(Role.ADMIN)
    Grant.objects.create(user=vera, role=Role.EDITOR)
    assert access_of(vera) == Access(Role.EDITOR)


def test_a_role_of_ones_own_goes_before_the_default_one(vera: User, settings: Settings) -> None:
    settings.DEFAULT_ROLE = "editor"
    Grant.objects.create(user=vera, role=Role.VIEWER)
    assert access_of(vera) == Access(Role.VIEWER)


def test_a_team_adds_to_what_its_members_may_do_and_takes_nothing(vera: User) -> None:
    team, other = team_of(vera), team_of(vera, name="day")
    Grant.objects.create(team=team, role=Role.OPERATOR)
    Grant.objects.create(team=other, role=Role.VIEWER)
    assert access_of(vera).everywhere == Role.OPERATOR
    assert access_of(User.objects.create_user("otto")).everywhere == Role.VIEWER
    Grant.objects.create(user=vera, role=Role.EDITOR)
    assert access_of(vera).everywhere == Role.EDITOR


def test_a_role_in_an_environment_holds_there_only(vera: User) -> None:
    lab, field = make_environment("lab"), make_environment("field")
    Grant.objects.create(user=vera, role=Role.OPERATOR, environment=lab)
    Grant.objects.create(team=team_of(vera), role=Role.EDITOR, environment=lab)
    access = access_of(vera)
    assert access == Access(Role.VIEWER, {lab.pk: Role.EDITOR})
    assert access.may_in(Permission.WRITE, lab.pk)
    assert access.may_somewhere(Permission.WRITE)
    assert not access.may(Permission.RUN)
    assert not access.may_in(Permission.RUN, field.pk)
    assert not access.may_somewhere(Permission.ADMIN)


def test_what_touches_several_environments_needs_the_role_in_all_of_them() -> None:
    access = Access(Role.VIEWER, {1: Role.OPERATOR, 2: Role.OPERATOR})
    access.demand(Permission.RUN, [1, 2, 1])
    access.demand(Permission.READ, [])
    with pytest.raises(Refused) as refused:
        access.demand(Permission.RUN, [2, 3])
    assert (refused.value.permission, refused.value.environment_id) == (Permission.RUN, 3)


def test_what_touches_no_environment_needs_the_role_everywhere() -> None:
    with pytest.raises(Refused) as refused:
        Access(Role.VIEWER, {1: Role.OPERATOR}).demand(Permission.RUN, [])
    assert refused.value.environment_id is None
    Access(Role.OPERATOR).demand(Permission.RUN, [])


def test_strangers_and_deactivated_users_may_do_nothing(vera: User) -> None:
    Grant.objects.create(user=vera, role=Role.ADMIN)
    vera.is_active = False
    for access in (access_of(vera), access_of(AnonymousUser()), access_of(None)):
        assert not any(access.may_somewhere(permission) for permission in Permission)


def test_roles_come_with_the_user_without_a_query_of_their_own(
    vera: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    Grant.objects.create(team=team_of(vera), role=Role.OPERATOR)
    _row, secret = token_create(user=vera, name="script")
    client = Client()
    client.force_login(vera)
    of_session = client.get("/account").wsgi_request.user
    of_token = token_user(secret=secret)
    of_row = with_grants(User.objects.all()).get()
    with django_assert_num_queries(0):
        assert [access_of(user).everywhere for user in (of_session, of_token, of_row)] == [Role.OPERATOR] * 3


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"role": "viewer"}, "grant_of_a_user_or_a_team"),
        ({"role": "viewer", "user": "vera", "team": "night"}, "grant_of_a_user_or_a_team"),
        ({"role": "owner", "user": "vera"}, "grant_of_a_known_role"),
        ({"role": "admin", "user": "vera", "environment": "lab"}, "grant_admin_everywhere"),
        ({"role": "editor", "team": "night"}, "grant_once"),
        ({"role": "editor", "team": "night", "environment": "lab"}, "grant_once"),
    ],
)
def test_the_database_refuses_a_grant_that_makes_no_sense(vera: User, fields: dict[str, str], constraint: str) -> None:
    rows: dict[str, Any] = {"user": vera, "team": team_of(vera), "environment": make_environment("lab")}
    Grant.objects.create(team=rows["team"], role=Role.VIEWER)
    Grant.objects.create(team=rows["team"], role=Role.VIEWER, environment=rows["environment"])
    values = {name: rows.get(name, value) for name, value in fields.items()}
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Grant.objects.create(**values)


@pytest.mark.parametrize("default", ["viewer", "operator"])
def test_who_may_is_found_without_reading_who_may_not(
    vera: User, settings: Settings, django_assert_max_num_queries: DjangoAssertNumQueries, default: str
) -> None:
    settings.DEFAULT_ROLE = default
    users = {name: User.objects.create_user(name) for name in ("demoted", "gone", "lab", "member", "own", "reader")}
    users["demoted"].is_superuser, users["gone"].is_active = True, False
    for name in ("demoted", "gone"):
        users[name].save()
    lab = make_environment("lab")
    for name, role in (("demoted", Role.VIEWER), ("gone", Role.EDITOR), ("own", Role.EDITOR), ("reader", Role.VIEWER)):
        Grant.objects.create(user=users[name], role=role)
    Grant.objects.create(user=users["lab"], role=Role.EDITOR, environment=lab)
    Grant.objects.create(team=team_of(users["member"]), role=Role.EDITOR)
    read: list[User] = []

    def note(instance: User, **_: Any) -> None:
        read.append(instance)

    for permission in Permission:
        expected = [user.username for user in User.objects.order_by("username") if access_of(user).may(permission)]
        post_init.connect(note, sender=User)
        try:
            # The second reads the site's settings, every few seconds.
            with django_assert_max_num_queries(2):
                assert [user.username for user in users_who_may(permission)] == expected
        finally:
            post_init.disconnect(note, sender=User)
        if permission in (Permission.WRITE, Permission.ADMIN):
            assert {user.username for user in read} <= {"demoted", "member", "own"}
        read.clear()
