"""Answers of engines within a time as a whole: one that comes a byte at a time holds nobody longer than silence."""

import math
import ssl
import time
from collections.abc import Callable
from typing import Any

from urllib3 import BaseHTTPResponse, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPSConnection

from benchweb.catalog.reasons import Reason


class AnswerSocket(ssl.SSLSocket):
    """Reads until a moment, however often something comes; the time-out of each read holds beside it."""

    give_up_at = math.inf
    # Within how many seconds the answer was to be there, for the message.
    seconds = 0.0

    def expect(self, seconds: float) -> None:
        """Say that what is read from now on must be there within so many seconds."""
        self.give_up_at, self.seconds = time.monotonic() + seconds, seconds

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        """Read what there is; raise TimeoutError when nothing comes, or the moment is over."""
        silence_seconds = self.gettimeout()
        left_seconds = self.give_up_at - time.monotonic()
        if silence_seconds is not None and silence_seconds <= left_seconds:
            return super().recv_into(buffer, nbytes, flags)
        if left_seconds <= 0:
            raise self._incomplete()
        self.settimeout(left_seconds)
        try:
            return super().recv_into(buffer, nbytes, flags)
        except TimeoutError as error:
            raise self._incomplete() from error
        finally:
            self.settimeout(silence_seconds)

    def _incomplete(self) -> TimeoutError:
        return TimeoutError(Reason("answer_too_late", seconds=self.seconds))


class EngineConnection(HTTPSConnection):
    """A connection whose read time-out is that of the whole answer, from its first byte to its last."""

    answering: AnswerSocket | None = None

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]
        """Wait for an answer; its body is read within the same time."""
        if isinstance(self.sock, AnswerSocket) and isinstance(self.timeout, int | float):
            # Kept here too: http.client forgets the socket of a connection that the engine will close.
            self.answering = self.sock
            self.answering.expect(self.timeout)
        return super().getresponse()


class EnginePool(HTTPSConnectionPool):
    """Connections to one engine; its SSL context must make sockets of the class AnswerSocket."""

    ConnectionCls = EngineConnection


def deadline_of(response: BaseHTTPResponse) -> Callable[[float], None]:
    """Return what gives an answer under way another time, in seconds from then: for streams, part by part."""
    connection = response.connection
    if not isinstance(connection, EngineConnection) or connection.answering is None:
        raise TypeError(f"{connection!r}")
    return connection.answering.expect
