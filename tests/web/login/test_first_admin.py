"""The first admin of a new installation: made by a code that stands in the server's log only."""

import re
import threading
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import connection
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.login import first_admin
from benchweb.accounts.models import Role
from benchweb.accounts.permissions import Access, access_of
from benchweb.accounts.roles.grants import RoleError

pytestmark = pytest.mark.django_db
PASSWORD = "analytical-engine-1843"  # pragma: allowlist secret
SHORT = "short"
CHOSEN = {"name": "grace", "new_password1": PASSWORD, "new_password2": PASSWORD}


@pytest.fixture(autouse=True)
def fresh(settings: Settings) -> Iterator[None]:
    settings.DEFAULT_ROLE = "viewer"
    _forget_attempts()
    yield
    _forget_attempts()


def _forget_attempts() -> None:
    for name in ("default", "local"):
        caches[name].clear()


def logged_code(caplog: pytest.LogCaptureFixture) -> str:
    found = re.search(r"Open \S*/first-admin and enter the code (\S+)", caplog.text)
    assert found
    return found[1]


def test_a_new_site_leads_to_the_page_whose_code_is_in_the_log_alone(caplog: pytest.LogCaptureFixture) -> None:
    client = Client()
    assert client.get("/login").headers["Location"] == "/first-admin"
    page = client.get("/first-admin")
    code = logged_code(caplog)
    assert len(code) == 23 and code not in page.content.decode()
    answer = client.post("/first-admin", CHOSEN | {"code": f" {code.replace('-', ' ').upper()} "})
    assert answer.headers["Location"] == "/"
    grace = User.objects.get()
    assert (grace.username, access_of(grace), grace.check_password(PASSWORD)) == ("grace", Access(Role.ADMIN), True)
    assert client.get("/users").status_code == 200
    for method in (Client().get, Client().post):
        assert method("/first-admin", CHOSEN | {"code": code, "name": "eve"}).status_code == 404
    assert Client().get("/login").status_code == 200
    assert User.objects.count() == 1
    assert not any(code in str(entry.changes) for entry in AuditEntry.objects.all())


@pytest.mark.usefixtures("one_window")
def test_a_wrong_code_makes_nobody_and_is_tried_ten_times_at_most() -> None:
    client = Client()
    wrong = CHOSEN | {"code": "aaaaa-bbbbb-ccccc-ddddd"}
    statuses = [client.post("/first-admin", wrong).status_code for _ in range(11)]
    assert statuses == [200] * 10 + [429]
    right = CHOSEN | {"code": first_admin.code()}
    assert client.post("/first-admin", right).status_code == 429
    assert not User.objects.exists()
    assert client.post("/first-admin", right, REMOTE_ADDR="192.0.2.7").status_code == 302


def test_a_weak_password_keeps_the_code_good() -> None:
    weak = CHOSEN | {"code": first_admin.code(), "new_password1": SHORT, "new_password2": SHORT}
    for _ in range(12):
        assert "This password is too short" in Client().post("/first-admin", weak).content.decode()
    assert Client().post("/first-admin", CHOSEN | {"code": first_admin.code()}).status_code == 302


def test_another_secret_key_has_another_code(settings: Settings) -> None:
    code = first_admin.code()
    settings.SECRET_KEY = settings.SECRET_KEY[::-1]
    assert first_admin.code() != code and not first_admin.is_code(code)


def test_the_demo_has_no_such_page_and_its_account_is_no_admin_without_it(settings: Settings) -> None:
    User.objects.create_superuser("demo")
    assert Client().get("/first-admin").status_code == 200
    assert Client().get("/login").headers["Location"] == "/first-admin"
    settings.DEMO = True
    assert Client().get("/first-admin").status_code == 404
    assert Client().get("/login").status_code == 200


def test_where_somebody_else_vouches_for_users_the_page_of_log_in_stays(settings: Settings) -> None:
    settings.LOGIN_PROXY_HEADER = "X-Forwarded-User"
    assert Client().get("/login").status_code == 200
    assert Client().get("/first-admin").status_code == 200


def test_users_without_an_admin_still_log_in_and_the_code_still_makes_one() -> None:
    User.objects.create_user("vera")
    assert Client().get("/login").status_code == 200
    assert Client().post("/first-admin", CHOSEN | {"code": first_admin.code()}).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_becomes_the_admin() -> None:
    ready, refused = threading.Barrier(2), []

    def create(name: str) -> None:
        ready.wait()
        try:
            first_admin.first_admin_create(name=name, password=PASSWORD)
        except RoleError as error:
            refused.append(error.message)
        finally:
            connection.close()

    threads = [threading.Thread(target=create, args=[name]) for name in ("ann", "ben")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert User.objects.count() == 1
    assert refused == ["There is an admin already."]
