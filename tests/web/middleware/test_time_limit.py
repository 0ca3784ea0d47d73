"""Statements of pages and API have a time limit, with a clear answer; those of workers and migrations have none."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client

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
