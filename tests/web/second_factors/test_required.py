"""A site may require a second factor: who lacks one sets it up, and does nothing else until then."""

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from benchweb.accounts.models import Grant, Role
from benchweb.accounts.permissions import access_of
from benchweb.accounts.roles.needs import Needs
from benchweb.accounts.roles.routes import page_routes
from benchweb.accounts.roles.service_accounts import service_account_create
from benchweb.accounts.second_factors import lacks_factor
from benchweb.accounts.services import TokenLimits, token_create
from benchweb.ops.settings_checks import settings_are_usable
from tests.factories import make_user

pytestmark = pytest.mark.django_db
KEY = "JBSWY3DPEHPK3PXP"  # pragma: allowlist secret


@pytest.fixture
def admin() -> User:
    user = make_user("root", "a password of root's")
    Grant.objects.create(user=user, role=Role.ADMIN)
    return user


@pytest.fixture
def vera(settings: Settings) -> User:
    settings.DEFAULT_ROLE = "viewer"
    return make_user("vera", "a password of vera's")


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def by_token(user: User, scope: str = "read") -> int:
    secret = token_create(user=user, name="ci", limits=TokenLimits(scope=scope))[1]
    return Client(headers={"Authorization": f"Bearer {secret}"}).get("/api/v1/hosts").status_code


def test_nobody_is_asked_unless_the_site_says_so(admin: User, vera: User) -> None:
    assert [logged_in(user).get("/hosts").status_code for user in (admin, vera)] == [200, 200]


def test_admins_are_asked_and_others_not(admin: User, vera: User, settings: Settings) -> None:
    settings.SECOND_FACTOR = "admins"
    assert logged_in(vera).get("/hosts").status_code == 200
    assert by_token(vera) == 200
    client = logged_in(admin)
    assert client.get("/hosts")["Location"] == "/account/factors"
    assert "This site requires a second factor of you" in client.get("/account/factors").content.decode()
    # Though it could only read.
    assert by_token(admin) == 401
    TOTP.activate(admin, KEY)
    assert client.get("/hosts").status_code == 200
    assert "This site requires" not in client.get("/account/factors").content.decode()
    assert by_token(admin) == 200
    Authenticator.objects.all().delete()
    assert client.get("/hosts").status_code == 302


def test_no_page_opens_before_but_those_that_lead_to_a_factor(vera: User, settings: Settings) -> None:
    settings.SECOND_FACTOR = "all"
    settings.DEFAULT_ROLE = "admin"
    client, opened = logged_in(vera), set()
    for route in page_routes():
        if isinstance(route.stated, Needs):
            for answer in (client.get(route.path_with("1")), client.post(route.path_with("1"))):
                if answer.status_code != 403 and answer.get("Location") != "/account/factors":
                    opened.add(route.name)
    assert opened <= {
        *("mfa_index", "mfa_activate_totp", "mfa_add_webauthn", "mfa_view_recovery_codes"),
        *("mfa_generate_recovery_codes", "account_reauthenticate", "mfa_reauthenticate"),
        "mfa_reauthenticate_webauthn",
    }
    assert "mfa_activate_totp" in opened


def test_a_partial_update_leads_the_whole_page(vera: User, settings: Settings) -> None:
    settings.SECOND_FACTOR = "all"
    assert logged_in(vera).get("/hosts", headers={"HX-Request": "true"})["HX-Redirect"] == "/account/factors"


def test_the_tokens_refusal_says_what_to_do(vera: User, settings: Settings) -> None:
    settings.SECOND_FACTOR = "all"
    secret = token_create(user=vera, name="ci")[1]
    answer = Client(headers={"Authorization": f"Bearer {secret}"}).get("/api/v1/hosts")
    assert "has to set up a second factor first" in answer.json()["detail"]


def test_service_accounts_have_none(admin: User, settings: Settings) -> None:
    settings.SECOND_FACTOR = "all"
    assert by_token(service_account_create(name="export", role="viewer")) == 200


def test_whom_a_proxy_logs_in_is_asked_there_and_who_comes_another_way_here(settings: Settings) -> None:
    settings.SECOND_FACTOR, settings.DEFAULT_ROLE = "all", "viewer"
    settings.LOGIN_PROXY_HEADER, settings.LOGIN_PROXIES = "X-Forwarded-User", ["10.0.0.5"]
    by_proxy = Client(headers={"X-Forwarded-User": "ann"}, REMOTE_ADDR="10.0.0.5")
    assert by_proxy.get("/hosts").status_code == 200
    ann = User.objects.get(username="ann")
    assert not ann.has_usable_password() and by_token(ann) == 200
    # As by OpenID Connect or LDAP, which need no password here either.
    other = Client()
    other.force_login(ann, backend="benchweb.accounts.backend.PasswordBackend")
    assert other.get("/hosts")["Location"] == "/account/factors"
    assert "This site requires" in other.get("/account/factors").content.decode()
    settings.LOGIN_PROXY_HEADER = ""
    assert by_token(ann) == 401


def test_an_admin_chooses_it_on_the_page(
    admin: User, vera: User, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    TOTP.activate(admin, KEY)
    with django_capture_on_commit_callbacks(execute=True):
        assert logged_in(admin).post("/settings", {"second_factor": "all"})["Location"] == "/settings"
    assert logged_in(vera).get("/hosts")["Location"] == "/account/factors"


def test_without_the_requirement_it_costs_no_query(
    vera: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    access_of(vera)
    with django_assert_num_queries(0):
        assert not lacks_factor(vera, by_proxy=False)


def test_a_requirement_that_there_is_not_stops_the_start(settings: Settings) -> None:
    settings.SECOND_FACTOR = "some"
    assert [fault.id for fault in settings_are_usable()] == ["benchweb.E041"]
