"""Service accounts: admins make them and their tokens, scripts use those, nobody logs in."""

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.login.users import user_vouched_for
from benchweb.accounts.models import ApiToken, Grant, Role
from benchweb.accounts.permissions import Access, access_of
from benchweb.accounts.roles import grants
from benchweb.accounts.roles.grants import RoleError
from benchweb.accounts.roles.service_accounts import service_account_create
from benchweb.accounts.services import token_create
from tests.browser.steps import PASSWORD
from tests.factories import make_environment


@pytest.fixture(autouse=True)
def default_role(settings: Settings) -> None:
    settings.DEFAULT_ROLE = "viewer"


@pytest.fixture
def by_admin(ada: User, signed_in: Client) -> Client:
    Grant.objects.create(user=ada, role=Role.ADMIN)
    return signed_in


@pytest.fixture
def admin(db: None) -> User:
    """Make an admin who does nothing: there always is one."""
    user = User.objects.create_user("vera")
    Grant.objects.create(user=user, role=Role.ADMIN)
    return user


def called(secret: str, method: str, path: str, data: object = None) -> int:
    headers = {"Authorization": f"Bearer {secret}"}
    return Client(headers=headers).generic(method, path, data or "", content_type="application/json").status_code


def test_an_admin_adds_one_with_a_token_and_its_script_acts_as_it(by_admin: Client, db: None) -> None:
    added = by_admin.post("/users/services", {"name": "nightly-export", "role": "editor"})
    service = User.objects.get(username="service nightly-export")
    assert added.headers["Location"] == f"/tokens?service={service.pk}"
    page = by_admin.post(f"/tokens?service={service.pk}", {"name": "cron", "scope": "write", "lasts": "365"})
    secret = page.context["secret"]
    assert "API tokens of service nightly-export" in page.content.decode()
    assert ApiToken.objects.get(user=service).scope == "write"
    assert called(secret, "POST", "/api/v1/environments", '{"name": "made by it"}') == 201
    entry = AuditEntry.objects.filter(table="hosts_environment", action="created").latest("pk")
    assert (entry.user_name, entry.via) == ("service nightly-export", "token")
    listed = " ".join(by_admin.get("/users/services").content.decode().split())
    assert "service nightly-export" in listed and "Editor" in listed
    assert "nightly-export" not in by_admin.get("/users").content.decode()
    assert "Password link" not in by_admin.get(f"/users/{service.pk}").content.decode()
    assert by_admin.post(f"/users/{service.pk}/link").status_code == 404


def test_a_deactivated_one_is_refused_at_the_next_call(by_admin: Client) -> None:
    service = service_account_create(name="probe", role=Role.VIEWER)
    _, secret = token_create(user=service, name="t")
    assert called(secret, "GET", "/api/v1/hosts") == 200
    by_admin.post(f"/users/{service.pk}/deactivate")
    assert called(secret, "GET", "/api/v1/hosts") == 401
    assert by_admin.get(f"/tokens?service={service.pk}").status_code == 404


def test_nobody_logs_in_as_one_by_any_way(admin: User, client: Client, settings: Settings) -> None:
    settings.TRUST_NAMES = settings.CREATE_USERS = True
    service = service_account_create(name="probe", role=Role.EDITOR)
    service.set_password(PASSWORD)
    service.save()
    assert authenticate(HttpRequest(), username="service probe", password=PASSWORD) is None
    assert user_vouched_for(name="service probe") is None
    client.force_login(service)
    assert client.get("/hosts").status_code == 302


def test_a_name_of_a_person_is_never_taken_for_one(db: None, settings: Settings) -> None:
    settings.CREATE_USERS = True
    assert user_vouched_for(name="service somebody") is None
    assert not User.objects.filter(username__startswith="service").exists()


@pytest.mark.parametrize("name", ["", "two words", "x" * 143, "a/b"])
def test_a_name_that_is_none_adds_nothing(by_admin: Client, name: str) -> None:
    assert by_admin.post("/users/services", {"name": name, "role": "viewer"}).status_code == 200
    assert not User.objects.filter(username__startswith="service ").exists()


def test_a_name_is_once_and_a_role_may_be_in_an_environment(by_admin: Client, settings: Settings) -> None:
    lab = make_environment("lab")
    values = {"name": "ci", "role": "operator", "environment": lab.pk}
    assert by_admin.post("/users/services", values).status_code == 302
    grant = Grant.objects.get(user__username="service ci")
    # Beyond that it reads, whatever new users may do.
    settings.DEFAULT_ROLE = "admin"
    assert access_of(grant.user) == Access(Role.VIEWER, {lab.pk: Role.OPERATOR})
    assert (grant.role, grant.environment_id) == (Role.OPERATOR, lab.pk)
    again = by_admin.post("/users/services", values)
    assert "There is a service account of this name already." in again.content.decode()
    assert User.objects.filter(username__startswith="service ").count() == 1


def test_one_is_never_the_last_admin(by_admin: Client, ada: User) -> None:
    service_account_create(name="robot", role=Role.ADMIN)
    with pytest.raises(RoleError, match="no admin"):
        grants.role_set(role=Role.VIEWER, user=ada)


def test_only_admins_make_its_tokens(admin: User, signed_in: Client) -> None:
    service = service_account_create(name="probe", role=Role.EDITOR)
    values = {"name": "mine", "scope": "admin", "lasts": "0"}
    assert signed_in.post(f"/tokens?service={service.pk}", values).status_code == 403
    assert not ApiToken.objects.filter(user=service).exists()


@pytest.mark.parametrize("number", ["0", "x", "9" * 30, "٣"])
def test_what_is_no_service_account_is_not_found(by_admin: Client, ada: User, number: str) -> None:
    assert by_admin.get("/tokens", {"service": number}).status_code == 404
    assert by_admin.get("/tokens", {"service": str(ada.pk)}).status_code == 404
