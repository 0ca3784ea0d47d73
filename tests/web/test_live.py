"""A run's event stream, from a real ASGI server: what a browser that watches receives."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from benchweb.runs import live
from benchweb.runs.models import Run, State
from benchweb.runs.services import run_cancel
from tests.factories import make_run

pytestmark = pytest.mark.django_db(transaction=True)
START_SECONDS = 20


@pytest.fixture
def server(transactional_db) -> Iterator[int]:
    """Start uvicorn on a free port, on the tests' own database and broker; give the port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}&port={database['PORT']}"
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "benchweb.asgi:application",
        "--port",
        str(port),
        "--log-level",
        "error",
    ]
    environment = os.environ | {"BENCHWEB_DATABASE_URL": url, "BENCHWEB_DEBUG": "1"}
    process = subprocess.Popen(command, env=environment, cwd=settings.BASE_DIR)
    try:
        await_port(port)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def await_port(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"uvicorn did not listen on {port} within {START_SECONDS} s")


def open_stream(port: int, run_id: int, client: Client | None) -> HTTPResponse:
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value if client else ""
    stream = HTTPConnection("127.0.0.1", port, timeout=10)
    stream.request("GET", f"/runs/{run_id}/events", headers={"Cookie": f"{settings.SESSION_COOKIE_NAME}={cookie}"})
    return stream.getresponse()


def next_message(stream: HTTPResponse) -> dict:
    while True:
        line = stream.readline().decode()
        assert line, "the stream ended before a message"
        if line.startswith("data: "):
            return json.loads(line.removeprefix("data: "))


@pytest.fixture
def watcher(client: Client) -> Client:
    client.force_login(User.objects.create_user("watcher", password="a-long-password"))
    return client


def test_a_watcher_hears_each_message_and_the_stream_ends_with_the_run(server: int, watcher: Client) -> None:
    run = make_run()
    stream = open_stream(server, run.pk, watcher)
    assert stream.headers["Content-Type"] == "text/event-stream"
    assert next_message(stream) == {"type": "run", "state": "pending"}
    live.publish(run.pk, {"type": "trial", "trial": 1, "index": 1, "state": "running"})
    assert next_message(stream) == {"type": "trial", "trial": 1, "index": 1, "state": "running"}
    assert run_cancel(run=run)
    assert next_message(stream) == {"type": "run", "state": "cancelled"}
    assert next_message(stream) == {"type": "end", "state": "cancelled"}
    assert stream.read() == b"\n"


def test_a_finished_run_ends_its_stream_at_once(server: int, watcher: Client) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    stream = open_stream(server, run.pk, watcher)
    assert [next_message(stream)["type"], next_message(stream)["type"]] == ["run", "end"]


def test_a_watcher_holds_no_database_connection(server: int, watcher: Client) -> None:
    run = make_run()
    streams = [open_stream(server, run.pk, watcher) for _ in range(5)]
    for stream in streams:
        assert next_message(stream)["type"] == "run"
    with connection.cursor() as cursor:
        cursor.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        )
        # The pool keeps a connection or two open for the next request; five watchers hold none of them.
        assert cursor.fetchone()[0] <= 2
    for stream in streams:
        stream.close()


def test_a_stranger_is_refused_and_hears_nothing(server: int) -> None:
    run = make_run()
    answer = open_stream(server, run.pk, None)
    assert (answer.status, answer.read()) == (403, b"Log in first.")


def test_a_run_that_is_not_there_has_no_stream(server: int, watcher: Client) -> None:
    answer = open_stream(server, 9999, watcher)
    assert (answer.status, answer.read()) == (404, b"There is no run 9999.")
