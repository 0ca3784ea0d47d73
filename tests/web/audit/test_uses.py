"""The audit log tells who took files away, used a token, and whose sessions were ended: each once, not each call."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchweb.accounts import throttle
from benchweb.accounts.audit.link_log import without_links
from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import UserSession
from benchweb.accounts.services import token_create
from benchweb.accounts.sessions import sessions_remove_ended
from tests.factories import make_user
from tests.sharing.scene import shared, told_run
from tests.web.middleware.test_given_back import files

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_window")]
PASSWORD = "correct horse battery"  # pragma: allowlist secret


def entries(action: str) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action=action).order_by("pk"))


def test_every_file_that_somebody_takes_is_noted_with_its_path(signed_in: Client, ada: User) -> None:
    taken = []
    for path in files():
        assert signed_in.get(path, REMOTE_ADDR="192.0.2.7").status_code == 200
        taken.append(path)
    found = entries("downloaded")
    assert [entry.object_name for entry in found] == [without_links(path) for path in taken]
    assert {(entry.user_name, entry.via, entry.address) for entry in found} == {("ada", "page", "192.0.2.7")}


def test_files_by_token_are_noted_and_strangers_and_pages_are_not(signed_in: Client, ada: User) -> None:
    run = told_run()
    token, secret = token_create(user=ada, name="ci")
    path = f"/api/v1/runs/{run.pk}/results.json"
    assert Client().get(path, headers={"Authorization": f"Bearer {secret}"}).status_code == 200
    assert signed_in.get(f"/runs/{run.pk}").status_code == 200
    assert signed_in.get("/runs/999999/results.csv").status_code == 404
    assert Client().get(f"{shared(run)[1]}/results.csv").status_code == 200
    (entry,) = entries("downloaded")
    assert (entry.object_name, entry.via, entry.token_id) == (path, "token", token.pk)


def test_what_is_taken_by_a_share_link_is_noted_without_the_link(signed_in: Client) -> None:
    path = f"{shared(told_run())[1]}/results.csv"
    assert signed_in.get(f"{path}?from={path}").status_code == 200
    assert [entry.object_name for entry in entries("downloaded")] == ["/s/…/results.csv?from=/s/…/results.csv"]


def test_a_download_in_a_loop_fills_no_log(signed_in: Client) -> None:
    for number in range(throttle.ENTRIES_OF_ONE * 2):
        signed_in.get(f"/audit.csv?user=nobody-{number // 2}")
    assert len(entries("downloaded")) == throttle.ENTRIES_OF_ONE
    assert len({entry.object_name for entry in entries("downloaded")}) == throttle.ENTRIES_OF_ONE


def test_a_token_is_noted_once_a_day_from_each_address(ada: User) -> None:
    token, secret = token_create(user=ada, name="ci")

    def call(address: str) -> None:
        headers = {"Authorization": f"Bearer {secret}"}
        assert Client().get("/api/v1/hosts", headers=headers, REMOTE_ADDR=address).status_code == 200

    for _ in range(5):
        call("192.0.2.7")
        call("192.0.2.8")
    used = entries("used")
    assert [(entry.address, entry.object_id, entry.object_name) for entry in used] == [
        ("192.0.2.7", token.pk, "ci"),
        ("192.0.2.8", token.pk, "ci"),
    ]
    assert {(entry.via, entry.user_name, entry.token_id, entry.table) for entry in used} == {
        ("token", "ada", token.pk, "accounts_apitoken")
    }


def test_a_token_is_noted_again_on_the_next_day(ada: User) -> None:
    token, secret = token_create(user=ada, name="ci")
    yesterday = timezone.now() - timedelta(days=1)
    AuditEntry.objects.create(
        at=yesterday, action="used", via="token", table="accounts_apitoken", object_id=token.pk, address="192.0.2.7"
    )
    Client().get("/api/v1/hosts", headers={"Authorization": f"Bearer {secret}"}, REMOTE_ADDR="192.0.2.7")
    assert [entry.at > yesterday for entry in entries("used")] == [False, True]


def test_sessions_that_are_ended_are_noted_with_whose_they_were_and_those_that_run_out_are_not(
    client: Client, signed_in: Client, ada: User
) -> None:
    other = Client()
    other.force_login(ada)
    UserSession.objects.filter(pk=other.session.session_key).update(address="192.0.2.9")
    make_user("vera", PASSWORD)
    signed_in.post("/account/sessions/end-others")
    (entry,) = AuditEntry.objects.filter(table="accounts_usersession")
    assert (entry.action, entry.via, entry.user_name) == ("deleted", "page", "ada")
    assert (entry.changes["user_id"], entry.changes["address"]) == ([ada.pk, None], ["192.0.2.9", None])
    assert other.session.session_key is None or other.session.session_key not in str(entry.changes)
    # Of nobody, and over by themselves.
    client.get("/login")
    UserSession.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert sessions_remove_ended()
    assert AuditEntry.objects.filter(table="accounts_usersession").count() == 1
