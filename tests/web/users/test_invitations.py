"""Invitations: a link, good once, by which somebody makes their account or sets a password."""

import logging
import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from benchweb.accounts.audit.link_log import WithoutLinks
from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.login.invitations import invitation_create, invitation_path
from benchweb.accounts.models import Grant, Invitation, Role
from benchweb.accounts.permissions import Access, access_of
from benchweb.accounts.roles.grants import team_create
from tests.notifications.receivers import MailServer, body_of

PASSWORD = "analytical-engine-1843"  # pragma: allowlist secret
SHORT = "short"
CHOSEN = {"name": "grace", "new_password1": PASSWORD, "new_password2": PASSWORD}
WEEK = timedelta(days=7)
GONE = "This link was used already, has expired, or is incomplete."


@pytest.fixture(autouse=True)
def default_role(settings: Settings) -> None:
    settings.DEFAULT_ROLE = "viewer"


@pytest.fixture
def by_admin(ada: User, signed_in: Client) -> Client:
    Grant.objects.create(user=ada, role=Role.ADMIN)
    return signed_in


@pytest.fixture
def path(by_admin: Client, ada: User) -> str:
    """The path of a link for an editor."""
    return invitation_path(invitation_create(by=ada, lasts=WEEK, role="editor")[1])


def refused(path: str) -> bool:
    answer = Client().post(path, CHOSEN)
    return answer.status_code == 404 and GONE in answer.content.decode()


def test_who_is_invited_chooses_name_and_password_and_is_in_with_role_and_teams(by_admin: Client) -> None:
    team = team_create(name="night shift")
    page = by_admin.post("/invitations/new", {"role": "operator", "teams": [team.pk], "lasts": "7"})
    link = page.context["link"]
    assert link.startswith("http://testserver/login/invitation/") and link in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    assert "night shift" in by_admin.get("/invitations").content.decode()
    guest = Client()
    assert "ada invites you to benchweb" in guest.get(link).content.decode()
    assert guest.post(link, CHOSEN).headers["Location"] == "/"
    grace = User.objects.get(username="grace")
    assert access_of(grace) == Access(Role.OPERATOR)
    assert list(grace.teams.all()) == [team]
    assert grace.check_password(PASSWORD)
    assert guest.get("/hosts").status_code == 200
    assert refused(link)
    assert "night shift" not in by_admin.get("/invitations").content.decode()


def test_the_secret_is_stored_and_audited_as_a_digest_only(by_admin: Client) -> None:
    link = by_admin.post("/invitations/new", {"role": "viewer", "lasts": "1"}).context["link"]
    token = link.rsplit("/", 1)[1]
    row = Invitation.objects.values().get()
    assert token not in str(row)
    Client().post(link, CHOSEN)
    entries = list(AuditEntry.objects.filter(table="accounts_invitation").order_by("pk"))
    assert [entry.action for entry in entries][:2] == ["created", "changed"]
    assert entries[0].user_name == "ada"
    written = " ".join(str(entry.changes) for entry in AuditEntry.objects.all())
    assert not any(secret in written for secret in (token, row["digest"], PASSWORD))
    assert AuditEntry.objects.filter(table="auth_user", action="created", object_name="grace").exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "ADA"}, "There is a user of this name already."),
        ({"name": "demo"}, "There is a user of this name already."),
        ({"name": "grace hopper"}, "make a name."),
        (
            {"new_password1": SHORT, "new_password2": SHORT},
            "This password is too short.",
        ),
        ({"new_password2": SHORT}, "match"),
    ],
)
def test_what_cannot_be_had_leaves_the_link_good(path: str, wrong: dict[str, str], said: str) -> None:
    guest = Client()
    page = guest.post(path, CHOSEN | wrong)
    assert page.status_code == 200 and said in page.content.decode()
    assert list(User.objects.values_list("username", flat=True)) == ["ada"]
    assert guest.post(path, CHOSEN).status_code == 302


def test_a_link_is_void_when_expired_revoked_or_of_an_admin_no_more(by_admin: Client, ada: User, path: str) -> None:
    row = Invitation.objects.get()
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert refused(path)
    Invitation.objects.update(expires_at=timezone.now() + WEEK)
    User.objects.create_superuser("root")
    Grant.objects.filter(user=ada).update(role=Role.EDITOR)
    assert refused(path)
    Grant.objects.filter(user=ada).update(role=Role.ADMIN)
    assert Client().get(path).status_code == 200
    assert by_admin.post(f"/invitations/{row.pk}/end").headers["Location"] == "/invitations"
    assert refused(path)
    assert refused(invitation_path("nothing"))
    assert not User.objects.filter(username="grace").exists()


def test_a_link_for_an_account_that_stands_sets_its_password_and_ends_its_sessions(by_admin: Client, ada: User) -> None:
    vera = User.objects.create_user("vera", password="the old one of vera")
    path = invitation_path(invitation_create(by=ada, lasts=WEEK, user=vera)[1])
    before, guest = Client(), Client()
    before.force_login(vera)
    assert "For the account vera." in guest.get(path).content.decode()
    assert guest.post(path, CHOSEN).status_code == 302
    vera.refresh_from_db()
    assert vera.check_password(PASSWORD) and not User.objects.filter(username="grace").exists()
    assert before.get("/hosts").status_code == 302
    assert guest.get("/hosts").status_code == 200


def test_a_link_for_a_deactivated_account_is_void(by_admin: Client, ada: User) -> None:
    vera = User.objects.create_user("vera", is_active=False)
    assert refused(invitation_path(invitation_create(by=ada, lasts=WEEK, user=vera)[1]))


def test_who_is_logged_in_is_told_to_log_out_first(by_admin: Client, path: str) -> None:
    assert "You are logged in as ada." in by_admin.get(path).content.decode()


@pytest.fixture
def mail_server(settings: Settings) -> Iterator[MailServer]:
    with MailServer() as server:
        settings.EMAIL_BACKEND = "benchweb.site.mail.SiteEmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.PUBLIC_URL = "https://bench.example.org"
        yield server


def test_a_mailed_link_is_not_shown_and_one_that_no_server_takes_is(by_admin: Client, mail_server: MailServer) -> None:
    words = {"email": "grace@example.org", "role": "viewer", "lasts": "7"}
    page = by_admin.post("/invitations/new", words).content.decode()
    assert "The link is mailed to grace@example.org." in page and "/login/invitation/" not in page
    (mail,) = mail_server.mails
    assert mail["To"] == "grace@example.org"
    found = re.search(r"https://bench\.example\.org(/login/invitation/\S+)", body_of(mail, "plain"))
    assert found
    Client().post(found[1], CHOSEN)
    assert User.objects.get(username="grace").email == "grace@example.org"
    mail_server.refusals.append("550 no such mailbox")
    page = by_admin.post("/invitations/new", words | {"email": "nobody@example.org"}).content.decode()
    assert "could not be mailed to nobody@example.org" in page and "https://bench.example.org/login/invitation/" in page


def test_an_admin_adds_a_user_who_sets_the_password_by_the_link(by_admin: Client) -> None:
    team = team_create(name="night shift")
    words = {"name": "grace", "role": "operator", "teams": [team.pk], "lasts": "7"}
    assert "User name is required." in by_admin.post("/users/new", words | {"name": ""}).content.decode()
    page = by_admin.post("/users/new", words)
    grace = User.objects.get(username="grace")
    assert "Password link for grace" in page.content.decode()
    assert (access_of(grace), list(grace.teams.all()), grace.has_usable_password()) == (
        Access(Role.OPERATOR),
        [team],
        False,
    )
    guest = Client()
    assert guest.post(page.context["link"], CHOSEN | {"name": "eve"}).status_code == 302
    assert User.objects.get(username="grace").check_password(PASSWORD)
    assert not User.objects.filter(username="eve").exists()
    assert "There is a user of this name already." in by_admin.post("/users/new", words).content.decode()


def test_an_admin_makes_a_link_for_another_password(by_admin: Client) -> None:
    vera = User.objects.create_user("vera")
    link = by_admin.post(f"/users/{vera.pk}/link").context["link"]
    assert Client().post(link, CHOSEN).status_code == 302
    vera.refresh_from_db()
    assert vera.check_password(PASSWORD)
    User.objects.filter(pk=vera.pk).update(is_active=False)
    assert by_admin.post(f"/users/{vera.pk}/link").status_code == 404


def test_a_link_is_kept_out_of_the_log(path: str) -> None:
    record = logging.LogRecord("django.request", logging.ERROR, "", 1, "Internal Server Error: %s", (path,), None)
    WithoutLinks().filter(record)
    assert record.getMessage() == "Internal Server Error: /login/invitation/…"


def test_only_admins_invite(ada: User, signed_in: Client) -> None:
    Grant.objects.create(user=ada, role=Role.EDITOR)
    assert signed_in.get("/invitations").status_code == 403
    assert signed_in.post("/invitations/new", {"role": "admin", "lasts": "7"}).status_code == 403
    assert not Invitation.objects.exists()
