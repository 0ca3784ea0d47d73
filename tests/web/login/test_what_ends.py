"""What a stolen password left behind ends with it: sessions, API tokens and passkeys, whichever way it is replaced."""

from collections.abc import Callable

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.cache import caches
from django.test import Client
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from benchweb.accounts import throttle
from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.credentials import credentials_end, credentials_of
from benchweb.accounts.models import Grant, Role, UserSession
from benchweb.accounts.services import token_create, token_user
from tests.web.second_factors.apps import code

pytestmark = pytest.mark.django_db
OLD, NEW = "a password of ada's", "another one, and long"
FORM = {"new_password1": NEW, "new_password2": NEW}


@pytest.fixture(autouse=True)
def uncounted() -> None:
    for name in ("default", "local"):
        caches[name].clear()


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", "ada@example.org", OLD)


@pytest.fixture
def by_admin() -> Client:
    admin = User.objects.create_user("root")
    Grant.objects.create(user=admin, role=Role.ADMIN)
    client = Client()
    client.force_login(admin)
    return client


def intrude(user: User) -> str:
    """Leave a session, a token and a passkey behind; return the token's secret."""
    Client().force_login(user)
    kind = Authenticator.Type.WEBAUTHN
    Authenticator.objects.create(user=user, type=kind, data={"name": "key of a stranger", "credential": {}})
    RecoveryCodes.activate(user)
    return token_create(user=user, name="stranger")[1]


def by_own_change(_admin: Client, user: User) -> tuple[str, Callable[[], object]]:
    client = Client()
    client.force_login(user)
    page = client.get("/account/password").content.decode()
    return page, lambda: client.post("/account/password", {"old_password": OLD, **FORM})


def by_admins_link(admin: Client, user: User) -> tuple[str, Callable[[], object]]:
    link = admin.post(f"/users/{user.pk}/link").context["link"]
    path = link.partition("testserver")[2]
    return Client().get(path).content.decode(), lambda: Client().post(path, FORM)


def by_deactivation(admin: Client, user: User) -> tuple[str, Callable[[], object]]:
    path = f"/users/{user.pk}/deactivate"
    return admin.get(path).content.decode(), lambda: admin.post(path)


@pytest.mark.parametrize("way", [by_own_change, by_admins_link, by_deactivation])
def test_all_that_is_shown_ends(
    way: Callable[[Client, User], tuple[str, Callable[[], object]]], by_admin: Client, ada: User
) -> None:
    secret = intrude(ada)
    assert token_user(secret=secret) == ada
    page, do = way(by_admin, ada)
    assert "key of a stranger" in page
    assert "stranger (<code>bw_" in page
    do()
    assert token_user(secret=secret) is None
    assert not Authenticator.objects.filter(user=ada).exists()
    assert UserSession.objects.filter(user=ada).count() <= 1
    assert AuditEntry.objects.filter(table="mfa_authenticator", action="deleted").count() == 2
    revoked = AuditEntry.objects.get(table="accounts_apitoken", action="changed")
    assert (revoked.object_name, "revoked_at" in revoked.changes) == ("stranger", True)


def mailed_link(user: User) -> str:
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return f"/login/new-password/{uid}/{default_token_generator.make_token(user)}"


def test_a_mailed_link_ends_all_too(ada: User) -> None:
    secret = token_create(user=ada, name="stranger")[1]
    Client().force_login(ada)
    client = Client()
    page = client.get(mailed_link(ada), follow=True)
    assert "stranger (<code>bw_" in page.content.decode()
    client.post(page.redirect_chain[-1][0], FORM)
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    assert token_user(secret=secret) is None
    assert not UserSession.objects.filter(user=ada).exists()


def test_a_mailbox_alone_is_not_two_factors(ada: User) -> None:
    secret = "JBSWY3DPEHPK3PXP"  # pragma: allowlist secret
    TOTP.activate(ada, secret)
    client = Client()
    page = client.get(mailed_link(ada), follow=True).redirect_chain[-1][0]
    for wrong in ({}, {"code": "000000"}):
        assert client.post(page, FORM | wrong).status_code == 200
        assert User.objects.get(pk=ada.pk).check_password(OLD)
    assert client.post(page, FORM | {"code": code(secret)})["Location"] == "/login"
    assert User.objects.get(pk=ada.pk).check_password(NEW)
    # The app is asked for at the log-in, as before.
    answer = Client().post("/login", {"username": "ada", "password": NEW})
    assert answer["Location"] == "/login/code"


def test_who_guesses_codes_keeps_nobody_from_another_password(ada: User) -> None:
    secret = "JBSWY3DPEHPK3PXP"  # pragma: allowlist secret
    TOTP.activate(ada, secret)
    guessing = Client()
    guessing.post("/login", {"username": "ada", "password": OLD})
    for number in range(throttle.FACTOR_ATTEMPTS):
        guessing.post("/login/code", {"code": f"{number:06}"})
    assert throttle.begin_factor("ada")
    client = Client()
    page = client.get(mailed_link(ada), follow=True).redirect_chain[-1][0]
    assert client.post(page, FORM | {"code": code(secret)})["Location"] == "/login"
    # The log-in doesn't wait for what came after the former password.
    assert throttle.begin_factor("ada") == 0


@pytest.mark.parametrize("way", [by_own_change, by_admins_link])
def test_waits_for_codes_end_with_the_password_that_was_known(
    way: Callable[[Client, User], tuple[str, Callable[[], object]]], by_admin: Client, ada: User
) -> None:
    for _ in range(throttle.FACTOR_ATTEMPTS + 1):
        throttle.begin_factor("ada")
    assert throttle.begin_factor("ada")
    _page, do = way(by_admin, ada)
    do()
    assert throttle.begin_factor("ada") == 0


def test_a_log_in_begun_with_the_former_password_goes_no_further(ada: User) -> None:
    secret = "JBSWY3DPEHPK3PXP"  # pragma: allowlist secret
    TOTP.activate(ada, secret)
    begun = Client()
    assert begun.post("/login", {"username": "ada", "password": OLD})["Location"] == "/login/code"
    ada.set_password(NEW)
    ada.save()
    credentials_end(user=ada)
    page = begun.post("/login/code", {"code": code(secret)}, follow=True)
    assert page.redirect_chain == [("/login", 302)]
    assert "The password was changed in the meantime: log in anew." in page.content.decode()
    assert not UserSession.objects.filter(user=ada).exists()
    assert begun.post("/login", {"username": "ada", "password": NEW})["Location"] == "/login/code"
    assert begun.post("/login/code", {"code": code(secret)})["Location"] == "/"


def test_codes_at_a_mailed_link_are_few(ada: User) -> None:
    secret = "JBSWY3DPEHPK3PXP"  # pragma: allowlist secret
    TOTP.activate(ada, secret)
    client = Client()
    page = client.get(mailed_link(ada), follow=True).redirect_chain[-1][0]
    for number in range(throttle.FACTOR_ATTEMPTS):
        client.post(page, FORM | {"code": f"{number:06}"})
    assert client.post(page, FORM | {"code": code(secret)}).status_code == 200
    assert User.objects.get(pk=ada.pk).check_password(OLD)


def test_who_knows_what_they_made_keeps_it(ada: User) -> None:
    secret = intrude(ada)
    client = Client()
    client.force_login(ada)
    client.post("/account/password", {"old_password": OLD, **FORM, "keep_tokens": "on", "keep_passkeys": "on"})
    assert token_user(secret=secret) == ada
    assert [passkey.wrap().name for passkey in credentials_of(ada).passkeys] == ["key of a stranger"]
    assert UserSession.objects.filter(user=ada).count() == 1
