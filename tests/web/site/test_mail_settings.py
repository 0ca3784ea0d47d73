"""The mail server on the page: mail goes by it, its password stays unseen, and its real answer is shown."""

import json
import socket
import threading

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.login.password_reset import mail_link
from benchweb.accounts.models import Grant, Role
from benchweb.notifications.delivery import sending
from benchweb.site.mail import SiteEmailBackend
from benchweb.site.models import SiteSecret, SiteSetting
from benchweb.site.secrets import decrypted
from benchweb.site.values import chosen
from tests.notifications.receivers import MailServer

pytestmark = pytest.mark.django_db
WORD, OF_ENVIRONMENT = "mail / w@rd", "of-the-environment"
LOCKED = "Set in the environment: <code>BENCHWEB_SMTP_URL</code>"


@pytest.fixture(autouse=True)
def really(settings: Settings, ada: User) -> None:
    settings.EMAIL_BACKEND = "benchweb.site.mail.SiteEmailBackend"
    ada.email = "ada@example.org"
    ada.save()


def words(port: int, **others: str) -> dict[str, str]:
    """Return what an admin fills in for a server on this machine."""
    return {"email_host": "127.0.0.1", "email_port": str(port)} | others


def save(client: Client, sent: dict[str, str]) -> None:
    answer = client.post("/settings", sent)
    assert answer.status_code == 302, answer.context["form"].errors
    # A test's transaction is never committed.
    chosen.read_now()


def sent_to_me(client: Client) -> str:
    return client.post("/settings/mail-test", headers={"HX-Request": "true"}).content.decode()


def test_mail_goes_by_the_server_of_the_page_and_its_password_is_seen_nowhere(by_admin: Client) -> None:
    with MailServer() as server:
        sent = words(server.port, email_host_user="bench", default_from_email="Bench <bench@example.org>")
        save(by_admin, sent | {"email_host_password": WORD})
        assert "The mail server took the mail to ada@example.org." in sent_to_me(by_admin)
        mail_link(to="vera@example.org", subject="a link", text="text", path="/", ending="end")
        assert server.logins == [("bench", WORD)] * 2
        assert [mail["From"] for mail in server.mails] == ["Bench <bench@example.org>"] * 2
        # What is sent without it keeps it.
        save(by_admin, sent | {"default_from_email": "lab@example.org"})
        sent_to_me(by_admin)
        assert (server.logins[-1], server.mails[-1]["From"]) == (("bench", WORD), "lab@example.org")
    assert decrypted(SiteSecret.objects.get().secret_encrypted) == WORD
    seen = by_admin.get("/settings").content.decode() + by_admin.get("/audit").content.decode()
    seen += json.dumps(list(AuditEntry.objects.values_list("changes", flat=True)))
    seen += json.dumps(list(SiteSetting.objects.values_list("value", flat=True)))
    assert "w@rd" not in seen and bytes(SiteSecret.objects.get().secret_encrypted).decode() not in seen
    (entry,) = AuditEntry.objects.filter(table="site_sitesecret")
    assert (entry.action, entry.user_name, entry.changes["secret_encrypted"]) == ("created", "ada", [None, "…"])
    # Without a user it isn't kept.
    save(by_admin, words(25))
    assert not SiteSecret.objects.exists()


def test_what_the_environment_sets_is_locked_and_its_password_not_shown(
    by_admin: Client, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    with MailServer() as server:
        monkeypatch.setenv("BENCHWEB_SMTP_URL", f"smtp://bench:{OF_ENVIRONMENT}@127.0.0.1")
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "bench", OF_ENVIRONMENT  # pragma: allowlist secret
        page = by_admin.get("/settings").content.decode()
        assert page.count(LOCKED) == 5
        assert 'value="127.0.0.1"' in page and OF_ENVIRONMENT not in page
        save(by_admin, words(1, email_host="evil.example.org", email_host_user="eve", email_host_password=WORD))
        assert not SiteSetting.objects.exists() and not SiteSecret.objects.exists()
        sent_to_me(by_admin)
        assert server.logins == [("bench", OF_ENVIRONMENT)]


def test_a_stored_password_is_sent_to_no_other_server(by_admin: Client) -> None:
    sent = words(25, email_host_user="bench", smtp_scheme="smtp+starttls")
    save(by_admin, sent | {"email_host_password": WORD})
    for changed in ({"email_host": "evil.example.org"}, {"email_port": "26"}, {"smtp_scheme": ""}):
        page = by_admin.post("/settings", sent | changed).content.decode()
        assert "Write the password again: the one that is stored was for another server." in page
    page = by_admin.post("/settings", sent | {"email_host": "no host"}).content.decode()
    assert "Write a name such as" in page and "Write the password again" not in page
    chosen.read_now()
    backend = SiteEmailBackend()
    assert (backend.host, backend.port, backend.use_tls, backend.password) == ("127.0.0.1", 25, True, WORD)


@pytest.mark.parametrize(
    ("scheme", "port", "tls"),
    [("", 25, (False, False)), ("smtp+starttls", 587, (True, False)), ("smtps", 465, (False, True))],
)
def test_the_port_follows_the_encryption(by_admin: Client, scheme: str, port: int, tls: tuple[bool, bool]) -> None:
    save(by_admin, {"email_host": "mail.example.org", "smtp_scheme": scheme})
    backend = SiteEmailBackend()
    assert (backend.port, (backend.use_tls, backend.use_ssl)) == (port, tls)


def test_the_answer_of_a_server_that_refuses_is_shown(by_admin: Client) -> None:
    with MailServer() as server:
        save(by_admin, words(server.port))
        server.refusals.append("550 no relaying <b>for</b> you")
        answer = sent_to_me(by_admin)
        assert "The mail to ada@example.org was not taken: the mail server answered 550" in answer
        assert "no relaying &lt;b&gt;for&lt;/b&gt; you" in answer
        save(by_admin, words(server.port, smtp_scheme="smtp+starttls"))
        assert "STARTTLS extension not supported by server" in sent_to_me(by_admin)
        assert server.mails == []


def test_the_words_of_another_service_are_not_shown(by_admin: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        save(by_admin, words(listener.getsockname()[1]))

        def greet() -> None:
            with listener.accept()[0] as connection:
                connection.sendall(b"root:x:0:0 a line of another service\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        answer = sent_to_me(by_admin)
        thread.join()
    assert "127.0.0.1 does not answer as a mail server" in answer
    assert "another service" not in answer


def test_a_server_that_says_nothing_is_left_in_time(by_admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        save(by_admin, words(silent.getsockname()[1]))
        assert "no whole answer within 0.5 s" in sent_to_me(by_admin)


def test_without_an_address_or_a_server_the_reader_is_told_so(by_admin: Client, ada: User) -> None:
    assert "Send a test mail to me" not in by_admin.get("/settings").content.decode()
    assert "No mail server is set" in sent_to_me(by_admin)
    save(by_admin, words(25))
    ada.email = ""
    ada.save()
    page = by_admin.post("/settings/mail-test").content.decode()
    assert "Your account has no mail address." in page and "Site settings</h1>" in page


def test_a_password_that_no_key_reads_is_said(by_admin: Client) -> None:
    save(by_admin, words(25, email_host_user="bench", email_host_password=WORD))
    SiteSecret.objects.update(secret_encrypted=b"of another key")
    assert "password of the mail server can&#x27;t be read" in sent_to_me(by_admin)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("email_host", "mail.example.org\r\nRCPT TO:<eve@example.org>", "Write a name such as mail.example.org"),
        ("email_host", "mail.example.org:25", "Write a name such as mail.example.org"),
        ("email_host", "-oProxyCommand=sh", "Write a name such as mail.example.org"),
        ("email_port", "70000", "less than or equal to 65535"),
        ("smtp_scheme", "file", "Select a valid choice"),
        ("email_host_user", "bench\nAUTH", "Line breaks and control characters"),
        ("email_host_password", "word", "Write the user name that the password is of."),
        ("default_from_email", "bench@example.org\r\nBcc: eve@example.org", "Line breaks and control characters"),
        ("default_from_email", "bench@example.org, eve@example.org", "Enter a valid email address."),
        ("default_from_email", "bench", "Enter a valid email address."),
    ],
)
def test_a_wrong_value_is_refused(by_admin: Client, field: str, value: str, message: str) -> None:
    answer = by_admin.post("/settings", {field: value})
    assert answer.status_code == 200
    assert message in str(answer.context["form"].errors)
    assert not SiteSetting.objects.exists() and not SiteSecret.objects.exists()


def test_others_than_admins_are_refused(ada: User, signed_in: Client) -> None:
    Grant.objects.create(user=ada, role=Role.EDITOR)
    assert signed_in.post("/settings/mail-test").status_code == 403
    assert signed_in.post("/settings", words(25)).status_code == 403
    assert not SiteSetting.objects.exists()


def test_a_mail_server_of_the_page_is_in_no_network_that_is_denied(
    by_admin: Client, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    with MailServer() as server:
        save(by_admin, words(server.port, notify_private_networks="!127.0.0.0/8"))
        assert "is a private or special address" in sent_to_me(by_admin)
        assert server.mails == []
        # The operator's own is where it is.
        monkeypatch.setenv("BENCHWEB_SMTP_URL", "smtp://127.0.0.1")
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        assert "The mail server took the mail" in sent_to_me(by_admin)
