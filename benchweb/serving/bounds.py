"""Bounds around the application: bodies are capped before they are read, and requests at once are few.

An ordinary ASGI wrapper. What it knows of the application are its addresses, and who sent a request that it answered.
"""

import asyncio
import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.translation import gettext, gettext_noop

from benchweb.accounts.addresses import address_group, client_address
from benchweb.api.parser import MAXIMUM_BODY_BYTES
from benchweb.api.problems import Problem, problem_response
from benchweb.common.exchange import begin_exchange, end_exchange, noted_user
from benchweb.common.loopback import is_loopback_name
from benchweb.serving.lanes import Lanes
from benchweb.serving.senders import credential_of, sender_of
from benchweb.web.middleware.security_headers import guarded

Message = Mapping[str, Any]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
SenderOf = Callable[[HttpRequest], Awaitable[int | None]]

# Whether this process lives, and what it needs: asked most when there is most to do.
PROBES = frozenset({"/livez", "/readyz", "/healthz"})
PROBES_AT_ONCE, PROBES_OF_ADDRESS = 32, 4
# What anybody may send, known or not; the bounds of requests bound these too.
SMALL_BODY_BYTES = 64 * 1024
# The largest body by the beginning of its address; the longest beginning counts. Uploads go here.
LARGER_BODIES: Mapping[str, int] = {"/imports": 24 * 1024 * 1024}
# Of all larger bodies together until they are answered, and of those of one user.
BODIES_AT_ONCE_BYTES, BODIES_OF_USER_BYTES = 64 * 1024 * 1024, 32 * 1024 * 1024
BODY_SECONDS = 20.0
# Bodies that are still coming in, of one address.
BODIES_OF_ADDRESS = 64
# Views at once: a user's pages ask for their parts at the same time, a stranger's hardly ever.
VIEWS_OF_USER, VIEWS_OF_STRANGER, VIEWS_OF_STRANGERS = 4, 2, 4
# How long a request waits for its turn, and how long its view may take until the answer begins.
WAIT_SECONDS, VIEW_SECONDS = 20.0, 60.0
# A part of an answer is some 64 KiB: whoever takes longer for one keeps a place from those who read.
SEND_SECONDS = 60.0
RETRY_AFTER_SECONDS = 2
# Users remembered by what they bring, so that their next request doesn't wait among strangers.
_REMEMBERED = 4096
# What is still read of a refused body, so that a client that sends first and reads then sees the refusal.
_DRAIN_BYTES = 16 * 1024 * 1024
_DRAIN_SECONDS = 5.0
# Digits of a length that is worth being read as a number.
_LONGEST_LENGTH = 18
_LOG_SECONDS = 10.0
_TEXT = "text/plain; charset=utf-8"
_TOO_LARGE = gettext_noop("The body is larger than %(bytes)s bytes: send less at once.")
_TOO_LARGE_FOR_STRANGERS = gettext_noop(
    "The body is larger than %(bytes)s bytes: log in, or bring a valid API token, to send more."
)
_TOO_SLOW = gettext_noop("The body did not arrive within %(seconds)d seconds.")
_BAD_LENGTH = gettext_noop("The header Content-Length is not a number.")
_DEMO_IS_LOCAL = gettext_noop("The demo is for its own machine only. Start with --no-demo for others to use benchweb.")
_BUSY = gettext_noop("benchweb has too much to do at this moment. Try again in a few seconds.")
_VIEW_TOO_LONG = gettext_noop("The answer took longer than %(seconds)d seconds: ask for less, such as a shorter time.")
_CHANGE_TOO_LONG = gettext_noop(
    "This took longer than %(seconds)d seconds and may still be done: look whether it was before you try again."
)
_log = logging.getLogger(__name__)


@dataclass
class Refusal(Exception):
    """A reason not to pass a request on; `detail` is a text to translate, with its values."""

    status: HTTPStatus
    detail: str
    values: Mapping[str, Any] = field(default_factory=dict)


class Gone(asyncio.CancelledError):
    """The reader takes nothing of the answer any more.

    To the application that is as when the reader left: Django gives its connection back then, and after no other error.
    """


class Bounded:
    """Pass on what is within the bounds, and answer the rest: 400, 403, 408, 413 or 503."""

    def __init__(
        self,
        application: Application,
        *,
        requests_at_once: int,
        views_at_once: int | None = None,
        sender_of: SenderOf = sender_of,
    ) -> None:
        self._application = application
        self._sender_of = sender_of
        self._requests_at_once = requests_at_once
        # Others wait, without a thread: hundreds of threads would keep probes waiting for seconds.
        self._views_at_once = views_at_once or requests_at_once
        self._lanes = Lanes()
        # Whose requests wait or are answered, by user and by a stranger's address; and bodies coming in, by address.
        self._requests: Counter[Hashable] = Counter()
        self._strangers: Counter[Hashable] = Counter()
        self._incoming: Counter[Hashable] = Counter()
        # Bytes of larger bodies, by user.
        self._bodies: Counter[Hashable] = Counter()
        self._users: OrderedDict[str, int] = OrderedDict()
        self._refused = _RefusalLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        exchange = Exchange(self, scope, receive, send)
        try:
            await exchange.check()
            await self._application(exchange.scope, exchange.receive, exchange.send)
        except Gone:
            return
        except Refusal as refusal:
            # What is drained is counted no more.
            exchange.end()
            self._refused.note(scope, refusal)
            with suppress(Gone):
                await exchange.refuse(refusal)
        finally:
            exchange.end()
            self._remember(exchange)

    def enter_body(self, address: str) -> Callable[[], None]:
        """Count a body that is coming in; return what counts it no more."""
        return _counted(self._incoming, address, 1, of_one=BODIES_OF_ADDRESS, of_all=self._requests_at_once * 4)

    async def sender_of(self, exchange: "Exchange") -> int | None:
        """Return the user whose session or token holds, looked up in the database; None without one."""
        if exchange.is_probe or not exchange.credential:
            return None
        leave = await self._lanes.enter([(("senders", exchange.address), VIEWS_OF_STRANGER)])
        try:
            return await self._sender_of(exchange.request)
        except DatabaseError as error:
            _log.warning("nobody can be looked up who sends a larger body: %s", error)
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, _BUSY) from error
        finally:
            leave()

    def reserve_bytes(self, user: int, size: int) -> Callable[[], None]:
        """Reserve room for a larger body: the newest is refused, those before it never; return what frees it."""
        return _counted(self._bodies, user, size, of_one=BODIES_OF_USER_BYTES, of_all=BODIES_AT_ONCE_BYTES)

    def enter_request(self, exchange: "Exchange") -> Callable[[], None]:
        """Count a whole request until its answer is sent.

        A user, or a stranger's address, has half of all at most, and all strangers three quarters: two of them would
        else leave nothing to the users.
        """
        most = self._requests_at_once
        half = max(1, most // 2)
        if user := self.user_of(exchange):
            return _counted(self._requests, user, 1, of_one=half, of_all=most - self._strangers.total())
        of_all = min(most - most // 4, most - self._requests.total())
        return _counted(self._strangers, exchange.address, 1, of_one=half, of_all=of_all)

    async def enter_view(self, exchange: "Exchange") -> Callable[[], None]:
        """Wait for a thread; return what gives it back."""
        if exchange.is_probe:
            # Each of its own: /livez asks nothing, and waits behind none that asks a broker that hangs.
            path = exchange.request.path_info
            bounds: list[tuple[Hashable, int]] = [
                ((path, exchange.address), PROBES_OF_ADDRESS),
                (path, PROBES_AT_ONCE),
            ]
        elif user := self.user_of(exchange):
            bounds = [(user, VIEWS_OF_USER), ("views", self._views_at_once)]
        else:
            bounds = [(exchange.address, VIEWS_OF_STRANGER), ("strangers", VIEWS_OF_STRANGERS)]
            bounds.append(("views", self._views_at_once))
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                return await self._lanes.enter(bounds)
        except TimeoutError:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, _BUSY) from None

    def user_of(self, exchange: "Exchange") -> int | None:
        """Return the user who brought the same session or token before; none is let in for that alone."""
        return self._users.get(exchange.credential)

    def _remember(self, exchange: "Exchange") -> None:
        user = noted_user(exchange.scope)
        if user is None or not exchange.credential:
            return
        self._users.pop(exchange.credential, None)
        if user:
            self._users[exchange.credential] = user
        while len(self._users) > _REMEMBERED:
            self._users.popitem(last=False)


def _counted(counts: Counter[Hashable], who: Hashable, size: int, *, of_one: int, of_all: int) -> Callable[[], None]:
    """Count what somebody takes of something that is bounded; return what takes it back, once."""
    if counts[who] + size > of_one or counts.total() + size > of_all:
        if not counts[who]:
            del counts[who]
        raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, _BUSY)
    counts[who] += size
    taken = ExitStack()

    @taken.callback
    def give_back() -> None:
        counts[who] -= size
        if not counts[who]:
            del counts[who]

    return taken.close


def largest_body(path: str) -> int:
    """Return the most bytes that are taken at an address."""
    fitting = [start for start in LARGER_BODIES if path.startswith(start)]
    return LARGER_BODIES[max(fitting, key=len)] if fitting else MAXIMUM_BODY_BYTES


class Exchange:
    """One request and its answer, as they pass between the server and the application."""

    def __init__(self, bounds: Bounded, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope: Scope = scope | begin_exchange()
        self._bounds = bounds
        self._receive = receive
        self._send = send
        # Without the query: Django refuses one that is no UTF-8, in words of its own.
        self.request: HttpRequest = ASGIRequest(scope | {"query_string": b""}, BytesIO())
        self.is_probe = self.request.path_info in PROBES
        self.address = address_group(client_address(self.request))
        self.credential = credential_of(self.request)
        self._most = largest_body(self.request.path_info)
        self._allowed = min(SMALL_BODY_BYTES, self._most)
        self._size = 0
        self._is_whole = False
        self._is_begun = False
        self._is_refused = False
        self._is_stream = False
        self._deadline = asyncio.get_running_loop().time() + BODY_SECONDS
        # What is given back at the end, and, of these, what earlier.
        self._taken = ExitStack()
        self._leave_body: Callable[[], None] | None = None
        self._leave_request: Callable[[], None] = lambda: None
        self._leave_view: Callable[[], None] = lambda: None

    async def check(self) -> None:
        """Refuse by the head alone, before any of the body is read."""
        _check_demo(self.scope)
        announced = _announced_length(self.scope, self._most)
        if announced > self._allowed:
            await self._allow(announced)

    async def receive(self) -> Message:
        """Return the next part of the body; then wait until the reader leaves, or the view takes too long."""
        if self._is_whole:
            return await self._until_left()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise Refusal(HTTPStatus.REQUEST_TIMEOUT, _TOO_SLOW, {"seconds": BODY_SECONDS}) from None
        if message["type"] == "http.disconnect":
            return message
        self._size += len(message.get("body", b""))
        if self._size > self._allowed:
            await self._allow(self._most)
            if self._size > self._most:
                raise _too_large(self._most)
        if message.get("more_body", False):
            if self._leave_body is None:
                self._leave_body = self._take(self._bounds.enter_body(self.address))
        else:
            await self._enter()
        return message

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on, and wait only so long for the reader."""
        if self._is_refused:
            return
        if message["type"] == "http.response.start":
            self._is_begun = True
            # What streams may take long.
            self._leave_view()
            if _is_event_stream(message):
                # It is nothing for long stretches.
                self._is_stream = True
                self._leave_request()
        await self._pass_on(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Send the refusal, then read some of what still comes, then end the connection."""
        if self._is_begun:
            return
        self._is_refused = self._is_begun = True
        response = _response(self.request, refusal)
        headers = [(name.encode(), value.encode()) for name, value in response.items()]
        await self._pass_on({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await self._pass_on({"type": "http.response.body", "body": response.content, "more_body": True})
        await self._drain()
        await self._pass_on({"type": "http.response.body", "body": b"", "more_body": False})

    def end(self) -> None:
        """Give back all that was taken."""
        self._taken.close()

    async def _pass_on(self, message: Message) -> None:
        try:
            async with asyncio.timeout(None if self._is_stream else SEND_SECONDS):
                await self._send(message)
        except TimeoutError:
            raise Gone from None

    async def _allow(self, size: int) -> None:
        """Let a larger body in, up to `size` bytes, when somebody sends it who is known."""
        if size > self._most or self._allowed > SMALL_BODY_BYTES or self._most <= SMALL_BODY_BYTES:
            raise _too_large(self._most)
        user = await self._bounds.sender_of(self)
        if user is None:
            values = {"bytes": f"{SMALL_BODY_BYTES:,}"}
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE_FOR_STRANGERS, values)
        self._take(self._bounds.reserve_bytes(user, size))
        self._allowed = size

    async def _enter(self) -> None:
        """Wait for a place, now that all is there: who sends slowly takes none from those who have sent."""
        self._is_whole = True
        if self._leave_body:
            self._leave_body()
        if not self.is_probe:
            self._leave_request = self._take(self._bounds.enter_request(self))
        self._leave_view = self._take(await self._bounds.enter_view(self))
        self._deadline = asyncio.get_running_loop().time() + VIEW_SECONDS

    async def _until_left(self) -> Message:
        """Wait for the reader to leave; answer in the view's stead when it takes too long. Its statements end then."""
        try:
            async with asyncio.timeout_at(None if self._is_begun else self._deadline):
                message = await self._receive()
        except TimeoutError:
            if self._is_begun:
                return await self._receive()
            _log.error("%s %r took over %g s", self.scope["method"], self.scope["path"][:100], VIEW_SECONDS)
            text = _VIEW_TOO_LONG if self.scope["method"] in ("GET", "HEAD") else _CHANGE_TOO_LONG
            with suppress(Gone):
                await self.refuse(Refusal(HTTPStatus.SERVICE_UNAVAILABLE, text, {"seconds": round(VIEW_SECONDS)}))
            message = {"type": "http.disconnect"}
        end_exchange(self.scope)
        return message

    async def _drain(self) -> None:
        """Read and drop the rest, within reason."""
        dropped = 0
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                while not self._is_whole and dropped < _DRAIN_BYTES:
                    message = await self._receive()
                    dropped += len(message.get("body", b""))
                    # A client that left sends no more either.
                    self._is_whole = not message.get("more_body", False)
        except TimeoutError:
            return

    def _take(self, give_back: Callable[[], None]) -> Callable[[], None]:
        self._taken.callback(give_back)
        return give_back


class _RefusalLog:
    """Write what is refused for want of room to the log: one line in some seconds, with the count since the last."""

    def __init__(self) -> None:
        self._count = 0
        self._next_at = 0.0

    def note(self, scope: Scope, refusal: Refusal) -> None:
        """Count a 503, and write a line unless there was one just now."""
        if refusal.status != HTTPStatus.SERVICE_UNAVAILABLE:
            return
        self._count += 1
        if time.monotonic() >= self._next_at:
            method, path = scope.get("method", ""), scope["path"][:100]
            _log.warning("%d requests answered by 503, the last one %s %r: too many at once", self._count, method, path)
            self._count, self._next_at = 0, time.monotonic() + _LOG_SECONDS


def _check_demo(scope: Scope) -> None:
    """Refuse what doesn't come in by loopback while the demo is on, whatever address the server was told to take."""
    address, _ = scope.get("server") or ("127.0.0.1", None)
    if settings.DEMO and not is_loopback_name(str(address)):
        raise Refusal(HTTPStatus.FORBIDDEN, _DEMO_IS_LOCAL)


def _announced_length(scope: Scope, most: int) -> int:
    """Return how long the client says that the body is, 0 where it doesn't; refuse more than `most` bytes."""
    length = 0
    for name, value in scope["headers"]:
        if name == b"content-length":
            if not value.isdigit():
                raise Refusal(HTTPStatus.BAD_REQUEST, _BAD_LENGTH)
            if len(value) > _LONGEST_LENGTH or int(value) > most:
                raise _too_large(most)
            length = max(length, int(value))
    return length


def _too_large(most: int) -> Refusal:
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE, {"bytes": f"{most:,}"})


def _is_event_stream(message: Message) -> bool:
    headers = {bytes(name).lower(): bytes(value) for name, value in message.get("headers", ())}
    return headers.get(b"content-type", b"").startswith(b"text/event-stream")


def _response(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    headers = {"Connection": "close", "Cache-Control": "no-store"}
    if refusal.status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if request.path_info.startswith("/api/"):
        problem = Problem(refusal.status, refusal.detail % refusal.values, headers=headers)
        response = problem_response(request, problem)
    else:
        with translation.override(translation.get_language_from_request(request)):
            text = gettext(refusal.detail) % refusal.values
        response = HttpResponse(text + "\n", status=refusal.status, content_type=_TEXT, headers=headers)
    response["Content-Length"] = str(len(response.content))
    guarded(request, response)
    return response
