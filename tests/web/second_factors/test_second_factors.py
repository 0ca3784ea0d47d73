"""Authenticator apps and recovery codes: asked for at each log-in, guessed by nobody, encrypted at rest."""

import base64
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.core import context as allauth_context
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.views import AddWebAuthnView, LoginWebAuthnView, ReauthenticateWebAuthnView
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.cache.backends import base as base_cache
from django.core.cache.backends import locmem
from django.test import Client, RequestFactory
from pytest_django import Settings

from benchweb.accounts import throttle
from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.login import password_reset
from benchweb.accounts.models import UserSession
from benchweb.accounts.preferences import preferences_save
from benchweb.web.second_factors.forms import CodePasskeyForm, ConfirmPasskeyForm, LoginPasskeyForm, NewPasskeyForm
from tests.notifications.receivers import MailServer, body_of
from tests.web.second_factors.apps import code

pytestmark = pytest.mark.django_db
PASSWORD = "a password of ada's"  # pragma: allowlist secret


@pytest.fixture(autouse=True)
def uncounted() -> None:
    for name in ("default", "local"):
        caches[name].clear()


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password=PASSWORD)


def first_step(client: Client, query: str = "") -> str:
    return str(client.post(f"/login{query}", {"username": "ada", "password": PASSWORD})["Location"])


def confirmed(client: Client) -> Client:
    """Enter the password once more, as pages that change factors ask."""
    assert client.get("/account/factors/app/add")["Location"].startswith("/account/confirm?next=")
    answer = client.post("/account/confirm", {"password": PASSWORD, "next": "/account/factors/app/add"})
    assert answer["Location"] == "/account/factors/app/add"
    return client


def set_up(client: Client) -> str:
    """Set up an app; return its key."""
    page = client.get("/account/factors/app/add").content.decode()
    found = re.search(r'<code id="totp-key">(\w+)</code>', page)
    assert found
    # An earlier period's, so that the present one is left for the test.
    answer = client.post("/account/factors/app/add", {"code": code(found[1], periods_later=-1)})
    assert answer["Location"] == "/account/factors/recovery-codes"
    return found[1]


@pytest.fixture
def key(ada: User) -> str:
    client = Client()
    first_step(client)
    return set_up(confirmed(client))


def recovery_codes(client: Client) -> list[str]:
    page = client.get("/account/factors/recovery-codes").content.decode()
    return re.findall(r"<li><code>(\d{8})</code></li>", page)


def is_in(client: Client) -> bool:
    return client.get("/hosts").status_code == 200


def test_the_password_alone_opens_nothing_and_the_code_leads_where_they_wanted(key: str) -> None:
    client = Client()
    assert first_step(client, "?next=/hosts") == "/login/code"
    assert not is_in(client)
    before = client.cookies["sessionid"].value
    assert client.post("/login/code", {"code": code(key)})["Location"] == "/hosts"
    assert is_in(client)
    assert client.cookies["sessionid"].value != before
    session = UserSession.objects.get(session_key=client.session.session_key)
    assert (session.user, session.address) == (User.objects.get(), "127.0.0.1")


def test_a_code_is_good_once(key: str) -> None:
    for expected in (True, False):
        client = Client()
        first_step(client)
        client.post("/login/code", {"code": code(key)})
        assert is_in(client) is expected


@pytest.mark.parametrize("periods_later", [-3, 3])
def test_a_code_of_another_time_is_refused(key: str, periods_later: int) -> None:
    client = Client()
    first_step(client)
    page = client.post("/login/code", {"code": code(key, periods_later=periods_later)}).content.decode()
    assert "This code or passkey is wrong, or was used already." in page
    assert not is_in(client)
    assert AuditEntry.objects.filter(action="login_failed", user_name="ada").count() == 1


@pytest.mark.usefixtures("one_window")
def test_guessing_stops_after_ten_codes_from_wherever(key: str) -> None:
    client = Client()
    first_step(client)
    for number in range(throttle.FACTOR_ATTEMPTS):
        client.post("/login/code", {"code": f"{number:06}"}, REMOTE_ADDR=f"192.0.2.{number}")
    page = client.post("/login/code", {"code": code(key)}, follow=True).content.decode()
    assert "Too many failed log-ins." in page
    assert not is_in(client)


def test_the_second_step_needs_the_first(key: str) -> None:
    client = Client()
    assert client.get("/login/code")["Location"] == "/login"
    assert client.post("/login/code", {"code": code(key)})["Location"] == "/login"
    assert not is_in(client)


def test_who_is_deactivated_between_the_steps_stays_out(key: str) -> None:
    client = Client()
    first_step(client)
    User.objects.update(is_active=False)
    client.post("/login/code", {"code": code(key)})
    assert not is_in(client)


def test_a_recovery_code_works_once_in_place_of_the_app(key: str) -> None:
    client = Client()
    first_step(client)
    client.post("/login/code", {"code": code(key)})
    client.post("/account/confirm", {"password": PASSWORD})
    codes = recovery_codes(client)
    assert len(set(codes)) == 10
    for expected in (True, False):
        other = Client()
        first_step(other)
        other.post("/login/code", {"code": codes[0]})
        assert is_in(other) is expected
    assert len(recovery_codes(client)) == 9
    client.post("/account/factors/recovery-codes/new")
    assert not set(recovery_codes(client)) & set(codes)


def test_factors_are_changed_only_by_who_confirms_it(key: str) -> None:
    client = Client()
    first_step(client)
    client.post("/login/code", {"code": code(key)})
    for path in ("app/remove", "recovery-codes", "recovery-codes/new", "passkeys/add"):
        assert "/account/confirm" in client.get(f"/account/factors/{path}")["Location"]
    assert "/account/confirm" in client.post("/account/factors/app/remove")["Location"]
    assert Authenticator.objects.filter(type="totp").exists()
    wrong = client.post("/account/confirm", {"password": "wrong"}).content.decode()  # pragma: allowlist secret
    assert "Confirm that it is you" in wrong
    client.post("/account/confirm", {"password": PASSWORD})
    page = client.post("/account/factors/app/remove", follow=True).content.decode()
    assert "The authenticator app is removed." in page
    assert not Authenticator.objects.exists()
    assert first_step(Client()) == "/"


def test_nobody_shows_or_removes_the_factors_of_another(key: str) -> None:
    eve = Client()
    eve.force_login(User.objects.create_user("eve", password=PASSWORD))
    eve.post("/account/confirm", {"password": PASSWORD})
    assert eve.get("/account/factors/recovery-codes").status_code == 404
    assert eve.get("/account/factors/app/remove").status_code == 404
    number = Authenticator.objects.filter(type="totp").get().pk
    assert eve.post(f"/account/factors/passkeys/{number}/remove").status_code == 404
    assert Authenticator.objects.count() == 2


def test_secrets_are_encrypted_at_rest_and_read_with_a_former_key(key: str, settings: Settings) -> None:
    stored = str(Authenticator.objects.values_list("data", flat=True))
    assert key not in stored
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "n" * 40
    client = Client()
    first_step(client)
    client.post("/login/code", {"code": code(key)})
    assert is_in(client)


def test_a_change_of_factors_is_in_the_audit_log_without_the_secret(key: str) -> None:
    entries = AuditEntry.objects.filter(table="mfa_authenticator", action="created", user_name="ada")
    assert entries.count() == 2
    assert all(entry.changes["data"] == [None, "…"] for entry in entries)


def test_who_has_no_password_adds_a_first_factor_right_after_a_log_in_only() -> None:
    client = Client()
    client.force_login(User.objects.create_user("lin"))
    assert client.get("/account/factors/app/add").status_code == 200
    session = client.session
    session["logged_in_at"] = "2026-01-01T00:00:00+00:00"
    session.save()
    page = client.get("/account/factors/app/add", follow=True).content.decode()
    assert "Log out and in again first" in page


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example"])
def test_nobody_is_led_to_another_site(key: str, target: str) -> None:
    client = Client()
    client.post("/login", {"username": "ada", "password": PASSWORD, "next": target})
    assert client.post("/login/code", {"code": code(key)})["Location"] == "/"
    answer = client.post("/account/confirm", {"password": PASSWORD, "next": target})
    assert answer["Location"] == "/"


def test_a_made_up_passkey_logs_nobody_in(ada: User) -> None:
    client = Client()
    client.get("/login/passkey", headers={"X-Requested-With": "XMLHttpRequest"})
    for credential in ("", "{}", "[]", '{"response": {"userHandle": "MQ"}}', "not JSON"):
        assert client.post("/login/passkey", {"credential": credential})["Location"] == "/login"
        assert not is_in(client)


def websafe(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def made_up_passkey(kind: str) -> dict[str, Any]:
    """Return a passkey as a browser sends it, whose parts say nothing."""
    said = {"type": f"webauthn.{kind}", "challenge": websafe(b"x" * 32), "origin": "https://bench.example.org"}
    parts: dict[str, dict[str, Any]] = {
        "get": {"authenticatorData": websafe(b"\0" * 32 + b"\x05\0\0\0\1"), "signature": "AA", "userHandle": "MQ"},
        "create": {"attestationObject": websafe(b"\xa1" * 80), "transports": ["usb"]},
    }
    response = {"clientDataJSON": websafe(json.dumps(said).encode()), **parts[kind]}
    return {"id": "aWQ", "rawId": "aWQ", "type": "public-key", "response": response, "clientExtensionResults": {}}


def spoilt(passkey: dict[str, Any], random: Random) -> Any:
    """Take some parts of a passkey away, or put others in their place."""
    others: list[Any] = [None, 1, 1.5, "", "é", "A", [], {}, [1], websafe(b"[1]"), websafe(b"\xff" * 37)]
    for _ in range(random.randint(1, 3)):
        inner = passkey.get("response")
        part = random.choice([passkey, inner]) if inner and isinstance(inner, dict) else passkey
        name = random.choice(sorted(part))
        if random.random() < 0.4 and len(part) > 1:
            del part[name]
        else:
            part[name] = random.choice(others)
    return passkey


@pytest.mark.parametrize("seed", range(3))
def test_no_text_of_any_shape_in_a_passkeys_place_is_a_fault_of_ours(ada: User, seed: int) -> None:
    random, factory = Random(seed), RequestFactory()
    request = factory.get("/")
    request.session = Client().session
    with allauth_context.request_context(request):
        for _ in range(300):
            shown = json.dumps(spoilt(made_up_passkey("get"), random))
            assert not LoginPasskeyForm(data={"credential": shown}).is_valid()
            assert not CodePasskeyForm(user=ada, data={"credential": shown}).is_valid()
            made = json.dumps(spoilt(made_up_passkey("create"), random))
            assert not NewPasskeyForm(user=ada, data={"credential": made}).is_valid()


def test_every_form_that_reads_a_passkey_is_ours() -> None:
    assert LoginWebAuthnView().get_form_class() is LoginPasskeyForm
    assert ReauthenticateWebAuthnView().get_form_class() is ConfirmPasskeyForm
    assert AddWebAuthnView().get_form_class() is NewPasskeyForm
    assert AuthenticateView().get_webauthn_form_class() is CodePasskeyForm


class Clock:
    """The throttle's, which a test sets; the cache's own can't be, so keys that time out are dropped by it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = time.time()
        monkeypatch.setattr(locmem, "time", SimpleNamespace(time=lambda: self.now))
        monkeypatch.setattr(base_cache, "time", SimpleNamespace(time=lambda: self.now))
        monkeypatch.setattr(throttle, "time", SimpleNamespace(time=lambda: self.now, monotonic=time.monotonic))
        monkeypatch.setattr(throttle, "_local_until", time.monotonic() + 3_600)


def test_each_wrong_code_after_the_tenth_doubles_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waits = Clock(monkeypatch), []
    assert [throttle.begin_factor("ada") for _ in range(throttle.FACTOR_ATTEMPTS)] == [0] * throttle.FACTOR_ATTEMPTS
    for _ in range(12):
        wait = throttle.begin_factor("ada")
        # Those in between don't count.
        assert throttle.begin_factor("ADA") == wait
        waits.append(round(wait / 60))
        clock.now += wait + 1
        assert throttle.begin_factor("ada") == 0
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360, 360]
    assert throttle.begin_factor("bob") == 0
    throttle.factor_succeeded("ada")
    assert [throttle.begin_factor("ada") for _ in range(throttle.FACTOR_ATTEMPTS)] == [0] * throttle.FACTOR_ATTEMPTS


def test_of_many_codes_at_once_ten_are_looked_at() -> None:
    with ThreadPoolExecutor(20) as many:
        answers = list(many.map(lambda _: throttle.begin_factor("ada"), range(60)))
    assert answers.count(0) == throttle.FACTOR_ATTEMPTS


def test_wrong_codes_after_the_right_password_are_told_to_the_user_once(
    key: str, ada: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send(task: str, user_id: int, address: str) -> bool:
        assert task == "workers.tasks.mail_factor_warning"
        password_reset.factor_warning_mail(user_id, address)
        return True

    monkeypatch.setattr(password_reset, "send", send)
    User.objects.filter(pk=ada.pk).update(email="ada@example.org")
    preferences_save(user=ada, time_zone="", language="zh-hans", theme="")
    client = Client()
    first_step(client)
    with MailServer() as server:
        settings.EMAIL_BACKEND = "benchweb.site.mail.SiteEmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.PUBLIC_URL = "https://bench.example.org"
        for number in range(throttle.TOLD_FACTORS + 4):
            client.post("/login/code", {"code": f"{number:06}"}, REMOTE_ADDR="192.0.2.7")
            assert len(server.mails) == (number + 1 >= throttle.TOLD_FACTORS)
        body = body_of(server.mails[0], "plain")
    assert "有人从 192.0.2.7 输入了您的账户 ada 的正确密码" in body
    assert "https://bench.example.org/account/password" in body
