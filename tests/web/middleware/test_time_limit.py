"""Statements of pages and API have a time limit, with a clear answer; those of workers and migrations have none."""

import contextlib
import io
import logging
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from django.core.exceptions import RequestAborted
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from benchweb.common.exchange import ExchangeEnd, begin_exchange, end_exchange
from benchweb.common.rows import fetch_value
from benchweb.web.middleware.time_limit import TimeLimitMiddleware
from tests.conftest import ROOT
from tests.factories import make_user

SHOWN = """
from django.db import connection
cursor = connection.cursor()
cursor.execute("show statement_timeout")
print(cursor.fetchone()[0])
"""


def timeout_in(environment: dict[str, str], first: str) -> str:
    command = [sys.executable, "-c", f"{first}\n{SHOWN}"]
    values = environment | {"DJANGO_SETTINGS_MODULE": "benchweb.settings"}
    done = subprocess.run(command, env=values, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip().splitlines()[-1]


def test_only_the_webs_own_process_has_the_limit(environment_of_test: dict[str, str]) -> None:
    web, worker = "import benchweb.asgi", "import django; django.setup()"
    assert timeout_in(environment_of_test, web) == "15s"
    assert timeout_in(environment_of_test | {"BENCHWEB_STATEMENT_SECONDS": "2.5"}, web) == "2500ms"
    assert timeout_in(environment_of_test | {"BENCHWEB_STATEMENT_SECONDS": "0"}, web) == "0"
    assert timeout_in(environment_of_test, worker) == "0"


@pytest.fixture
def slow(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have every list of runs take the database longer than it may."""

    def sleeping(*_: object, **__: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("set statement_timeout = '50ms'")
            try:
                cursor.execute("select pg_sleep(5)")
            finally:
                cursor.execute("set statement_timeout = 0")

    monkeypatch.setattr("benchweb.runs.selectors.runs_matching", sleeping)
    return sleeping


def test_a_page_that_takes_too_long_says_so(
    slow: Callable[..., None], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchweb.web.plans.views.get_object_or_404", slow)
    client.force_login(make_user("reader", "x"))
    answer = client.get("/plans/1")
    assert answer.status_code == 503
    assert "Timed out" in answer.content.decode()


def test_a_call_that_takes_too_long_is_a_problem_document(slow: Callable[..., None], client: Client) -> None:
    from benchweb.accounts.services import token_create

    _, token = token_create(user=make_user("script", "x"), name="t")
    answer = client.get("/api/v1/runs", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert "ask for less" in answer.json()["detail"]


def asked(method: str, *, leaves_after: int) -> int:
    """Send a request whose view asks the database three times; return how often it could."""
    request = RequestFactory().generic(method, "/")
    scope: dict[str, object] = begin_exchange()
    request.scope = scope  # type: ignore[attr-defined]
    count = 0

    def view(request: HttpRequest) -> HttpResponse:
        nonlocal count
        for _ in range(3):
            if count == leaves_after:
                end_exchange(scope)
            with connection.cursor() as cursor:
                cursor.execute("select 1")
            count += 1
        return HttpResponse()

    with contextlib.suppress(RequestAborted):
        TimeLimitMiddleware(view)(request)
    return count


@pytest.mark.django_db
def test_what_nobody_waits_for_asks_the_database_nothing_more() -> None:
    assert asked("GET", leaves_after=0) == 0
    assert asked("GET", leaves_after=2) == 2
    assert asked("GET", leaves_after=5) == 3
    # What is to be changed is changed to its end.
    assert asked("POST", leaves_after=1) == 3


def test_a_statement_under_way_ends_when_its_reader_leaves(transactional_db: None) -> None:
    request, scope = RequestFactory().get("/"), begin_exchange()
    request.scope = scope  # type: ignore[attr-defined]
    sleeping = "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"

    def leave() -> None:
        while not fetch_value(sleeping):
            continue
        end_exchange(scope)
        connection.close()

    def view(request: HttpRequest) -> HttpResponse:
        with connection.cursor() as cursor:
            cursor.execute("select pg_sleep(5)")
        return HttpResponse()

    reader = threading.Thread(target=leave)
    reader.start()
    with pytest.raises(RequestAborted):
        TimeLimitMiddleware(view)(request)
    reader.join()
    # Nothing is left behind on the connection.
    assert fetch_value("select 1") == 1


def test_a_reader_who_left_is_no_fault_of_the_server(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, transactional_db: None
) -> None:
    from benchweb.accounts.services import token_create

    def gone(*_: object, **__: object) -> None:
        raise RequestAborted("Nobody waits for this answer any more.")

    monkeypatch.setattr("benchweb.runs.selectors.runs_matching", gone)
    monkeypatch.setattr("benchweb.web.plans.views.get_object_or_404", gone)
    _, token = token_create(user=make_user("script", "x"), name="t")
    client.force_login(make_user("reader", "x"))
    assert client.get("/api/v1/runs", headers={"Authorization": f"Bearer {token}"}).status_code == 503
    assert client.get("/plans/1").status_code == 503
    assert [record for record in caplog.records if record.exc_info] == []


def test_a_reader_who_left_before_the_view_is_in_no_log(
    client: Client, monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> None:
    client.force_login(make_user("reader", "x"))
    client.raise_request_exception = False
    end = ExchangeEnd()
    end.set()
    monkeypatch.setattr("benchweb.web.middleware.time_limit.ended_event", lambda _: end)
    [console] = [each for each in logging.getLogger().handlers if each.name == "console"]
    written = io.StringIO()
    monkeypatch.setattr(console, "stream", written)
    assert client.get("/plans").status_code == 500
    assert written.getvalue() == ""
