"""A forgotten password: a link by a real mail server, to the right mailbox, once."""

import logging
import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.cache import caches
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from benchweb.accounts import throttle
from benchweb.accounts.login import password_reset
from benchweb.accounts.models import UserSession
from tests.notifications.receivers import MailServer, body_of

pytestmark = pytest.mark.django_db
PASSWORD, NEW = "a password of ada's", "another one, and long"
SENT = "If an account has this address, a mail with a link is on its way."
_LINK = re.compile(r"https://bench\.example\.org(/login/new-password/\S+)")


@pytest.fixture(autouse=True)
def uncounted() -> None:
    for name in ("default", "local"):
        caches[name].clear()


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Do at once what a worker does; return what it was given."""
    requests: list[tuple[str, str]] = []

    def send(task: str, email: str, language: str) -> bool:
        assert task == "workers.tasks.mail_password_reset"
        requests.append((email, language))
        password_reset.reset_mail(email, language)
        return True

    monkeypatch.setattr(password_reset, "send", send)
    return requests


@pytest.fixture
def mail_server(settings: Settings) -> Iterator[MailServer]:
    with MailServer() as server:
        settings.EMAIL_BACKEND = "benchweb.site.mail.SiteEmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.PUBLIC_URL = "https://bench.example.org"
        yield server


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", "ada@example.org", PASSWORD)


def request_link(email: str = "ada@example.org", **headers: str) -> str:
    return Client(headers=headers).post("/login/forgotten", {"email": email}, follow=True).content.decode()


def without_token(page: str) -> str:
    return re.sub(r'(csrfmiddlewaretoken" value="|X-CSRFToken": ")\w+', r"\1", page)


def link_in(server: MailServer) -> str:
    [mail] = server.mails
    found = _LINK.search(body_of(mail, "plain"))
    assert found
    return found[1]


def set_password(link: str, password: str = NEW, client: Client | None = None) -> str:
    """Follow a link as a browser does: its token goes into the session, and the page has an address without it."""
    client = client or Client()
    page = client.get(link, follow=True)
    [(address, _status)] = page.redirect_chain or [(link, 0)]
    form = {"new_password1": password, "new_password2": password}
    return client.post(address, form, follow=True).content.decode()


def is_let_in(password: str) -> bool:
    return Client().post("/login", {"username": "ada", "password": password}).status_code == 302


def test_the_log_in_page_offers_a_link_only_where_mail_can_be_sent(
    ada: User, mail_server: MailServer, settings: Settings
) -> None:
    assert "/login/forgotten" in Client().get("/login").content.decode()
    settings.PUBLIC_URL = ""
    assert "/login/forgotten" not in Client().get("/login").content.decode()
    assert Client().get("/login/forgotten").status_code == 404


def test_a_mailed_link_sets_a_new_password_once_and_ends_all_sessions(ada: User, mail_server: MailServer) -> None:
    browser = Client()
    browser.force_login(ada)
    assert SENT in request_link("ADA@example.org")
    [mail] = mail_server.mails
    assert (mail["To"], mail["Subject"]) == ("ada@example.org", "New password for benchweb")
    assert "the account ada" in body_of(mail, "plain")
    link = link_in(mail_server)
    assert "The password is changed. Log in with it." in set_password(link)
    assert browser.get("/").status_code == 302
    assert not UserSession.objects.filter(user=ada).exists()
    assert (is_let_in(PASSWORD), is_let_in(NEW)) == (False, True)
    assert "This link was used already" in set_password(link, "a third one of ada's")
    assert is_let_in(NEW)


def test_the_answer_is_the_same_for_an_address_that_nobody_has(
    ada: User, mail_server: MailServer, asked: list[tuple[str, str]]
) -> None:
    assert without_token(request_link("eve@example.org")) == without_token(request_link())
    assert [email for email, _language in asked] == ["eve@example.org", "ada@example.org"]
    assert [mail["To"] for mail in mail_server.mails] == ["ada@example.org"]


@pytest.mark.parametrize("password", [None, ""])
def test_an_account_that_is_inactive_or_has_no_password_gets_no_link(
    mail_server: MailServer, password: str | None
) -> None:
    user = User.objects.create_user("lin", "lin@example.org", password)
    if password is not None:
        User.objects.filter(pk=user.pk).update(is_active=False)
    assert SENT in request_link("lin@example.org")
    assert mail_server.mails == []


def test_the_link_begins_with_the_set_address_whatever_the_request_says(
    ada: User, mail_server: MailServer, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    request_link(host="evil.example", x_forwarded_host="evil.example")
    assert "evil.example" not in body_of(mail_server.mails[0], "plain")
    assert link_in(mail_server)


def test_a_link_is_good_for_an_hour(ada: User, mail_server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    request_link()
    later = timezone.localtime().replace(tzinfo=None) + timedelta(hours=1, seconds=5)
    monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda _self: later)
    assert "is older than an hour" in set_password(link_in(mail_server))
    assert is_let_in(PASSWORD)


def test_a_link_opens_nobody_elses_account_and_none_that_is_altered(ada: User, mail_server: MailServer) -> None:
    eve = User.objects.create_user("eve", "eve@example.org", "a password of eve's")
    request_link("eve@example.org")
    uid, token = link_in(mail_server).rsplit("/", 2)[1:]
    User.objects.filter(pk=eve.pk).update(password=ada.password)
    for path in (f"/login/new-password/{uid}/{token}", f"/login/new-password/{uid}/{token[:-1]}x"):
        assert "This link was used already" in set_password(path)
    assert is_let_in(PASSWORD)


def test_the_token_leaves_the_address_and_the_log(ada: User, mail_server: MailServer) -> None:
    request_link()
    link = link_in(mail_server)
    answer = Client().get(link)
    assert answer["Location"].endswith("/set-password")
    from benchweb.accounts.audit.link_log import WithoutLinks

    record = logging.LogRecord("django", logging.WARNING, "", 0, "Not found: %s", (link,), None)
    WithoutLinks().filter(record)
    assert link.rsplit("/", 1)[1] not in record.getMessage()
    assert record.getMessage().endswith("/…")


@pytest.mark.parametrize(
    ("new", "told"),
    [("short", "This password is too short"), ("password1234", "This password is too common")],
)
def test_a_password_that_can_not_be_is_refused(ada: User, mail_server: MailServer, new: str, told: str) -> None:
    request_link()
    assert told in set_password(link_in(mail_server), new)
    assert is_let_in(PASSWORD)


@pytest.mark.usefixtures("one_window")
def test_nobody_floods_a_mailbox_and_no_address_asks_without_end(
    ada: User, mail_server: MailServer, asked: list[tuple[str, str]]
) -> None:
    for number in range(throttle.REQUESTED_MAILS):
        Client().post("/login/forgotten", {"email": "ada@example.org"}, REMOTE_ADDR=f"192.0.2.{number}")
    assert len(asked) == len(mail_server.mails) == throttle.MAILS_TO_ONE
    statuses = [
        Client().post("/login/forgotten", {"email": f"user-{number}@example.org"}).status_code
        for number in range(throttle.REQUESTED_MAILS + 1)
    ]
    assert statuses == [302] * throttle.REQUESTED_MAILS + [429]


def test_a_broker_that_is_away_is_said(ada: User, mail_server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(password_reset, "send", lambda *_: False)
    answer = Client().post("/login/forgotten", {"email": "ada@example.org"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert "No mail can be sent at the moment" in answer.content.decode()


def test_a_server_that_refuses_the_mail_is_logged_without_the_link(
    ada: User, mail_server: MailServer, caplog: pytest.LogCaptureFixture
) -> None:
    mail_server.refusals.append("550 no such mailbox")
    assert SENT in request_link()
    assert "the link for a new password of 'ada' could not be mailed" in caplog.text
    assert "new-password" not in caplog.text


def test_the_mail_is_in_the_readers_language(ada: User, mail_server: MailServer) -> None:
    request_link(accept_language="zh-hans")
    # Apprise, once loaded, has headers written in quoted-printable; a line folded after its name is read with a space.
    assert mail_server.mails[0]["Subject"].strip() == "设置 benchweb 的新密码"


def test_the_mail_address_is_changed_with_the_password_only(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    form = {"email": "ada@new.example.org", "old_password": "wrong"}  # pragma: allowlist secret
    assert "This password is wrong." in client.post("/account/mail", form).content.decode()
    ada.refresh_from_db()
    assert ada.email == "ada@example.org"
    page = client.post("/account/mail", form | {"old_password": PASSWORD}, follow=True).content.decode()
    assert "The mail address is changed." in page
    ada.refresh_from_db()
    assert ada.email == "ada@new.example.org"
    for _ in range(10):
        client.post("/account/mail", form)
    assert "Too many failed log-ins." in client.post("/account/mail", form, follow=True).content.decode()
