"""Log-in by a real LDAP server: over TLS, with roles by groups, and with benchweb's own passwords beside it."""

import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Role, UserSession
from benchweb.accounts.permissions import access_of
from benchweb.login_settings import ldap_settings
from benchweb.ops.settings_checks import settings_are_usable
from tests.accounts.login.directories import ADDRESS, PASSWORD, SUFFIX, Directory
from tests.responses import Response

pytestmark = [pytest.mark.django_db, pytest.mark.needs("slapd", "LDAP library")]
OWN = "a password of benchweb's"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Directory]:
    running = Directory.start(tmp_path_factory.mktemp("directory"))
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def asked(directory: Directory, settings: Settings) -> None:
    """Ask it after benchweb's own passwords."""
    for name in ("default", "local"):
        caches[name].clear()
    set_up(settings, directory.environment())
    settings.AUTHENTICATION_BACKENDS = [
        "benchweb.accounts.backend.PasswordBackend",
        "benchweb.accounts.login.ldap.DirectoryBackend",
    ]


def set_up(settings: Settings, environment: dict[str, str]) -> None:
    for name, value in ldap_settings(environment).items():
        setattr(settings, name, value)


def log_in(name: str = "ada", password: str = PASSWORD, client: Client | None = None) -> Response:
    return (client or Client()).post("/login", {"username": name, "password": password})


def test_whoever_the_directory_knows_is_in_and_has_an_account_from_then_on() -> None:
    client = Client()
    assert log_in(client=client).status_code == 302
    assert client.get("/hosts").status_code == 200
    ada = User.objects.get()
    assert (ada.username, ada.email, ada.has_usable_password()) == ("ada", "ada@example.org", False)
    assert UserSession.objects.get().user == ada
    assert AuditEntry.objects.filter(action="logged_in").values_list("user_name", flat=True).get() == "ada"
    assert log_in().status_code == 302
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ada", "wrong"),
        ("ada", ""),
        ("eve", PASSWORD),
        ("*", PASSWORD),
        ("ada)(uid=*", PASSWORD),
        ("a*", PASSWORD),
    ],
)
def test_nobody_else_is_let_in(name: str, password: str) -> None:
    assert log_in(name, password).status_code == 200
    assert not User.objects.exists()
    assert not UserSession.objects.filter(user__isnull=False).exists()


def test_one_person_has_one_account_however_the_name_is_typed() -> None:
    for name in ("Ada", "ADA", " ada", "ａｄａ"):
        log_in(name)
    assert set(User.objects.values_list("username", flat=True)) == {"ada"}


def test_roles_come_with_each_log_in(settings: Settings) -> None:
    settings.GROUP_ROLES, settings.DEFAULT_ROLE = {"netops": "operator", "leads": "admin"}, "viewer"
    for name in ("ada", "bob", "carol"):
        log_in(name)
    roles = {user.username: access_of(user).everywhere for user in User.objects.all()}
    assert roles == {"ada": Role.ADMIN, "bob": Role.OPERATOR, "carol": Role.VIEWER}
    # The last admin would stay one.
    User.objects.create_superuser("root")
    settings.GROUP_ROLES = {"everybody": "editor"}
    log_in("ada")
    assert access_of(User.objects.get(username="ada")).everywhere == Role.EDITOR


def test_without_a_place_of_groups_roles_stay_as_they_are(settings: Settings, directory: Directory) -> None:
    set_up(settings, directory.environment(BENCHWEB_LDAP_GROUPS_DN=""))
    settings.GROUP_ROLES = {"netops": "operator"}
    log_in()
    Grant.objects.create(user=User.objects.get(), role=Role.EDITOR)
    log_in()
    assert Grant.objects.get().role == Role.EDITOR


def test_a_filter_keeps_others_out(settings: Settings, directory: Directory) -> None:
    set_up(settings, directory.environment(BENCHWEB_LDAP_USER_FILTER="(mail=bob@*)"))
    assert [log_in(name).status_code for name in ("ada", "bob")] == [200, 302]


def test_an_account_with_a_password_is_its_owners_unless_names_are_trusted(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    User.objects.create_user("ada", password=OWN)
    assert log_in().status_code == 200
    assert "the account has a password of its own, see BENCHWEB_TRUST_NAMES" in caplog.text
    assert log_in(password=OWN).status_code == 302
    settings.TRUST_NAMES = True
    assert [log_in().status_code, log_in(password=OWN).status_code] == [302, 302]


def test_who_is_deactivated_here_is_out_whatever_the_directory_says() -> None:
    client = Client()
    log_in(client=client)
    User.objects.update(is_active=False)
    assert client.get("/hosts").status_code == 302
    assert log_in().status_code == 200


def test_where_accounts_are_not_made_only_known_people_are_let_in(settings: Settings) -> None:
    settings.CREATE_USERS = False
    User.objects.create_user("bob")
    assert [log_in(name).status_code for name in ("ada", "bob")] == [200, 302]
    assert User.objects.count() == 1


def test_guessing_is_stopped_before_the_directory_is_asked() -> None:
    for _ in range(10):
        log_in(password="wrong")  # pragma: allowlist secret
    assert log_in().status_code == 429
    assert not User.objects.exists()


@pytest.mark.parametrize("scheme", ["ldap+starttls", "ldaps"])
def test_a_certificate_that_is_not_trusted_ends_it(settings: Settings, directory: Directory, scheme: str) -> None:
    port = directory.tls_port if scheme == "ldaps" else directory.port
    url = f"{scheme}://{ADDRESS}:{port}"
    set_up(settings, directory.environment(BENCHWEB_LDAP_URL=url))
    assert log_in().status_code == 302
    set_up(settings, directory.environment(BENCHWEB_LDAP_URL=url, BENCHWEB_LDAP_CA_FILE=""))
    assert log_in("bob").status_code == 503
    assert not User.objects.filter(username="bob").exists()


def test_a_name_that_the_certificate_is_not_for_ends_it(settings: Settings, directory: Directory) -> None:
    set_up(settings, directory.environment(BENCHWEB_LDAP_URL=f"ldaps://localhost:{directory.tls_port}"))
    assert log_in().status_code == 503


def test_a_directory_that_is_away_is_said_counts_no_attempt_and_keeps_nobody_else_out(
    settings: Settings, directory: Directory
) -> None:
    with socket.create_server((ADDRESS, 0)) as free:
        port = free.getsockname()[1]
    set_up(settings, directory.environment(BENCHWEB_LDAP_URL=f"ldaps://{ADDRESS}:{port}"))
    User.objects.create_user("root", password=OWN)
    for _ in range(12):
        answer = log_in()
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert "can&#x27;t be reached" in answer.content.decode()
    assert log_in("root", OWN).status_code == 302
    set_up(settings, directory.environment())
    assert log_in().status_code == 302


def test_a_wrong_password_of_the_service_is_no_wrong_password_of_the_user(
    settings: Settings, directory: Directory, caplog: pytest.LogCaptureFixture
) -> None:
    set_up(settings, directory.environment(BENCHWEB_LDAP_BIND_PASSWORD="wrong"))  # pragma: allowlist secret
    assert log_in().status_code == 503
    assert "Invalid credentials" in caplog.text


def test_no_password_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    log_in()
    log_in(password="a wrong guess")  # pragma: allowlist secret
    assert PASSWORD not in caplog.text
    assert "a wrong guess" not in caplog.text


@pytest.mark.parametrize(
    ("values", "identifier"),
    [
        ({"LDAP_IS_INSTALLED": False}, "benchweb.E023"),
        ({"LDAP_URL": "ldap://ldap.example.org"}, "benchweb.E024"),
        ({"LDAP_URL": "https://ldap.example.org"}, "benchweb.E024"),
        ({"LDAP_URL": "ldaps://"}, "benchweb.E024"),
        ({"LDAP_USERS_DN": ""}, "benchweb.E025"),
        ({"LDAP_GROUP_CLASS": "crowd"}, "benchweb.E026"),
    ],
)
def test_a_setting_that_can_not_work_stops_the_start(
    settings: Settings, values: dict[str, Any], identifier: str
) -> None:
    settings.LDAP_URL, settings.LDAP_USERS_DN = "ldaps://ldap.example.org", f"ou=people,{SUFFIX}"
    assert settings_are_usable() == []
    for name, value in values.items():
        setattr(settings, name, value)
    assert [found.id for found in settings_are_usable()] == [identifier]


def test_the_checks_speak_of_pages_that_there_are() -> None:
    assert (Path(__file__).parents[3] / "docs" / "how-to" / "log-in.md").exists()
