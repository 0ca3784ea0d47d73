"""Too many failed log-ins are refused; nobody is locked out by others' attempts."""

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from pytest_django import Settings

from benchweb.accounts import hashing, throttle
from benchweb.accounts.models import ApiToken
from benchweb.accounts.services import token_create, token_digest
from tests.responses import Response

pytestmark = pytest.mark.django_db
PASSWORD = "a password of ada's"
HERE = "192.0.2.1"
_numbers = count(1)


@pytest.fixture(autouse=True)
def uncounted(one_window: None) -> Iterator[None]:
    """Begin without attempts, in the middle of a window."""
    for name in ("default", "local"):
        caches[name].clear()
    throttle._local_until = 0.0
    yield
    for name in ("default", "local"):
        caches[name].clear()


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password=PASSWORD)


def log_in(name: str = "ada", password: str = "wrong", address: str = HERE, **headers: str) -> Response:
    form = {"username": name, "password": password}
    return Client().post("/login", form, REMOTE_ADDR=address, headers=headers)


def statuses(times: int, **words: str) -> list[int]:
    return [log_in(**words).status_code for _ in range(times)]


def new_address() -> str:
    number = next(_numbers)
    return f"198.18.{number // 256}.{number % 256}"


def test_a_user_is_guessed_ten_times_from_one_address_then_refused_with_when_to_come_again(ada: User) -> None:
    assert statuses(12) == [200] * 10 + [429] * 2
    answer = log_in(password=PASSWORD)
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "240"
    assert "Too many failed log-ins. Try again in 4 minutes." in answer.content.decode()


def test_the_refusal_is_in_the_readers_language(ada: User) -> None:
    statuses(10)
    client = Client()
    client.cookies["language"] = "zh-hans"
    page = client.post("/login", {"username": "ada", "password": "x"}, REMOTE_ADDR=HERE).content.decode()
    assert "登录失败次数过多" in page


def test_the_right_password_from_another_address_is_taken_during_a_flood(ada: User) -> None:
    statuses(40)
    assert log_in(password=PASSWORD, address="192.0.2.2").status_code == 302


def test_many_at_once_do_not_slip_through(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadPoolExecutor(20) as many:
        attempts = list(many.map(lambda _: throttle.begin_login("ada", HERE), range(200)))
    assert sum(attempt.retry_after_seconds == 0 for attempt in attempts) == 10


def test_many_users_are_guessed_thirty_times_from_one_address() -> None:
    answers = [throttle.begin_login(f"user{number}", HERE).retry_after_seconds for number in range(40)]
    assert answers == [0] * 30 + [240] * 10


def test_the_addresses_of_one_ipv6_network_are_one(ada: User) -> None:
    answers = [throttle.begin_login("ada", f"2001:db8::{number}").retry_after_seconds for number in range(1, 13)]
    assert answers == [0] * 10 + [240] * 2


def test_names_that_differ_in_case_form_or_spaces_are_counted_as_one() -> None:
    for name in ("ada", "ADA", " ada", "ａｄａ") * 3:
        last = throttle.begin_login(name, HERE)
    assert last.retry_after_seconds == 240


def test_all_spellings_that_open_an_account_are_counted_as_one() -> None:
    User.objects.create_user("iris", password=PASSWORD)
    for name in ("\N{LATIN SMALL LETTER DOTLESS I}ris", "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}ris", " IRIS ") * 3:
        assert log_in(name).status_code == 200
    assert [log_in(name).status_code for name in ("iris", "ir\N{LATIN SMALL LETTER DOTLESS I}s")] == [200, 429]


def test_a_user_guessed_from_many_addresses_is_open_to_a_new_and_to_a_known_address(ada: User) -> None:
    assert log_in(password=PASSWORD, address="192.0.2.50").status_code == 302
    for _ in range(throttle.USER_ATTEMPTS):
        throttle.begin_login("ada", new_address())
    once_more = new_address()
    found = [throttle.begin_login("ada", once_more).retry_after_seconds for _ in range(4)]
    assert found == [0, 0, 240, 240]
    assert log_in(password=PASSWORD, address=new_address()).status_code == 302
    assert statuses(5, address="192.0.2.50") == [200] * 5
    assert log_in(password=PASSWORD, address="192.0.2.50").status_code == 302


def test_a_known_user_comes_in_at_an_address_from_which_others_are_guessed(ada: User) -> None:
    assert log_in(password=PASSWORD).status_code == 302
    for number in range(40):
        throttle.begin_login(f"user{number}", HERE)
    assert log_in(password=PASSWORD).status_code == 302


def test_a_success_forgets_the_failures_before_it(ada: User) -> None:
    assert statuses(9) == [200] * 9
    assert log_in(password=PASSWORD).status_code == 302
    assert statuses(10) == [200] * 10


def test_the_next_window_begins_anew(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    assert statuses(11)[-1] == 429
    later = time.time() + throttle.WINDOW_SECONDS
    monkeypatch.setattr("benchweb.accounts.throttle.time.time", lambda: later)
    assert log_in(password=PASSWORD).status_code == 302


def test_a_forged_header_makes_no_new_address(ada: User) -> None:
    answers = [log_in(**{"X-Forwarded-For": f"198.51.100.{number}"}).status_code for number in range(12)]
    assert answers == [200] * 10 + [429] * 2


def test_behind_a_trusted_proxy_each_client_is_counted_for_itself(ada: User, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    proxy = {"address": "127.0.0.1"}
    answers = [log_in(**proxy, **{"X-Forwarded-For": f"1.1.1.{n}, 198.51.100.1"}).status_code for n in range(12)]
    assert answers == [200] * 10 + [429] * 2
    assert log_in(password=PASSWORD, **proxy, **{"X-Forwarded-For": "198.51.100.2"}).status_code == 302


def test_without_the_broker_each_process_counts_for_itself(ada: User, settings: Settings) -> None:
    settings.CACHES = settings.CACHES | {
        "default": settings.CACHES["default"] | {"LOCATION": "unix:///nonexistent/valkey.sock"}
    }
    assert statuses(12) == [200] * 10 + [429] * 2
    assert log_in(password=PASSWORD, address="192.0.2.2").status_code == 302


def test_a_failure_is_logged_with_address_and_user_on_one_line_and_without_the_password(
    ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "benchweb.accounts.throttle"):
        log_in(name="ada\nlog-in of root\x1b[2J\u2028", password="s3cret-guess")  # pragma: allowlist secret
    (line,) = [record.getMessage() for record in caplog.records if record.name == "benchweb.accounts.throttle"]
    assert line == r"log-in failed as 'ada\nlog-in of root\x1b[2J\u2028' from 192.0.2.1"


def test_a_flood_does_not_flood_the_log(ada: User, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "benchweb.accounts.throttle"):
        statuses(40)
    assert len([record for record in caplog.records if record.name == "benchweb.accounts.throttle"]) == 11


def test_who_finds_no_place_to_be_hashed_is_told_to_come_again_and_is_not_counted(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = threading.BoundedSemaphore(1)
    full.acquire()
    with monkeypatch.context() as patched:
        patched.setattr(hashing, "_free_slots", full)
        answer = log_in(password=PASSWORD)
        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "2"
        assert statuses(12) == [503] * 12
    assert log_in(password=PASSWORD).status_code == 302


def test_wrong_tokens_are_refused_after_sixty_and_a_right_one_never(
    ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    _, secret = token_create(user=ada, name="script")

    def asked(token: str) -> Response:
        return Client().get("/api/v1/hosts", headers={"Authorization": f"Bearer {token}"}, REMOTE_ADDR=HERE)

    with caplog.at_level(logging.WARNING, "benchweb.accounts.throttle"):
        assert [asked(f"guess-{number}").status_code for number in range(62)] == [401] * 60 + [429] * 2
    refused = asked("guess")
    assert refused.headers["Retry-After"] == "240"
    assert refused.json()["status"] == 429
    assert asked(secret).status_code == 200
    assert "unknown API token from 192.0.2.1" in caplog.text
    assert "guess-1" not in caplog.text
    metrics = Client().get("/metrics", headers={"Authorization": "Bearer guess"}, REMOTE_ADDR=HERE)
    assert metrics.status_code == 429
    assert ApiToken.objects.filter(digest=token_digest(secret)).exists()
