"""Roles in single environments over REST: read, set and removed, with the pages' refusals, and in the audit log."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Team
from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.grants import member_add, role_set, team_create
from benchweb.accounts.roles.service_accounts import service_account_create
from benchweb.accounts.services import TokenLimits, token_create
from benchweb.hosts.models import Environment
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_environment

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab(admin: User) -> Environment:
    return make_environment("lab")


@pytest.fixture(params=["users", "teams", "service-accounts"])
def holder(request: pytest.FixtureRequest, admin: User) -> str:
    """The path of a user, a team or a service account."""
    match request.param:
        case "users":
            return f"/users/{User.objects.create_user('vera').pk}"
        case "teams":
            return f"/teams/{team_create(name='night shift').pk}"
        case _:
            return f"/service-accounts/{service_account_create(name='export', role='viewer').pk}"


def held(grants: list[Grant]) -> list[tuple[str, int | None]]:
    return [(grant.role, grant.environment_id) for grant in grants]


def test_a_role_in_an_environment_is_set_read_and_removed(api: ApiClient, holder: str, lab: Environment) -> None:
    roles, field = f"{holder}/environment-roles", make_environment("field")
    before = list(Grant.objects.values_list("pk", flat=True))
    made = api.put(f"{roles}/{lab.pk}", {"role": "operator"})
    assert (made.status_code, made.json()) == (200, {"environment": lab.pk, "role": "operator"})
    assert api.put(f"{roles}/{lab.pk}", {"role": "editor"}).status_code == 200
    api.put(f"{roles}/{field.pk}", {"role": "viewer"})
    listed = [{"environment": lab.pk, "role": "editor"}, {"environment": field.pk, "role": "viewer"}]
    assert api.get(roles).json()["items"] == listed
    assert api.get(holder).json()["environment_roles"] == listed
    entry = AuditEntry.objects.filter(table="accounts_grant").order_by("pk").last()
    assert entry is not None and (entry.user_name, entry.via, entry.action) == ("ada", "token", "created")
    assert [api.delete(f"{roles}/{lab.pk}").status_code for _ in range(2)] == [204, 204]
    assert api.get(roles).json()["items"] == listed[1:]
    # The role that is held everywhere, and everybody else's, stay.
    assert set(before) <= set(Grant.objects.values_list("pk", flat=True))
    assert AuditEntry.objects.filter(table="accounts_grant", action="deleted").count() == 1


def test_it_allows_what_it_names_there_and_nothing_elsewhere(api: ApiClient, lab: Environment) -> None:
    vera, team, field = User.objects.create_user("vera"), team_create(name="night shift"), make_environment("field")
    member_add(team=team, user=vera)
    api.put(f"/users/{vera.pk}/environment-roles/{lab.pk}", {"role": "operator"})
    api.put(f"/teams/{team.pk}/environment-roles/{lab.pk}", {"role": "editor"})
    access = access_of(vera)
    assert access.may_in(Permission.WRITE, lab.pk) and not access.may_in(Permission.RUN, field.pk)
    # Her own is told apart from her team's.
    own = api.get(f"/users/{vera.pk}/environment-roles").json()["items"]
    assert own == [{"environment": lab.pk, "role": "operator"}]


@pytest.mark.parametrize(
    ("body", "field"),
    [({"role": "admin"}, "environment"), ({"role": "owner"}, "role"), ({}, "role"), ({"role": "viewer", "x": 1}, "x")],
)
def test_a_wrong_role_is_refused(
    api: ApiClient, holder: str, lab: Environment, refused: Refused, body: dict[str, object], field: str
) -> None:
    before = held(list(Grant.objects.order_by("pk")))
    refused(api.put(f"{holder}/environment-roles/{lab.pk}", body), 422, field)
    assert held(list(Grant.objects.order_by("pk"))) == before


def test_what_is_not_there_is_not_found(api: ApiClient, admin: User, lab: Environment, refused: Refused) -> None:
    service, path = service_account_create(name="export", role="viewer"), f"environment-roles/{lab.pk}"
    for holder in ("/users/999999", f"/users/{service.pk}", "/teams/999999", f"/service-accounts/{admin.pk}"):
        refused(api.put(f"{holder}/{path}", {"role": "viewer"}), 404)
        refused(api.delete(f"{holder}/{path}"), 404)
        refused(api.get(f"{holder}/environment-roles"), 404)
    refused(api.put(f"/users/{admin.pk}/environment-roles/999999", {"role": "viewer"}), 404)
    assert not Grant.objects.exclude(environment=None).exists()


def test_no_role_is_given_in_an_archived_environment(api: ApiClient, admin: User, lab: Environment) -> None:
    path = f"/users/{admin.pk}/environment-roles/{lab.pk}"
    api.put(path, {"role": "viewer"})
    Environment.objects.update(archived_at=timezone.now())
    assert "restore it first" in api.put(path, {"role": "editor"}).json()["detail"]
    # But it can be taken there.
    assert api.delete(path).status_code == 204 and not Grant.objects.exclude(environment=None).exists()


def test_only_an_admin_gives_roles_and_no_token_of_an_environment(
    admin: User, holder: str, lab: Environment, refused: Refused
) -> None:
    olga = User.objects.create_user("olga")
    role_set(role="editor", user=olga)
    role_set(role="editor", user=olga, environment_id=lab.pk)
    tokens = [
        token_create(user=olga, name="script")[1],
        token_create(user=admin, name="lab", limits=TokenLimits(environment_ids=[lab.pk]))[1],
        token_create(user=admin, name="write", limits=TokenLimits(scope="write"))[1],
    ]
    before = held(list(Grant.objects.order_by("pk")))
    for client in map(ApiClient, tokens):
        refused(client.get(f"{holder}/environment-roles"), 403)
        refused(client.put(f"{holder}/environment-roles/{lab.pk}", {"role": "editor"}), 403)
        refused(client.delete(f"{holder}/environment-roles/{lab.pk}"), 403)
    assert held(list(Grant.objects.order_by("pk"))) == before and Team.objects.count() <= 1
