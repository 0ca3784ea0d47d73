"""Bounds around the application: bodies are capped before they are read, and requests at once are few.

An ordinary ASGI wrapper: it knows nothing of the application but its addresses.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.translation import gettext, gettext_noop

from benchweb.api.parser import MAXIMUM_BODY_BYTES
from benchweb.api.problems import Problem, problem_response
from benchweb.common.loopback import is_loopback_name
from benchweb.web.middleware.security_headers import guarded

Message = Mapping[str, Any]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# Whether this process lives, and what it needs: asked most when there is most to do.
PROBES = frozenset({"/livez", "/readyz", "/healthz"})
PROBES_AT_ONCE = 32
# The largest body by the beginning of its address; the longest beginning counts. Uploads go here.
LARGER_BODIES: Mapping[str, int] = {"/imports": 24 * 1024 * 1024}
# Of all requests together that wait to be answered.
BODIES_AT_ONCE_BYTES = 64 * 1024 * 1024
BODY_SECONDS = 20.0
# A part of an answer is some 64 KiB: whoever takes longer for one keeps a place from those who read.
SEND_SECONDS = 60.0
RETRY_AFTER_SECONDS = 2
# What is still read of a refused body, so that a client that sends first and reads then sees the refusal.
_DRAIN_BYTES = 16 * 1024 * 1024
_DRAIN_SECONDS = 5.0
# Digits of a length that is worth being read as a number.
_LONGEST_LENGTH = 18
_TEXT = "text/plain; charset=utf-8"
_TOO_LARGE = gettext_noop("The body is larger than %(bytes)s bytes: send less at once.")
_TOO_SLOW = gettext_noop("The body did not arrive within %(seconds)d seconds.")
_BAD_LENGTH = gettext_noop("The header Content-Length is not a number.")
_DEMO_IS_LOCAL = gettext_noop("The demo is for its own machine only. Start with --no-demo for others to use benchweb.")
_BUSY = gettext_noop("benchweb has too much to do at this moment. Try again in a few seconds.")


@dataclass
class Refusal(Exception):
    """Why a request isn't passed on; `detail` is a text to translate, with its values."""

    status: HTTPStatus
    detail: str
    values: Mapping[str, Any] = field(default_factory=dict)


class Gone(Exception):
    """The client left before the end of what it sends."""


class Bounded:
    """Pass on what is within the bounds, and answer the rest: 413, 408 or 503."""

    def __init__(self, application: Application, *, requests_at_once: int, views_at_once: int | None = None) -> None:
        self._application = application
        # Others wait here, without a thread: hundreds of threads would keep probes waiting for seconds.
        self._views = asyncio.Semaphore(views_at_once or requests_at_once)
        self._most = requests_at_once
        self._requests = 0
        self._probes = 0
        self._body_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        body = _Body(receive, largest_body(scope["path"]))
        try:
            await self._answer(scope, body, send)
        except Gone:
            return
        except Refusal as refusal:
            await _refuse(scope, body, send, refusal)
        finally:
            self._body_bytes -= body.counted

    async def _answer(self, scope: Scope, body: "_Body", send: Send) -> None:
        _check_demo(scope)
        _check_length(scope, body.most)
        await self._read(body)
        if scope["path"] in PROBES:
            await self._probe(scope, body, send)
            return
        if self._requests >= self._most:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, _BUSY)
        self._requests += 1
        slot = _Slot(self._leave)
        try:
            await self._views.acquire()
            view = _Slot(self._views.release)
            try:
                await self._application(scope, body.replay, slot.watching(view.until_the_answer(send)))
            finally:
                view.leave()
        finally:
            slot.leave()

    async def _probe(self, scope: Scope, body: "_Body", send: Send) -> None:
        if self._probes >= PROBES_AT_ONCE:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, _BUSY)
        self._probes += 1
        try:
            await self._application(scope, body.replay, send)
        finally:
            self._probes -= 1

    async def _read(self, body: "_Body") -> None:
        """Read the whole body first: who sends slowly takes no place from those who have sent."""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while not body.is_whole:
                    self._body_bytes += await body.read_on()
                    if self._body_bytes > BODIES_AT_ONCE_BYTES:
                        raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, _BUSY)
        except TimeoutError:
            raise Refusal(HTTPStatus.REQUEST_TIMEOUT, _TOO_SLOW, {"seconds": BODY_SECONDS}) from None

    def _leave(self) -> None:
        self._requests -= 1


def largest_body(path: str) -> int:
    """Return the most bytes that are taken at an address."""
    fitting = [start for start in LARGER_BODIES if path.startswith(start)]
    return LARGER_BODIES[max(fitting, key=len)] if fitting else MAXIMUM_BODY_BYTES


class _Body:
    """A request's body: read up to its bound, then given to the application in one piece."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._parts: list[bytes] = []
        self._is_given = False
        self.most = most
        self.counted = 0
        self.is_whole = False

    async def read_on(self) -> int:
        """Read the next part; return its length."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise Gone
        part: bytes = message.get("body", b"")
        self.is_whole = not message.get("more_body", False)
        if self.counted + len(part) > self.most:
            raise _too_large(self.most)
        self.counted += len(part)
        self._parts.append(part)
        return len(part)

    async def replay(self) -> Message:
        """Return the body, then whatever the server says next."""
        if self._is_given:
            return await self._receive()
        self._is_given = True
        whole = b"".join(self._parts)
        self._parts.clear()
        return {"type": "http.request", "body": whole, "more_body": False}

    async def drain(self) -> None:
        """Read and drop the rest, within reason."""
        self._parts.clear()
        dropped = 0
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                while not self.is_whole and dropped < _DRAIN_BYTES:
                    message = await self._receive()
                    dropped += len(message.get("body", b""))
                    # A client that left sends no more either.
                    self.is_whole = not message.get("more_body", False)
        except TimeoutError:
            return


class _Slot:
    """One of the requests at once; an event stream leaves its place when it begins."""

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        self._is_held = True

    def leave(self) -> None:
        """Leave, once."""
        if self._is_held:
            self._is_held = False
            self._leave()

    def until_the_answer(self, send: Send) -> Send:
        """Return a `send` that leaves the slot when the answer begins: what streams may take long."""

        async def sent(message: Message) -> None:
            self.leave()
            await send(message)

        return sent

    def watching(self, send: Send) -> Send:
        """Return a `send` that waits only so long for the reader.

        A stream of events, which is nothing for long stretches, leaves the place instead.
        """

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_event_stream(message):
                self.leave()
            try:
                async with asyncio.timeout(SEND_SECONDS if self._is_held else None):
                    await send(message)
            except TimeoutError:
                raise Gone from None

        return sent


def _check_demo(scope: Scope) -> None:
    """Refuse what doesn't come in by loopback while the demo is on, whatever address the server was told to take."""
    address, _ = scope.get("server") or ("127.0.0.1", None)
    if settings.DEMO and not is_loopback_name(str(address)):
        raise Refusal(HTTPStatus.FORBIDDEN, _DEMO_IS_LOCAL)


def _check_length(scope: Scope, most: int) -> None:
    """Refuse by what the client says that it will send, before any of it is read."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            if not value.isdigit():
                raise Refusal(HTTPStatus.BAD_REQUEST, _BAD_LENGTH)
            if len(value) > _LONGEST_LENGTH or int(value) > most:
                raise _too_large(most)


def _too_large(most: int) -> Refusal:
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE, {"bytes": f"{most:,}"})


def _is_event_stream(message: Message) -> bool:
    headers = {bytes(name).lower(): bytes(value) for name, value in message.get("headers", ())}
    return headers.get(b"content-type", b"").startswith(b"text/event-stream")


async def _refuse(scope: Scope, body: _Body, send: Send, refusal: Refusal) -> None:
    """Send the refusal, then read some of what still comes, then end the connection."""
    response = _response(ASGIRequest(scope, BytesIO()), refusal)
    headers = [(name.encode(), value.encode()) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content, "more_body": True})
    await body.drain()
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _response(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    headers = {"Connection": "close", "Cache-Control": "no-store"}
    if refusal.status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if request.path.startswith("/api/"):
        problem = Problem(refusal.status, refusal.detail % refusal.values, headers=headers)
        response = problem_response(request, problem)
    else:
        with translation.override(translation.get_language_from_request(request)):
            text = gettext(refusal.detail) % refusal.values
        response = HttpResponse(text + "\n", status=refusal.status, content_type=_TEXT, headers=headers)
    response["Content-Length"] = str(len(response.content))
    guarded(request, response)
    return response
