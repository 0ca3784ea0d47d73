"""Bodies are capped before they are read, and requests at once are bounded: a real uvicorn, and a fake application."""

import asyncio
import random
import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from http.client import HTTPConnection, HTTPResponse
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.cache import caches
from django.core.handlers.asgi import ASGIRequest
from django.core.signals import request_finished
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client
from pytest_django import Settings

from benchweb.accounts import throttle
from benchweb.accounts.services import token_create
from benchweb.api.parser import MAXIMUM_BODY_BYTES
from benchweb.common.exchange import ended_event, note_user
from benchweb.serving import bounds
from benchweb.serving.bounds import Bounded
from tests.factories import make_user
from tests.serving.loops import run

MIB = 1024 * 1024
Messages = list[dict[str, Any]]


class Application:
    """Answers when it is let; keeps what it was sent."""

    def __init__(self, content_type: bytes = b"text/plain") -> None:
        self.bodies: list[bytes] = []
        self.may_answer = asyncio.Event()
        self.may_end = asyncio.Event()
        self._content_type = content_type

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message["body"]
            if not message.get("more_body"):
                break
        self.bodies.append(body)
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"Content-Type", self._content_type)]})
        await self.may_end.wait()
        await send({"type": "http.response.body", "body": b""})


async def asked(
    bounded: Bounded,
    path: str = "/",
    body: tuple[bytes | None, ...] = (b"",),
    headers: tuple[tuple[bytes, bytes], ...] = (),
    address: str = "192.0.2.1",
) -> Messages:
    """Send a request whose body comes in the given parts; a last part of None never comes."""
    parts: Messages = [{"type": "http.request", "body": part, "more_body": True} for part in body if part is not None]
    if body[-1] is not None:
        parts[-1]["more_body"] = False
    answer: Messages = []

    async def receive() -> Any:
        if parts:
            return parts.pop(0)
        return await asyncio.Event().wait()

    async def send(message: Mapping[str, Any]) -> None:
        answer.append(dict(message))

    await bounded(scope_of(path, headers, address), receive, send)
    return answer


def scope_of(path: str, headers: tuple[tuple[bytes, bytes], ...], address: str) -> dict[str, Any]:
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": list(headers)}
    return scope | {"client": (address, 1)}


def status(answer: Messages) -> int:
    return int(answer[0]["status"])


def test_a_request_beyond_the_bound_is_refused_and_probes_never() -> None:
    async def crowd() -> None:
        application = Application()
        bounded = Bounded(application, requests_at_once=2)
        waiting = [asyncio.create_task(asked(bounded, address=f"192.0.2.{number}")) for number in range(2)]
        await asyncio.sleep(0.01)
        refused = await asked(bounded, "/hosts")
        assert status(refused) == 503
        assert dict(refused[0]["headers"])[b"Retry-After"] == b"2"
        assert b"Try again in a few seconds" in refused[1]["body"]
        problem = await asked(bounded, "/api/v1/hosts")
        assert dict(problem[0]["headers"])[b"Content-Type"] == b"application/problem+json"
        probes = [asyncio.create_task(asked(bounded, path)) for path in ("/livez", "/readyz", "/healthz")]
        await asyncio.sleep(0.01)
        application.may_answer.set()
        application.may_end.set()
        assert [status(answer) for answer in await asyncio.gather(*waiting, *probes)] == [200] * 5
        assert status(await asked(bounded)) == 200

    run(crowd())


async def read_by_nobody(bounded: Bounded) -> None:
    async def send(_message: Mapping[str, Any]) -> None:
        await asyncio.Event().wait()

    whole = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Any:
        return whole.pop() if whole else await asyncio.Event().wait()

    await bounded(scope_of("/", ((b"host", b"localhost"),), "192.0.2.1"), receive, send)


def test_who_reads_nothing_of_an_answer_loses_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "SEND_SECONDS", 0.05)

    async def slow() -> None:
        application = Application()
        application.may_answer.set()
        application.may_end.set()
        bounded = Bounded(application, requests_at_once=1)
        reader = asyncio.create_task(read_by_nobody(bounded))
        await asyncio.sleep(0.01)
        assert status(await asked(bounded)) == 503
        await asyncio.wait_for(reader, 5)
        assert status(await asked(bounded)) == 200

    run(slow())


@pytest.mark.django_db(transaction=True)
def test_what_a_page_used_is_given_back_when_nobody_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "SEND_SECONDS", 0.05)
    # Django gives the connection to the database back with this signal alone: else the pool has one less for ever.
    given_back: list[object] = []

    def note(sender: object, **_: object) -> None:
        given_back.append(sender)

    request_finished.connect(note)
    try:
        run(asyncio.wait_for(read_by_nobody(Bounded(get_asgi_application(), requests_at_once=1)), 60))
    finally:
        request_finished.disconnect(note)
    assert len(given_back) == 1


POLICY = {b"Content-Security-Policy", b"Permissions-Policy", b"X-Content-Type-Options", b"X-Frame-Options"}


def test_every_refusal_has_the_policies_of_a_page(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SECURE_HSTS_SECONDS = 3600
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    monkeypatch.setattr("benchweb.serving.bounds.BODY_SECONDS", 0.01)
    tls = (b"x-forwarded-proto", b"https")

    async def refuse(path: str) -> dict[int, Messages]:
        bounded = Bounded(Application(), requests_at_once=0)
        answers = [
            await asked(bounded, path, headers=(tls,)),
            await asked(bounded, path, headers=((b"content-length", b"9999999"), tls)),
            await asked(bounded, path, headers=((b"content-length", b"-1"), tls)),
            await asked(bounded, path, body=(None,), headers=(tls,)),
        ]
        return {status(answer): answer for answer in answers}

    monkeypatch.setattr("benchweb.serving.bounds._DRAIN_SECONDS", 0.01)
    for path in ("/hosts", "/api/v1/hosts"):
        answers = run(refuse(path))
        assert sorted(answers) == [400, 408, 413, 503]
        for answer in answers.values():
            headers = dict(answer[0]["headers"])
            assert headers.keys() >= POLICY
            assert headers[b"Strict-Transport-Security"].startswith(b"max-age=3600")


def test_a_stream_of_events_leaves_its_place_when_it_begins() -> None:
    async def watched() -> None:
        application = Application(b"text/event-stream; charset=utf-8")
        bounded = Bounded(application, requests_at_once=1)
        application.may_answer.set()
        streams = [asyncio.create_task(asked(bounded)) for _ in range(3)]
        for _ in range(3):
            await asyncio.sleep(0.01)
        application.may_end.set()
        assert [status(answer) for answer in await asyncio.gather(*streams)].count(200) >= 1
        assert not bounded._requests
        assert status(await asked(bounded)) == 200

    run(watched())


def test_views_beyond_the_bound_wait_until_an_answer_begins_and_probes_do_not() -> None:
    async def crowd() -> None:
        application = Application()
        bounded = Bounded(application, requests_at_once=10, views_at_once=1)
        first, second = (asyncio.create_task(asked(bounded)) for _ in range(2))
        await asyncio.sleep(0.01)
        assert len(application.bodies) == 1
        probe = asyncio.create_task(asked(bounded, "/livez"))
        await asyncio.sleep(0.01)
        assert len(application.bodies) == 2
        # The first answers, and streams on: its view is done.
        application.may_answer.set()
        await asyncio.sleep(0.01)
        assert len(application.bodies) == 3
        application.may_end.set()
        assert [status(await each) for each in (first, second, probe)] == [200] * 3

    run(crowd())


def test_a_failure_of_the_application_gives_its_place_back() -> None:
    async def failing(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("a fault")

    async def fail() -> None:
        bounded = Bounded(failing, requests_at_once=1)
        for _ in range(3):
            with pytest.raises(RuntimeError, match="a fault"):
                await asked(bounded)
        assert not bounded._requests

    run(fail())


async def ann_or_bob(request: HttpRequest) -> int | None:
    """Know two users by their tokens."""
    return {"Bearer ann": 1, "Bearer bob": 2}.get(request.headers.get("Authorization", ""))


ANN, BOB, NOBODY = (((b"authorization", f"Bearer {name}".encode()),) for name in ("ann", "bob", "nobody"))


def length(size: int) -> tuple[tuple[bytes, bytes], ...]:
    return ((b"content-length", str(size).encode()),)


def test_a_body_in_parts_comes_whole_and_one_too_large_never_reaches_the_application() -> None:
    async def send_parts() -> None:
        application = Application()
        application.may_answer.set()
        application.may_end.set()
        bounded = Bounded(application, requests_at_once=1, sender_of=ann_or_bob)
        assert status(await asked(bounded, body=(b"a", b"b" * 1000, b"c"))) == 200
        assert application.bodies == [b"a" + b"b" * 1000 + b"c"]
        exact = (b"x" * MIB, b"x" * (MAXIMUM_BODY_BYTES - MIB))
        assert status(await asked(bounded, body=exact, headers=ANN)) == 200
        assert status(await asked(bounded, body=(*exact, b"x"), headers=ANN)) == 413
        assert status(await asked(bounded, headers=((b"content-length", b"2097153"), *ANN))) == 413
        assert status(await asked(bounded, headers=((b"content-length", b"9" * 400), *ANN))) == 413
        assert status(await asked(bounded, headers=((b"content-length", b"-1"),))) == 400
        assert len(application.bodies) == 2
        assert_nothing_is_left(bounded)

    run(send_parts())


@pytest.mark.parametrize("path", ["/imports", "/api/v1/runs", "/livez"])
@pytest.mark.parametrize("headers", [(), NOBODY], ids=["nothing", "a token that doesn't hold"])
def test_a_stranger_sends_no_large_body_anywhere(
    path: str, headers: tuple[tuple[bytes, bytes], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "_DRAIN_SECONDS", 0.001)

    async def send() -> None:
        application = Application()
        application.may_answer.set()
        application.may_end.set()
        bounded = Bounded(application, requests_at_once=1, sender_of=ann_or_bob)
        small, large = b"x" * bounds.SMALL_BODY_BYTES, b"x" * (bounds.SMALL_BODY_BYTES + 1)
        assert status(await asked(bounded, path, (small,), headers)) == 200
        # By its length, before a byte of it is read, or as soon as there is more.
        assert status(await asked(bounded, path, (large,), headers + length(len(large)))) == 413
        refused = await asked(bounded, path, (small, b"x"), headers)
        assert status(refused) == 413
        assert b"65,536 bytes: log in, or bring a valid API token" in refused[1]["body"]
        assert len(application.bodies) == 1
        assert_nothing_is_left(bounded)

    run(send())


def assert_nothing_is_left(bounded: Bounded) -> None:
    """Look whether all that was counted is counted no more."""
    counts = (bounded._bodies, bounded._incoming, bounded._requests, bounded._strangers)
    assert counts == (Counter(),) * 4
    assert bounded._lanes._lanes == {}


def test_an_address_for_uploads_takes_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "LARGER_BODIES", {"/api/v1/imports": 8 * MIB})
    assert bounds.largest_body("/api/v1/imports") == 8 * MIB
    assert bounds.largest_body("/api/v1/plans") == MAXIMUM_BODY_BYTES


def test_a_body_that_does_not_come_is_refused_and_takes_no_place_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "BODY_SECONDS", 0.2)
    monkeypatch.setattr(bounds, "_DRAIN_SECONDS", 0.05)

    async def slowly() -> None:
        application = Application()
        application.may_answer.set()
        application.may_end.set()
        bounded = Bounded(application, requests_at_once=1)
        slow = asyncio.create_task(asked(bounded, body=(b"a", None)))
        await asyncio.sleep(0.05)
        assert status(await asked(bounded)) == 200
        assert status(await slow) == 408

    run(slowly())


def test_the_newest_large_body_is_refused_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "BODIES_AT_ONCE_BYTES", 3 * MIB)
    monkeypatch.setattr(bounds, "BODIES_OF_USER_BYTES", 2 * MIB)
    monkeypatch.setattr(bounds, "_DRAIN_SECONDS", 0.05)

    async def crowd() -> None:
        application = Application()
        bounded = Bounded(application, requests_at_once=20, sender_of=ann_or_bob)
        of_ann, of_bob = ANN + length(MIB), BOB + length(MIB)
        # Announced, and not yet there.
        waiting = [asyncio.create_task(asked(bounded, body=(b"x", None), headers=of_ann)) for _ in range(2)]
        await asyncio.sleep(0.01)
        assert status(await asked(bounded, body=(b"x" * MIB,), headers=of_ann)) == 503
        bobs = asyncio.create_task(asked(bounded, body=(b"x" * MIB,), headers=of_bob))
        await asyncio.sleep(0.01)
        assert status(await asked(bounded, body=(b"x" * MIB,), headers=of_bob)) == 503
        # While a refused one is still drained, it counts no more; bodies that are small or empty are never refused.
        application.may_answer.set()
        application.may_end.set()
        assert status(await bobs) == 200
        assert status(await asked(bounded, body=(b"x" * MIB,), headers=of_bob)) == 200
        for path in ("/livez", "/readyz", "/healthz", "/hosts"):
            assert status(await asked(bounded, path, address="203.0.113.9")) == 200
            assert status(await asked(bounded, path, (b"a=b",), address="203.0.113.9")) == 200
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert_nothing_is_left(bounded)

    run(crowd())


def test_one_address_has_a_share_of_the_slow_bodies_and_leaves_room_for_others() -> None:
    async def crowd() -> None:
        application = Application()
        application.may_answer.set()
        application.may_end.set()
        bounded = Bounded(application, requests_at_once=256)
        slow = [asyncio.create_task(asked(bounded, body=(b"x", None))) for _ in range(bounds.BODIES_OF_ADDRESS)]
        await asyncio.sleep(0.01)
        assert status(await asked(bounded, body=(b"x", b"y"))) == 503
        assert status(await asked(bounded)) == 200
        assert status(await asked(bounded, body=(b"x", b"y"), address="203.0.113.9")) == 200
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        assert_nothing_is_left(bounded)

    run(crowd())


def test_one_address_or_user_never_takes_all_requests(caplog: pytest.LogCaptureFixture) -> None:
    async def crowd() -> None:
        application = Application()
        bounded = Bounded(application, requests_at_once=8)
        waiting = [asyncio.create_task(asked(bounded)) for _ in range(4)]
        await asyncio.sleep(0.01)
        for _ in range(3):
            assert status(await asked(bounded)) == 503
        others = asyncio.create_task(asked(bounded, address="203.0.113.9"))
        await asyncio.sleep(0.01)
        application.may_answer.set()
        application.may_end.set()
        assert [status(answer) for answer in await asyncio.gather(*waiting, others)] == [200] * 5
        assert_nothing_is_left(bounded)

    run(crowd())
    # The first at once; those after it with the next line.
    lines = [record.getMessage() for record in caplog.records if record.name == "benchweb.serving.bounds"]
    assert lines == ["1 requests answered by 503, the last one POST '/': too many at once"]


class Views(Application):
    """Notes whose request each was, as a view does."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = ASGIRequest(scope, BytesIO())
        note_user(request, await ann_or_bob(request))
        await super().__call__(scope, receive, send)


def test_a_user_has_a_few_views_at_once_and_strangers_fewer() -> None:
    async def crowd() -> None:
        application = Views()
        bounded = Bounded(application, requests_at_once=256, views_at_once=16, sender_of=ann_or_bob)
        # Seen once, known from then on.
        application.may_answer.set()
        application.may_end.set()
        await asyncio.gather(asked(bounded, headers=ANN), asked(bounded, headers=BOB))
        application.may_answer.clear()
        application.bodies.clear()

        async def begun(headers: tuple[tuple[bytes, bytes], ...], address: str) -> tuple[int, list[Any]]:
            before = len(application.bodies)
            tasks = [asyncio.create_task(asked(bounded, headers=headers, address=address)) for _ in range(20)]
            await asyncio.sleep(0.02)
            return len(application.bodies) - before, tasks

        found = [
            await begun(headers, address)
            for headers, address in [
                (ANN, "192.0.2.1"),
                (BOB, "192.0.2.1"),
                ((), "192.0.2.1"),
                (NOBODY, "192.0.2.1"),
                ((), "192.0.2.2"),
                ((), "192.0.2.3"),
            ]
        ]
        views = [count for count, _ in found]
        assert views == [bounds.VIEWS_OF_USER] * 2 + [bounds.VIEWS_OF_STRANGER, 0, bounds.VIEWS_OF_STRANGER, 0]
        application.may_answer.set()
        assert {status(answer) for _, tasks in found for answer in await asyncio.gather(*tasks)} == {200}
        assert_nothing_is_left(bounded)

    run(crowd())


def test_livez_waits_behind_no_other_probe() -> None:
    async def crowd() -> None:
        hanging, living = Application(), Application()
        living.may_answer.set()
        living.may_end.set()

        async def application(scope: Any, receive: Any, send: Any) -> None:
            await (living if scope["path"] == "/livez" else hanging)(scope, receive, send)

        bounded = Bounded(application, requests_at_once=2)
        others = [asyncio.create_task(asked(bounded, "/readyz")) for _ in range(bounds.PROBES_AT_ONCE)]
        await asyncio.sleep(0.01)
        assert status(await asyncio.wait_for(asked(bounded, "/livez"), 5)) == 200
        hanging.may_answer.set()
        hanging.may_end.set()
        assert {status(answer) for answer in await asyncio.gather(*others)} == {200}
        assert_nothing_is_left(bounded)

    run(crowd())


def test_strangers_of_many_addresses_leave_places_to_users() -> None:
    async def crowd() -> None:
        application = Views()
        application.may_answer.set()
        application.may_end.set()
        bounded = Bounded(application, requests_at_once=16)
        # Seen once, known from then on.
        assert status(await asked(bounded, headers=ANN)) == 200
        application.may_answer.clear()
        strangers = [asyncio.create_task(asked(bounded, address=f"192.0.2.{number}")) for number in range(20)]
        await asyncio.sleep(0.02)
        ann = [asyncio.create_task(asked(bounded, headers=ANN)) for _ in range(5)]
        await asyncio.sleep(0.02)
        application.may_answer.set()
        assert Counter(status(answer) for answer in await asyncio.gather(*strangers)) == {200: 12, 503: 8}
        assert Counter(status(answer) for answer in await asyncio.gather(*ann)) == {200: 4, 503: 1}
        assert_nothing_is_left(bounded)

    run(crowd())


def test_a_database_that_is_away_refuses_a_larger_body_and_is_no_fault_of_the_servers() -> None:
    async def away(_: HttpRequest) -> int | None:
        raise OperationalError("the database is away")

    async def sent() -> None:
        bounded = Bounded(Application(), requests_at_once=2, sender_of=away)
        assert status(await asked(bounded, "/imports", (b"",), ANN + length(100_000))) == 503
        assert_nothing_is_left(bounded)

    run(sent())


def test_who_waits_too_long_for_a_turn_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "WAIT_SECONDS", 0.05)

    async def crowd() -> None:
        application = Application()
        bounded = Bounded(application, requests_at_once=20, views_at_once=1)
        first = asyncio.create_task(asked(bounded))
        await asyncio.sleep(0.01)
        assert status(await asked(bounded)) == 503
        application.may_answer.set()
        application.may_end.set()
        assert status(await first) == 200
        assert_nothing_is_left(bounded)

    run(crowd())


def test_a_view_that_takes_too_long_is_answered_and_told_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "VIEW_SECONDS", 0.05)
    ended: list[bool] = []

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        assert (await receive())["type"] == "http.disconnect"
        ended.append(ended_event(scope).is_set())
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def wait() -> None:
        bounded = Bounded(slow, requests_at_once=20)
        answer = await asked(bounded)
        assert status(answer) == 503
        assert b"may still be done: look whether it was" in answer[1]["body"]
        assert [message["type"] for message in answer].count("http.response.start") == 1
        assert_nothing_is_left(bounded)

    run(wait())
    assert ended == [True]


OVERLAPS, AT_ONCE = 100_000, 500
PARTS = [b"x" * size for size in (0, 1, 1000, 40_000, 200_000, 1_500_000)]


def test_nothing_is_counted_after_100_000_random_overlaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers and writers are suspended, leave, send too much or nothing, at every point of an exchange."""
    monkeypatch.setattr(bounds, "_DRAIN_SECONDS", 0.001)
    monkeypatch.setattr(bounds, "BODY_SECONDS", 0.02)
    monkeypatch.setattr(bounds, "SEND_SECONDS", 0.02)
    monkeypatch.setattr(bounds, "VIEW_SECONDS", 0.02)
    monkeypatch.setattr(bounds, "WAIT_SECONDS", 0.05)
    monkeypatch.setattr(bounds, "_response", lambda request, refusal: HttpResponse(status=refusal.status))
    chance = random.Random(45)
    found: Counter[int] = Counter()

    async def pause() -> None:
        for _ in range(chance.choice((0, 0, 1, 1, 2, 5))):
            await asyncio.sleep(0)

    async def one(bounded: Bounded, number: int) -> None:
        parts = [chance.choice(PARTS) for _ in range(chance.choice((1, 1, 2, 3, 6)))]
        fate = chance.choice(("whole", "whole", "whole", "leaves", "stops", "cancelled"))

        async def receive() -> Any:
            await pause()
            if parts:
                body = parts.pop(0)
                return {"type": "http.request", "body": body, "more_body": bool(parts) or fate == "stops"}
            if fate == "leaves":
                return {"type": "http.disconnect"}
            return await asyncio.Event().wait()

        async def send(message: Mapping[str, Any]) -> None:
            await pause()
            if message["type"] == "http.response.start":
                found[message["status"]] += 1
            if chance.random() < 0.001:
                await asyncio.Event().wait()

        headers = chance.choice((ANN, BOB, NOBODY, ())) + (
            length(sum(map(len, parts))) if chance.random() < 0.5 else ()
        )
        path = chance.choice(("/imports", "/api/v1/runs", "/livez", "/"))
        task = asyncio.create_task(bounded(scope_of(path, headers, f"192.0.2.{number % 9}"), receive, send))
        if fate == "cancelled":
            await pause()
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def hasty(scope: Any, receive: Any, send: Any) -> None:
        request = ASGIRequest(scope, BytesIO())
        await pause()
        while (message := await receive()).get("more_body"):
            await pause()
        if message["type"] == "http.request":
            note_user(request, await ann_or_bob(request))
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    async def crowd() -> None:
        bounded = Bounded(hasty, requests_at_once=200, views_at_once=16, sender_of=ann_or_bob)
        for begin in range(0, OVERLAPS, AT_ONCE):
            await asyncio.gather(*(one(bounded, number) for number in range(begin, begin + AT_ONCE)))
        assert_nothing_is_left(bounded)

    run(crowd())
    assert found.keys() == {200, 408, 413, 503}
    assert min(found.values()) > 100


pytest_server = pytest.mark.django_db(transaction=True)


@pytest.fixture
def place(web: str) -> str:
    return urlsplit(web).netloc


def posted(place: str, path: str, body: Any, headers: dict[str, str] | None = None) -> HTTPResponse:
    host = HTTPConnection(place, timeout=30)
    host.request("POST", path, body=body, headers=headers or {}, encode_chunked=not isinstance(body, bytes))
    return host.getresponse()


def chunks(count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield b"x" * 65_536


@pytest_server
@pytest.mark.parametrize("path", ["/login", "/api/v1/plans", "/no-such-page", "/healthz"])
def test_the_server_refuses_a_large_body_with_and_without_its_length(place: str, path: str) -> None:
    for body in (b"x" * (MAXIMUM_BODY_BYTES + 1), b"x" * (8 * MIB)):
        answer = posted(place, path, body)
        assert answer.status == 413
        assert b"The body is larger than 2,097,152 bytes: send less at once." in answer.read()
    assert posted(place, path, chunks(100), {"Transfer-Encoding": "chunked"}).status == 413


@pytest_server
def test_the_server_takes_more_than_64_kib_from_who_is_known_alone(place: str, client: Client) -> None:
    user = make_user("ann", "operator")
    _, token = token_create(user=user, name="t")
    client.force_login(user)
    session = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"}
    body, form = b"x" * 100_000, {"Content-Type": "application/x-www-form-urlencoded"}
    for headers in ({}, {"Authorization": "Bearer no-such-token"}, {"Cookie": "sessionid=nobodys"}):
        for path in ("/imports", "/login", "/api/v1/plans", "/livez"):
            answer = posted(place, path, body, form | headers)
            assert (answer.status, b"65,536 bytes: log in" in answer.read()) == (413, True), path
            assert posted(place, path, chunks(3), {"Transfer-Encoding": "chunked"} | headers).status == 413
    # Read, and refused for what it says: by its CSRF token, its scope and its content.
    assert posted(place, "/imports", body, form | session).status == 403
    assert posted(place, "/api/v1/plans", body, {"Authorization": f"Bearer {token}"}).status in (400, 403)
    user.is_active = False
    user.save()
    assert posted(place, "/imports", body, form | session).status == 413
    assert posted(place, "/api/v1/plans", body, {"Authorization": f"Bearer {token}"}).status == 413


@pytest_server
def test_the_server_refuses_by_the_length_alone(place: str) -> None:
    host, _, port = place.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as client:
        client.sendall(b"POST /api/v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 413 ")


@pytest_server
@pytest.mark.parametrize("path", ["/hosts", "/api/v1/hosts"])
def test_an_unknown_host_name_is_refused_with_the_policies_of_a_page(place: str, path: str) -> None:
    host = HTTPConnection(place, timeout=30)
    host.request("GET", path, headers={"Host": "evil.example"})
    answer = host.getresponse()
    assert answer.status == 400
    assert {name.lower() for name in answer.headers} >= {name.decode().lower() for name in POLICY}


@pytest.fixture
def uncounted() -> Iterator[None]:
    """Begin without counted log-ins and leave none: whoever logs in next comes from the same address."""
    caches["default"].clear()
    yield
    caches["default"].clear()


def window() -> int:
    """Number the window in which the web counts attempts now."""
    return int(time.time()) // throttle.WINDOW_SECONDS


@pytest_server
@pytest.mark.usefixtures("uncounted")
def test_livez_is_answered_while_as_many_log_in_as_may(place: str) -> None:
    def log_in(number: int) -> int:
        form = f"username=ada&password={number}&csrfmiddlewaretoken={'t' * 32}"
        headers = {"Cookie": f"csrftoken={'t' * 32}", "Content-Type": "application/x-www-form-urlencoded"}
        return posted(place, "/login", form.encode(), headers).status

    begin = window()
    with ThreadPoolExecutor(20) as many:
        answers = [many.submit(log_in, number) for number in range(40)]
        next(as_completed(answers))
        host = HTTPConnection(place, timeout=30)
        host.request("GET", "/livez")
        assert host.getresponse().status == 200
        assert not all(answer.done() for answer in answers)
        found = [answer.result() for answer in answers]
    # As many again, where a window ended meanwhile.
    most = throttle.PAIR_ATTEMPTS * (1 + window() - begin)
    assert found.count(200) <= most
    assert found.count(200) + found.count(429) + found.count(503) == 40
    assert found.count(429) >= 30 - most
