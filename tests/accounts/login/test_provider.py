"""Log-in by a real OpenID provider: code flow with PKCE, accounts by identity, roles by groups, nothing planted."""

import logging
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Role, UserSession
from benchweb.accounts.permissions import access_of
from benchweb.login_settings import oidc_provider
from benchweb.ops.settings_checks import settings_are_usable
from tests.accounts.login.openid import Provider
from tests.accounts.login.provider import CLIENT_SECRET
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    running = Provider.start(tmp_path_factory.mktemp("provider"))
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def set_up(provider: Provider, settings: Settings) -> None:
    use(provider.environment(), settings)
    settings.DEFAULT_ROLE = "viewer"


def use(environment: dict[str, str], settings: Settings) -> None:
    settings.OIDC_URL, settings.OIDC_NAME = environment["BENCHWEB_OIDC_URL"], environment["BENCHWEB_OIDC_NAME"]
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": oidc_provider(environment)}


def leave(client: Client, query: str = "") -> str:
    """Press the button of the log-in page; return where it leads."""
    return str(client.get(f"/login/provider{query}")["Location"])


def come_back(client: Client, address: str) -> str:
    """Follow the provider's answer; return where that leads."""
    parts = urlsplit(address)
    return str(client.get(f"{parts.path}?{parts.query}")["Location"])


def log_in(provider: Provider, name: str, client: Client | None = None) -> str:
    client = client or Client()
    return come_back(client, provider.sign_in(leave(client), name))


def refusal(client: Client) -> str:
    return client.get("/login").content.decode()


def test_whoever_the_provider_knows_is_in_and_has_an_account_from_then_on(provider: Provider) -> None:
    client = Client()
    assert "Log in with Example SSO" in client.get("/login?next=/hosts").content.decode()
    address = provider.sign_in(leave(client, "?next=/hosts"), "ada")
    assert come_back(client, address) == "/hosts"
    assert client.get("/hosts").status_code == 200
    ada = User.objects.get()
    assert (ada.username, ada.email, ada.has_usable_password()) == ("ada", "ada@example.org", False)
    assert UserSession.objects.get(user=ada).address == "127.0.0.1"
    assert AuditEntry.objects.get(action="logged_in").user_name == "ada"
    assert log_in(provider, "ada") == "/"
    assert User.objects.count() == SocialAccount.objects.count() == 1


def test_the_request_binds_the_answer_to_the_session_and_to_the_client(provider: Provider) -> None:
    asked = {name: values[0] for name, values in parse_qs(urlsplit(leave(Client())).query).items()}
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    assert asked["redirect_uri"] == "http://testserver/login/provider/callback"
    assert len(asked["state"]) >= 16
    assert set(asked["scope"].split()) == {"openid", "profile", "email"}
    assert CLIENT_SECRET not in leave(Client())


def test_roles_come_with_each_log_in(provider: Provider, settings: Settings) -> None:
    # The last admin would stay one.
    User.objects.create_superuser("root")
    settings.GROUP_ROLES = {"netops": "operator", "leads": "admin"}
    for name in ("ada", "bob"):
        log_in(provider, name)
    roles = {user.username: access_of(user).everywhere for user in User.objects.exclude(username="root")}
    assert roles == {"ada": Role.ADMIN, "bob": Role.OPERATOR}
    settings.GROUP_ROLES = {"leads": "editor"}
    for name in ("ada", "bob"):
        log_in(provider, name)
    roles = {user.username: access_of(user).everywhere for user in User.objects.exclude(username="root")}
    assert roles == {"ada": Role.EDITOR, "bob": Role.VIEWER}


def test_who_takes_anothers_name_at_the_provider_does_not_get_their_account(
    provider: Provider, settings: Settings
) -> None:
    log_in(provider, "ada")
    settings.TRUST_NAMES = True
    client = Client()
    assert log_in(provider, "eve", client) == "/login"
    assert "There is no account for ada that may be opened this way." in refusal(client)
    assert SocialAccount.objects.count() == 1
    assert AuditEntry.objects.get(action="login_failed").user_name == "ada"


@pytest.mark.parametrize("has_password", [True, False])
def test_an_account_that_was_there_before_is_opened_only_where_names_are_trusted(
    provider: Provider, settings: Settings, has_password: bool
) -> None:
    user = make_user("Ada", "a password of hers") if has_password else User.objects.create_user("Ada")
    assert log_in(provider, "ada") == "/login"
    assert not UserSession.objects.filter(user=user).exists()
    settings.TRUST_NAMES = True
    assert log_in(provider, "ada") == "/"
    assert SocialAccount.objects.get().user == user
    assert User.objects.count() == 1


def test_a_name_that_no_account_can_have_is_refused(provider: Provider) -> None:
    assert log_in(provider, "odd") == "/login"
    assert not User.objects.exists()


def test_where_accounts_are_not_made_newcomers_are_refused(provider: Provider, settings: Settings) -> None:
    settings.CREATE_USERS = False
    assert log_in(provider, "ada") == "/login"
    assert not User.objects.exists()


def test_who_is_deactivated_here_stays_out(provider: Provider) -> None:
    client = Client()
    log_in(provider, "ada", client)
    User.objects.update(is_active=False)
    assert client.get("/hosts").status_code == 302
    assert log_in(provider, "ada", client) == "/login"
    assert "This account is deactivated." in refusal(client)


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "http:evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_nobody_is_led_to_another_site(provider: Provider, target: str) -> None:
    client = Client()
    address = provider.sign_in(leave(client, f"?next={target}"), "ada")
    assert come_back(client, address) == "/"


def test_an_answer_that_another_browser_asked_for_logs_nobody_in(provider: Provider) -> None:
    thief, victim = Client(), Client()
    address = provider.sign_in(leave(thief), "eve")
    leave(victim)
    assert come_back(victim, address) == "/login"
    assert "The log-in by Example SSO failed." in refusal(victim)
    assert victim.get("/hosts").status_code == 302
    assert not User.objects.exists()


def test_an_answer_is_good_once(provider: Provider) -> None:
    client = Client()
    address = provider.sign_in(leave(client), "ada")
    assert come_back(client, address) == "/"
    client.post("/logout")
    assert come_back(client, address) == "/login"


def test_the_session_key_from_before_is_not_the_one_that_is_logged_in(provider: Provider) -> None:
    client = Client()
    address = provider.sign_in(leave(client), "ada")
    before = client.cookies["sessionid"].value
    come_back(client, address)
    assert client.cookies["sessionid"].value != before
    planted = Client()
    planted.cookies["sessionid"] = before
    assert planted.get("/hosts").status_code == 302


@pytest.mark.parametrize(
    "query", ["", "?error=access_denied", "?code=x", "?code=x&state=y", "?error=server_error&state=y"]
)
def test_a_made_up_answer_leads_back_to_the_log_in_page(query: str) -> None:
    assert come_back(Client(), f"http://testserver/login/provider/callback{query}") == "/login"


def test_a_wrong_secret_and_a_provider_that_is_away_are_said(provider: Provider, settings: Settings) -> None:
    use(provider.environment(BENCHWEB_OIDC_CLIENT_SECRET="wrong"), settings)  # pragma: allowlist secret
    client = Client()
    assert log_in(provider, "ada", client) == "/login"
    assert "The log-in by Example SSO failed." in refusal(client)
    use(provider.environment(BENCHWEB_OIDC_URL="http://127.0.0.1:1"), settings)
    assert leave(client) == "/login"
    assert "Example SSO can&#x27;t be reached." in refusal(client)


def test_no_code_token_or_secret_is_logged(provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    client = Client()
    address = provider.sign_in(leave(client), "ada")
    come_back(client, address)
    come_back(client, address)
    assert parse_qs(urlsplit(address).query)["code"][0] not in caplog.text
    assert CLIENT_SECRET not in caplog.text


def test_without_a_provider_its_addresses_are_none(settings: Settings) -> None:
    settings.OIDC_URL = ""
    client = Client()
    assert [client.get(f"/login/provider{path}").status_code for path in ("", "/callback")] == [404, 404]
    assert "Log in with Example SSO" not in client.get("/login").content.decode()


@pytest.mark.parametrize(
    ("values", "identifier"),
    [
        ({"OIDC_URL": "http://sso.example.org"}, "benchweb.E027"),
        ({"OIDC_URL": "sso.example.org"}, "benchweb.E027"),
        ({"OIDC_CLIENT_ID": ""}, "benchweb.E028"),
    ],
)
def test_a_setting_that_can_not_work_stops_the_start(
    settings: Settings, values: dict[str, str], identifier: str
) -> None:
    settings.OIDC_URL, settings.OIDC_CLIENT_ID = "https://sso.example.org/realms/lab", "benchweb"
    assert settings_are_usable() == []
    for name, value in values.items():
        setattr(settings, name, value)
    assert [found.id for found in settings_are_usable()] == [identifier]
