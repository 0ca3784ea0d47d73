"""Connections of uvicorn with a deadline for each request's head: who is silent or slow gives way to who speaks.

uvicorn itself waits without end for the first request of a connection and takes a head of any size. The methods that
are extended here are asyncio's (`Protocol`) and httptools' (callbacks of `HttpRequestParser`).
"""

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# A browser sends the head of a request at once; a connection that it opened for later use is simply closed.
HEAD_SECONDS = 10.0
HEAD_BYTES = 64 * 1024
# Requests of a connection that wait for the answer to the one before them: no browser sends any so early.
PIPELINED_REQUESTS = 8
CONNECTIONS_AT_ONCE = 4096
# Kept for the database, the broker, files and the libraries' own.
_OTHER_DESCRIPTORS = 256


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol, within bounds of time, size and number."""

    # Connections whose next head is not whole yet, the one that waits longest first; of this process.
    _silent: "dict[BoundedProtocol, None]" = {}
    # Those whose head is whole and whose body is not, likewise: they give way where nobody is silent.
    _sending: "dict[BoundedProtocol, None]" = {}
    _open = 0
    _most = CONNECTIONS_AT_ONCE

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        # Of a head, or after it, such as trailers: what is kept in memory and counts as nobody's body.
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; where there are too many, the one that was silent longest is closed for it."""
        super().connection_made(transport)
        BoundedProtocol._open += 1
        if self._open > self._most:
            longest = next(iter(self._silent or self._sending or {self: None}))
            # Its end comes later than the next connection, for which another one is closed.
            longest._give_way()
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        BoundedProtocol._open -= 1
        self._end_head()
        self._sending.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Refuse a head that never ends, trailers that don't, and a crowd of requests at once."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > HEAD_BYTES or len(self.pipeline) > PIPELINED_REQUESTS:
            self.transport.abort()

    def on_message_begin(self) -> None:
        """Begin to wait for the head of a further request."""
        super().on_message_begin()
        self._head_bytes = 0
        if self._head_timer is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        """Let a request go on whose head is whole."""
        self._end_head()
        self._head_bytes = 0
        self._sending[self] = None
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Let a body go on: its bytes are counted elsewhere."""
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Let the next request begin."""
        self._head_bytes = 0
        self._sending.pop(self, None)
        super().on_message_complete()

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._silent[self] = None
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _give_way(self) -> None:
        self._silent.pop(self, None)
        self._sending.pop(self, None)
        self.transport.abort()

    def _end_head(self) -> None:
        self._silent.pop(self, None)
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def allow_connections() -> int:
    """Raise this process's limit of descriptors to what the connections need; return how many connections fit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS_AT_ONCE + _OTHER_DESCRIPTORS
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    BoundedProtocol._most = max(limit - _OTHER_DESCRIPTORS, limit // 2)
    return BoundedProtocol._most
