"""What strangers and viewers in a loop leave behind: little, and not for long."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import Settings

from benchweb.accounts import sessions, throttle
from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import ListColumns, UserSession
from workers import ticking

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_window")]
CHALLENGE = {"X-Requested-With": "XMLHttpRequest"}


@pytest.fixture(autouse=True)
def viewers(settings: Settings) -> None:
    settings.DEFAULT_ROLE = "viewer"


def make_viewer(name: str) -> User:
    return User.objects.create_user(name)


def request_from(address: str) -> HttpRequest:
    request = RequestFactory().get("/", REMOTE_ADDR=address)
    request.session = sessions.SessionStore()
    return request


def entries(action: str) -> int:
    return AuditEntry.objects.filter(action=action).count()


def bad_passkey(client: Client, address: str) -> None:
    client.post("/login/passkey", {"credential": "{}"}, REMOTE_ADDR=address)


def test_wrong_passkeys_are_counted_by_address_as_wrong_passwords_are() -> None:
    client = Client()
    for _ in range(2 * throttle.ADDRESS_ATTEMPTS):
        bad_passkey(client, "192.0.2.1")
    assert entries("login_failed") == throttle.ADDRESS_ATTEMPTS
    answer = client.post("/login", {"username": "ada", "password": "x"}, REMOTE_ADDR="192.0.2.1")
    assert answer.status_code == 429
    bad_passkey(client, "192.0.2.2")
    assert entries("login_failed") == throttle.ADDRESS_ATTEMPTS + 1


def test_log_ins_that_fail_otherwise_are_few_entries_too() -> None:
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.1")
    for number in range(250):
        user_login_failed.send(sender=__name__, credentials={"username": f"u{number}"}, request=request)
    assert entries("login_failed") == throttle.ENTRIES_OF_ONE


def test_a_viewers_refusals_are_one_entry_each_and_few_in_all() -> None:
    client = Client()
    client.force_login(make_viewer("vera"))
    for _ in range(5):
        assert client.get("/users").status_code == 403
    assert entries("refused") == 1
    for number in range(2 * throttle.ENTRIES_OF_ONE):
        assert client.get(f"/users/{number}").status_code == 403
    assert entries("refused") == throttle.ENTRIES_OF_ONE


def test_who_is_refused_leaves_others_their_entries(caplog: pytest.LogCaptureFixture) -> None:
    for name in ("vera", "otto"):
        client = Client()
        client.force_login(make_viewer(name))
        for number in range(throttle.ENTRIES_OF_ONE + 5):
            client.get(f"/users/{number}")
    assert entries("refused") == 2 * throttle.ENTRIES_OF_ONE
    assert caplog.text.count("are left out of the audit log") == 2


def test_who_makes_many_entries_at_one_address_hides_none_from_another() -> None:
    vera = make_viewer("vera")
    for _ in range(throttle.ENTRIES_OF_ONE + 5):
        user_logged_in.send(sender=User, request=request_from("192.0.2.1"), user=vera)
    assert entries("logged_in") == throttle.ENTRIES_OF_ONE
    user_logged_in.send(sender=User, request=request_from("198.51.100.9"), user=vera)
    assert AuditEntry.objects.filter(action="logged_in", address="198.51.100.9").exists()


def test_the_last_entry_says_that_further_ones_are_left_out() -> None:
    client = Client()
    client.force_login(make_viewer("vera"))
    for number in range(throttle.ENTRIES_OF_ONE + 5):
        client.get(f"/users/{number}?{'x' * 200}")
    texts = AuditEntry.objects.filter(action="refused").order_by("pk").values_list("object_name", flat=True)
    assert ["further ones" in text for text in texts] == [False] * (throttle.ENTRIES_OF_ONE - 1) + [True]
    assert texts[throttle.ENTRIES_OF_ONE - 1].endswith("(further ones in the next 240 s are left out: too many)")


def challenge(client: Client, **extra: Any) -> int:
    return client.get("/login/passkey", headers=CHALLENGE, **extra).status_code


def test_a_session_of_nobody_ends_within_minutes_and_one_of_a_user_as_the_site_says(settings: Settings) -> None:
    client = Client()
    assert challenge(client) == 200
    ends_in = UserSession.objects.get().expire_date - timezone.now()
    assert timedelta(minutes=10) < ends_in <= timedelta(minutes=15)
    assert client.cookies["sessionid"]["max-age"] == sessions.STRANGER_SECONDS
    client.force_login(make_viewer("vera"))
    ends_in = UserSession.objects.get(user__username="vera").expire_date - timezone.now()
    assert ends_in > timedelta(seconds=settings.SESSION_COOKIE_AGE - 60)


def test_one_address_begins_so_many_log_ins_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "BEGUN_LOGINS", 20)
    answers = [challenge(Client()) for _ in range(throttle.BEGUN_LOGINS + 5)]
    assert answers.count(200) == UserSession.objects.count() == throttle.BEGUN_LOGINS
    assert set(answers[throttle.BEGUN_LOGINS :]) == {429}
    assert challenge(Client(), REMOTE_ADDR="192.0.2.9") == 200


def test_a_user_has_so_many_sessions_and_the_earliest_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 3)
    vera, otto = make_viewer("vera"), make_viewer("otto")
    clients = [Client() for _ in range(5)]
    for client in clients:
        client.force_login(vera)
    Client().force_login(otto)
    assert [client.get("/account").status_code for client in clients] == [302, 302, 200, 200, 200]
    assert UserSession.objects.filter(user=otto).count() == 1
    assert not AuditEntry.objects.filter(table="accounts_usersession").exists()


def test_ended_sessions_are_removed_until_none_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_REMOVED_AT_ONCE", 2)
    now = timezone.now()
    for number in range(5):
        UserSession.objects.create(session_key=f"old{number}", expire_date=now - timedelta(minutes=number + 1))
    UserSession.objects.create(session_key="good", expire_date=now + timedelta(minutes=1))
    assert [sessions.sessions_remove_ended() for _ in range(4)] == [2, 2, 1, 0]
    assert UserSession.objects.get().session_key == "good"
    assert "sessions_remove_ended" in [getattr(step, "__name__", "") for step in ticking.STEPS]


def counted(removed: list[int]) -> Callable[[], int]:
    return lambda: removed.pop(0)


def test_removal_goes_on_at_each_tick_while_there_is_something_to_remove() -> None:
    removed, now = [10, 10, 0, 7], 0.0
    step = ticking.hourly(counted(removed), clock=lambda: now)
    for _ in range(5):
        step()
        now += 1
    assert removed == [7]
    now += 3_600
    step()
    assert removed == []


def test_lists_of_made_up_names_are_not_kept_without_end() -> None:
    client = Client()
    vera = make_viewer("vera")
    client.force_login(vera)
    for number in range(150):
        client.post(f"/columns/made-up-{number}", {"known": ["a"]})
    assert ListColumns.objects.count() < 110
    before = ListColumns.objects.count()
    client.post("/columns/made-up-1", {"known": ["b"]})
    assert ListColumns.objects.get(list_name="made-up-1").hidden == ["b"]
    assert ListColumns.objects.count() == before
