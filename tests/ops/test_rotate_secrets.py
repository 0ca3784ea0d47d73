"""The secret key is replaced without losing an engine's token, a channel's secret, a share's link or a session."""

from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from benchweb.hosts.models import Endpoint
from benchweb.sharing.models import Share
from benchweb.sharing.selectors import share_path
from benchweb.sharing.services import share_create
from benchweb.site.mail import SiteEmailBackend, password_save
from benchweb.site.secrets import SecretUnreadable, decrypted, encrypted, is_of_present_key
from tests.factories import make_endpoint, make_run

FORMER, PRESENT = "f" * 40, "p" * 40

pytestmark = pytest.mark.django_db


def rotate() -> str:
    written = StringIO()
    call_command("rotate_secrets", stdout=written)
    return written.getvalue()


@pytest.fixture
def endpoint(settings: Settings) -> Endpoint:
    """An endpoint whose token was stored with the former key, which is now a fallback."""
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = FORMER, []
    stored = make_endpoint(token="t" * 64)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = PRESENT, [FORMER]
    return stored


def test_a_secret_of_a_former_key_is_read_and_then_rotated(endpoint: Endpoint, settings: Settings) -> None:
    assert decrypted(endpoint.token_encrypted) == "t" * 64
    assert "engine tokens: 1 rotated" in rotate()
    settings.SECRET_KEY_FALLBACKS = []
    endpoint.refresh_from_db()
    assert is_of_present_key(endpoint.token_encrypted)
    assert decrypted(endpoint.token_encrypted) == "t" * 64
    assert "engine tokens: 0 rotated" in rotate()


def test_what_no_key_reads_is_told_and_left(endpoint: Endpoint, settings: Settings) -> None:
    settings.SECRET_KEY_FALLBACKS = []
    before = bytes(Endpoint.objects.get().token_encrypted)
    with pytest.raises(CommandError, match="BENCHWEB_SECRET_KEY_FALLBACKS"):
        rotate()
    assert bytes(Endpoint.objects.get().token_encrypted) == before
    with pytest.raises(SecretUnreadable):
        decrypted(before)


def test_a_share_keeps_its_link(settings: Settings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = FORMER, []
    share_create(run=make_run(), user=None, expires_at=None, anonymise=False)
    link = share_path(Share.objects.get())
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = PRESENT, [FORMER]
    assert "share links: 1 rotated" in rotate()
    settings.SECRET_KEY_FALLBACKS = []
    assert share_path(Share.objects.get()) == link != ""


def test_the_mail_server_keeps_its_password(settings: Settings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = FORMER, []
    password_save("a word of mail")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = PRESENT, [FORMER]
    assert "password of the mail server: 1 rotated" in rotate()
    settings.SECRET_KEY_FALLBACKS = []
    assert SiteEmailBackend().password == "a word of mail"  # pragma: allowlist secret


def test_an_authenticator_app_and_recovery_codes_stay_good(settings: Settings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = FORMER, []
    ada = User.objects.create_user("ada")
    Authenticator.objects.create(user=ada, type="totp", data={"secret": encrypted("JBSWY3DP").decode()})
    codes = RecoveryCodes.activate(ada).generate_codes()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = PRESENT, [FORMER]
    assert "second factors: 2 rotated" in rotate()
    settings.SECRET_KEY_FALLBACKS = []
    assert decrypted(Authenticator.objects.get(type="totp").data["secret"].encode()) == "JBSWY3DP"
    assert Authenticator.objects.get(type="recovery_codes").wrap().generate_codes() == codes
    assert "second factors: 0 rotated" in rotate()


def test_who_is_logged_in_stays_so(client: Client, settings: Settings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = FORMER, []
    client.force_login(User.objects.create_user("ada"))
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = PRESENT, [FORMER]
    assert client.get("/account").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert client.get("/account").status_code == 200
