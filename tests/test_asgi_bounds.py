"""Bodies are capped before they are read, and requests at once are bounded: a real uvicorn, and a fake application."""

import asyncio
import socket
import time
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.cache import caches
from pytest_django import Settings

from benchweb import asgi_bounds
from benchweb.api.parser import MAXIMUM_BODY_BYTES
from benchweb.asgi_bounds import Bounded


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a thread of its own: a browser's test leaves a running loop in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, coroutine).result()


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
        self.bodies.append((await receive())["body"])
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"Content-Type", self._content_type)]})
        await self.may_end.wait()
        await send({"type": "http.response.body", "body": b""})


async def asked(
    bounded: Bounded,
    path: str = "/",
    body: tuple[bytes | None, ...] = (b"",),
    headers: tuple[tuple[bytes, bytes], ...] = (),
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

    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": list(headers)}
    await bounded(scope, receive, send)
    return answer


def status(answer: Messages) -> int:
    return int(answer[0]["status"])


def test_a_request_beyond_the_bound_is_refused_and_probes_never() -> None:
    async def crowd() -> None:
        application = Application()
        bounded = Bounded(application, requests_at_once=2)
        waiting = [asyncio.create_task(asked(bounded)) for _ in range(2)]
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

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    await bounded({"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}, receive, send)


def test_who_reads_nothing_of_an_answer_loses_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi_bounds, "SEND_SECONDS", 0.05)

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


POLICY = {b"Content-Security-Policy", b"Permissions-Policy", b"X-Content-Type-Options", b"X-Frame-Options"}


def test_every_refusal_has_the_policies_of_a_page(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SECURE_HSTS_SECONDS = 3600
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    monkeypatch.setattr("benchweb.asgi_bounds.BODY_SECONDS", 0.01)
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

    monkeypatch.setattr("benchweb.asgi_bounds._DRAIN_SECONDS", 0.01)
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
        assert bounded._requests == 0
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
        assert bounded._requests == 0

    run(fail())


def test_a_body_in_parts_comes_whole_and_one_too_large_never_reaches_the_application() -> None:
    async def send_parts() -> None:
        application = Application()
        application.may_answer.set()
        application.may_end.set()
        bounded = Bounded(application, requests_at_once=1)
        assert status(await asked(bounded, body=(b"a", b"b" * 1000, b"c"))) == 200
        assert application.bodies == [b"a" + b"b" * 1000 + b"c"]
        exact = (b"x" * MIB, b"x" * (MAXIMUM_BODY_BYTES - MIB))
        assert status(await asked(bounded, body=exact)) == 200
        assert status(await asked(bounded, body=(*exact, b"x"))) == 413
        assert status(await asked(bounded, headers=((b"content-length", b"2097153"),))) == 413
        assert status(await asked(bounded, headers=((b"content-length", b"9" * 400),))) == 413
        assert status(await asked(bounded, headers=((b"content-length", b"-1"),))) == 400
        assert len(application.bodies) == 2
        assert bounded._body_bytes == 0

    run(send_parts())


def test_an_address_for_uploads_takes_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi_bounds, "LARGER_BODIES", {"/api/v1/imports": 8 * MIB})
    assert asgi_bounds.largest_body("/api/v1/imports") == 8 * MIB
    assert asgi_bounds.largest_body("/api/v1/plans") == MAXIMUM_BODY_BYTES


def test_a_body_that_does_not_come_is_refused_and_takes_no_place_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi_bounds, "BODY_SECONDS", 0.2)
    monkeypatch.setattr(asgi_bounds, "_DRAIN_SECONDS", 0.05)

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


def test_bodies_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi_bounds, "BODIES_AT_ONCE_BYTES", 3 * MIB)
    monkeypatch.setattr(asgi_bounds, "_DRAIN_SECONDS", 0.05)

    async def together() -> None:
        application = Application()
        bounded = Bounded(application, requests_at_once=9)
        waiting = [asyncio.create_task(asked(bounded, body=(b"x" * MIB,))) for _ in range(3)]
        await asyncio.sleep(0.01)
        assert status(await asked(bounded, body=(b"x" * MIB,))) == 503
        application.may_answer.set()
        application.may_end.set()
        assert [status(answer) for answer in await asyncio.gather(*waiting)] == [200] * 3
        assert bounded._body_bytes == 0

    run(together())


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


@pytest_server
@pytest.mark.usefixtures("uncounted")
def test_livez_is_answered_while_as_many_log_in_as_may(place: str) -> None:
    def log_in(number: int) -> int:
        form = f"username=ada&password={number}&csrfmiddlewaretoken={'t' * 32}"
        headers = {"Cookie": f"csrftoken={'t' * 32}", "Content-Type": "application/x-www-form-urlencoded"}
        return posted(place, "/login", form.encode(), headers).status

    with ThreadPoolExecutor(20) as many:
        answers = [many.submit(log_in, number) for number in range(40)]
        time.sleep(0.2)
        began = time.monotonic()
        host = HTTPConnection(place, timeout=30)
        host.request("GET", "/livez")
        assert host.getresponse().status == 200
        assert time.monotonic() - began < 2
        found = [answer.result() for answer in answers]
    assert found.count(200) <= 10
    assert found.count(200) + found.count(429) + found.count(503) == 40
    assert found.count(429) >= 20
