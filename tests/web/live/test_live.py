"""A run's event stream, from a real ASGI server: what a browser that watches receives."""

import json
import time
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from benchweb.accounts.models import UserSession
from benchweb.runs import live
from benchweb.runs.models import Run, State
from benchweb.runs.services import run_cancel
from tests.factories import make_run

pytestmark = pytest.mark.django_db(transaction=True)


def open_stream(web: str, run_id: int, client: Client | None, **headers: str) -> HTTPResponse:
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value if client else ""
    stream = HTTPConnection(urlsplit(web).netloc, timeout=60)
    headers["Cookie"] = f"{settings.SESSION_COOKIE_NAME}={cookie}"
    stream.request("GET", f"/runs/{run_id}/events", headers=headers)
    return stream.getresponse()


def next_message(stream: HTTPResponse) -> dict[str, Any]:
    while True:
        line = stream.readline().decode()
        assert line, "the stream ended before a message"
        if line.startswith("data: "):
            message: dict[str, Any] = json.loads(line.removeprefix("data: "))
            return message


def interval(trial: int, event: int) -> dict[str, Any]:
    return {"type": "interval", "trial": 7, "index": trial, "event": event, "metric": "throughput_bps"}


@pytest.fixture
def watcher(client: Client) -> Client:
    client.force_login(User.objects.create_user("watcher"))
    return client


def test_a_watcher_hears_each_message_and_the_stream_ends_with_the_run(web: str, watcher: Client) -> None:
    run = make_run()
    stream = open_stream(web, run.pk, watcher)
    assert stream.headers["Content-Type"] == "text/event-stream"
    assert next_message(stream) == {"type": "run", "state": "pending", "watchers": 1}
    live.publish(run.pk, {"type": "trial", "trial": 1, "index": 1, "state": "running"})
    assert next_message(stream) == {"type": "trial", "trial": 1, "index": 1, "state": "running", "watchers": 1}
    assert run_cancel(run=run)
    assert next_message(stream) == {"type": "run", "state": "cancelled", "watchers": 1}
    assert next_message(stream) == {"type": "end", "state": "cancelled"}
    assert stream.read() == b"\n"


def test_a_finished_run_ends_its_stream_at_once(web: str, watcher: Client) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    stream = open_stream(web, run.pk, watcher)
    assert [next_message(stream)["type"], next_message(stream)["type"]] == ["run", "end"]


def test_a_watcher_holds_no_database_connection(web: str, watcher: Client) -> None:
    run = make_run()
    streams = []
    counts = []
    for _ in range(6):
        # One after the other: requests at one time would make the pool as large.
        streams.append(open_stream(web, run.pk, watcher))
        assert next_message(streams[-1])["type"] == "run"
        counts.append(connections_of_others())
    # The pool keeps open what earlier requests, and the reading beside them, needed at one time; five more watchers
    # need none beside the first's.
    assert counts[-1] <= counts[0] + 2
    for stream in streams:
        stream.close()


def connections_of_others() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        )
        (count,) = cursor.fetchone()
    return int(count)


def test_a_stranger_is_refused_and_hears_nothing(web: str) -> None:
    run = make_run()
    answer = open_stream(web, run.pk, None)
    assert (answer.status, answer.read()) == (403, b"Log in first.")


def test_a_run_that_is_not_there_has_no_stream(web: str, watcher: Client) -> None:
    answer = open_stream(web, 9999, watcher)
    assert (answer.status, answer.read()) == (404, b"There is no run 9999.")


def test_a_latecomer_hears_the_intervals_so_far_and_a_returning_one_what_it_missed(web: str, watcher: Client) -> None:
    run = make_run()
    for event in (1, 2):
        live.publish_interval(run.pk, interval(1, event))
    first = open_stream(web, run.pk, watcher)
    heard = [next_message(first) for _ in range(3)]
    assert heard[1:] == [interval(1, 1), interval(1, 2)]
    live.publish_interval(run.pk, interval(2, 1))
    assert next_message(first) == interval(2, 1)
    # A worker that took over tells from the beginning: nobody hears anything twice.
    live.publish_interval(run.pk, interval(1, 1))
    live.publish_interval(run.pk, interval(2, 2))
    assert next_message(first) == interval(2, 2)
    returned = open_stream(web, run.pk, watcher, **{"Last-Event-ID": "2.1"})
    assert [next_message(returned)["type"], next_message(returned)] == ["run", interval(2, 2)]


def test_every_watcher_hears_of_the_same_message_and_how_many_they_are(web: str, watcher: Client) -> None:
    run = make_run()
    streams = [open_stream(web, run.pk, watcher) for _ in range(3)]
    assert [next_message(stream)["type"] for stream in streams] == ["run", "run", "run"]
    live.publish(run.pk, {"type": "trial", "index": 1})
    assert [next_message(stream)["watchers"] for stream in streams] == [3, 3, 3]
    # One subscription for all of them.
    assert live.client().pubsub_numsub(live.channel(run.pk))[0][1] == 1


def open_live(web: str, query: str, client: Client) -> HTTPResponse:
    stream = HTTPConnection(urlsplit(web).netloc, timeout=60)
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    stream.request("GET", f"/live?{query}", headers={"Cookie": cookie})
    return stream.getresponse()


def next_event(stream: HTTPResponse) -> tuple[str, dict[str, Any]]:
    name = ""
    while True:
        line = stream.readline().decode()
        assert line, "the stream ended before an event"
        if line.startswith("event: "):
            name = line.removeprefix("event: ").strip()
        if line.startswith("data: "):
            return name, json.loads(line.removeprefix("data: "))


def test_one_stream_tells_of_several_runs_by_their_ids_and_ends_with_the_last(web: str, watcher: Client) -> None:
    first, second = make_run(), make_run()
    live.publish_interval(first.pk, interval(1, 1))
    live.publish_interval(second.pk, interval(1, 1))
    live.publish_interval(second.pk, interval(1, 2))
    stream = open_live(web, f"run={first.pk}&run={second.pk}:1.1", watcher)
    heard = sorted((next_event(stream) for _ in range(4)), key=str)
    begin = {"type": "run", "state": "pending", "watchers": 1}
    expected = [(first.pk, begin), (first.pk, interval(1, 1)), (second.pk, begin), (second.pk, interval(1, 2))]
    assert heard == sorted(((str(run), body) for run, body in expected), key=str)
    for run in (first, second):
        assert run_cancel(run=run)
        assert [next_event(stream)[0] for _ in range(2)] == [str(run.pk)] * 2
    assert stream.read() == b"\n"


def test_of_several_runs_one_that_is_gone_is_told_as_ended(web: str, watcher: Client) -> None:
    run = make_run()
    stream = open_live(web, f"run={run.pk}&run=9999", watcher)
    heard = [next_event(stream) for _ in range(3)]
    assert ("9999", {"type": "end", "state": ""}) in heard
    assert (str(run.pk), {"type": "run", "state": "pending", "watchers": 1}) in heard


@pytest.mark.parametrize("query", ["", "run=x", "&".join(f"run={n}" for n in range(1, 52))])
def test_a_stream_names_its_runs(query: str, web: str, watcher: Client) -> None:
    answer = open_live(web, query, watcher)
    assert (answer.status, b"Name 1 to 50 runs" in answer.read()) == (400, True)


@pytest.mark.parametrize("end", ["log-out", "expiry", "disabled user", "new password"])
def test_a_stream_ends_with_its_session(end: str, web: str, watcher: Client) -> None:
    run, user = make_run(), User.objects.get()
    streams = [open_stream(web, run.pk, watcher), open_live(web, f"run={run.pk}", watcher)]
    assert [next_message(stream)["type"] for stream in streams] == ["run", "run"]
    if end == "log-out":
        watcher.post("/logout")
    elif end == "expiry":
        UserSession.objects.update(expire_date=timezone.now())
    elif end == "disabled user":
        User.objects.update(is_active=False)
    else:
        user.set_password("another-one")
        user.save()
    live.publish_interval(run.pk, interval(1, 1))
    begin = time.monotonic()
    assert [b"session has ended" in stream.read() for stream in streams] == [True, True]
    # Before the keep-alive of the room would have come round.
    assert time.monotonic() - begin < 12


def test_a_user_has_so_many_streams_and_room_again_when_one_is_closed(web: str, watcher: Client) -> None:
    run = make_run()
    streams = [open_stream(web, run.pk, watcher) for _ in range(settings.LIVE_STREAMS_PER_USER)]
    assert {next_message(stream)["type"] for stream in streams} == {"run"}
    refused = open_live(web, f"run={run.pk}", watcher)
    assert (refused.status, refused.headers["Retry-After"]) == (429, "30")
    assert refused.read().decode().startswith(f"{settings.LIVE_STREAMS_PER_USER} live streams of this user are open.")
    other = Client()
    other.force_login(User.objects.create_user("other"))
    assert open_live(web, f"run={run.pk}", other).status == 200
    streams.pop().close()
    give_up_at = time.monotonic() + 30
    while open_live(web, f"run={run.pk}", watcher).status != 200:
        assert time.monotonic() < give_up_at
        time.sleep(0.1)
