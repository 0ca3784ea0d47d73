"""Invitations over REST: the link is told once, works once, and only while who made it is an admin."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Invitation
from benchweb.accounts.permissions import access_of
from benchweb.accounts.roles.grants import role_set, team_create, user_deactivate
from benchweb.accounts.roles.service_accounts import service_account_create
from benchweb.accounts.services import token_create
from tests.api.conftest import ApiClient, Refused
from tests.notifications.receivers import MailServer

pytestmark = pytest.mark.django_db
PASSWORD = "analytical-engine-1843"  # pragma: allowlist secret
CHOSEN = {"name": "grace", "new_password1": PASSWORD, "new_password2": PASSWORD}


def opened(link: str) -> int:
    """Return what a guest is answered who accepts it."""
    return Client().post(link.removeprefix("http://testserver"), CHOSEN).status_code


def test_a_link_is_told_once_and_works_once(api: ApiClient) -> None:
    team = team_create(name="night shift")
    made = api.post("/invitations", {"role": "operator", "teams": [team.pk]})
    assert made.status_code == 201
    link, path = made.json()["link"], f"/invitations/{made.json()['id']}"
    assert link.startswith("http://testserver/login/invitation/") and made.json()["is_mailed"] is False
    token = link.rpartition("/")[2]
    assert token not in api.get(path).content.decode() + api.get("/invitations").content.decode()
    assert api.get("/invitations?is_open=true").json()["items"] == [api.get(path).json()]
    assert (opened(link), opened(link)) == (302, 404)
    grace = User.objects.get(username="grace")
    assert access_of(grace).everywhere == "operator" and list(grace.teams.all()) == [team]
    shown = api.get(path).json()
    assert (shown["used_by"], shown["used_at"] is not None, shown["teams"]) == (grace.pk, True, [team.pk])
    assert api.get("/invitations?is_open=true").json()["items"] == []
    assert api.get("/invitations?is_open=false").json()["items"] == [shown]
    entry = AuditEntry.objects.get(table="accounts_invitation", action="created")
    assert (entry.user_name, entry.via) == ("ada", "token") and token not in str(entry.changes)


def test_a_revoked_and_an_expired_link_are_void(api: ApiClient) -> None:
    revoked, expired = (api.post("/invitations", {}).json() for _ in range(2))
    path = f"/invitations/{revoked['id']}"
    assert (api.delete(path).status_code, api.delete(path).status_code) == (204, 204)
    Invitation.objects.filter(pk=expired["id"]).update(expires_at=timezone.now())
    assert [opened(each["link"]) for each in (revoked, expired)] == [404, 404]
    assert not User.objects.filter(username="grace").exists()


def test_the_link_of_a_service_account_works_while_that_is_an_admin(api: ApiClient, admin: User) -> None:
    service = service_account_create(name="directory", role="admin")
    script = ApiClient(token_create(user=service, name="sync")[1])
    first, second = (script.post("/invitations", {}).json() for _ in range(2))
    listed = [item["id"] for item in api.get("/invitations?is_open=true").json()["items"]]
    assert listed == [second["id"], first["id"]]
    assert opened(first["link"]) == 302
    role_set(role="editor", user=service)
    assert opened(second["link"]) == 404
    role_set(role="admin", user=service)
    user_deactivate(user=service, by=admin)
    assert opened(second["link"]) == 404


def test_a_link_for_an_account_that_stands_sets_its_password(api: ApiClient, refused: Refused) -> None:
    vera = User.objects.create_user("vera", "vera@example.org")
    made = api.post("/invitations", {"user": vera.pk}).json()
    assert (made["user"], made["email"], made["role"]) == (vera.pk, "vera@example.org", None)
    assert opened(made["link"]) == 302
    vera.refresh_from_db()
    assert vera.check_password(PASSWORD)
    assert "PATCH /users/ID" in refused(api.post("/invitations", {"user": vera.pk, "role": "admin"}), 422, "role")
    service = service_account_create(name="export", role="viewer")
    refused(api.post("/invitations", {"user": service.pk}), 422, "user")


def test_a_link_is_mailed_where_there_is_a_mail_server(api: ApiClient, settings: Settings) -> None:
    with MailServer() as server:
        settings.EMAIL_BACKEND = "benchweb.site.mail.SiteEmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.PUBLIC_URL = "https://bench.example.org"
        made = api.post("/invitations", {"email": "grace@example.org"}).json()
    assert made["is_mailed"] and made["link"].startswith("https://bench.example.org/login/invitation/")
    (mail,) = server.mails
    assert mail["To"] == "grace@example.org" and made["link"] in mail.get_content()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"email": "grace@example.org\r\nBcc: eve@example.org"}, "email"),
        ({"role": "owner"}, "role"),
        ({"teams": [999_999]}, "teams.0"),
        ({"user": 999_999}, "user"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": (timezone.now() + timedelta(days=31)).isoformat()}, "expires_at"),
        ({"created_by": 1}, "created_by"),
        ({"digest": "0" * 64}, "digest"),
        ({"is_superuser": True}, "is_superuser"),
    ],
)
def test_a_wrong_invitation_is_refused(api: ApiClient, refused: Refused, body: dict[str, object], field: str) -> None:
    refused(api.post("/invitations", body), 422, field)
    assert not Invitation.objects.exists()
