"""Ask a web server whether it lives, from time to time and without waiting for it; standard library only."""

import socket
import time
from dataclasses import dataclass

LOOPBACK = "127.0.0.1"
# It is on this machine: it takes a connection at once, refuses it, or has no room for one.
CONNECT_SECONDS = 0.2
_UNAVAILABLE = b" 503 "


@dataclass(frozen=True)
class Watch:
    """How often the server on `port` is asked, how long it may take, and after how many failures it counts as dead.

    Until its first answer, failures count only once it had the time to start.
    """

    port: int
    start_seconds: float = 60.0
    period_seconds: float = 10.0
    timeout_seconds: float = 10.0
    patience: int = 4


class Liveness:
    """Requests of /livez, one at a time; poll it a few times a second."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._connection: socket.socket | None = None
        self._asked_at = 0.0
        self._last_answer_at = 0.0
        self._counts_from = 0.0
        self._failures = 0
        self.begin()

    def begin(self) -> None:
        """Start anew: a server that has just been started has its time."""
        self._close()
        self._failures = 0
        self._asked_at = self._last_answer_at = time.monotonic()
        self._counts_from = self._asked_at + self._watch.start_seconds

    def is_dead(self) -> bool:
        """Go on with what is under way; tell whether the server failed too often."""
        now = time.monotonic()
        if self._connection is not None:
            self._listen(self._connection, now)
        elif now >= self._asked_at + self._watch.period_seconds:
            self._asked_at = now
            self._ask()
        return self._failures >= self._watch.patience

    def silent_seconds(self) -> float:
        """Return since when it gave no answer that counts."""
        return time.monotonic() - self._last_answer_at

    def _ask(self) -> None:
        try:
            self._connection = socket.create_connection((LOOPBACK, self._watch.port), timeout=CONNECT_SECONDS)
            self._connection.sendall(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            self._connection.setblocking(False)
        except OSError:
            self._judge(answered=False)

    def _listen(self, connection: socket.socket, now: float) -> None:
        try:
            # The first line comes whole: it is shorter than any packet.
            line = connection.recv(4_096).partition(b"\r\n")[0]
        except BlockingIOError:
            if now >= self._asked_at + self._watch.timeout_seconds:
                self._judge(answered=False)
        except OSError:
            self._judge(answered=False)
        else:
            # Any answer shows life, also that it knows no such host; 503 is what it says when it takes nobody.
            self._judge(answered=bool(line) and _UNAVAILABLE not in line)

    def _judge(self, *, answered: bool) -> None:
        self._close()
        if answered:
            self._failures = 0
            self._counts_from = self._last_answer_at = time.monotonic()
        elif time.monotonic() >= self._counts_from:
            self._failures += 1

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
