"""Values of the database that a process holds: read at first use, and by servers every few seconds beside requests."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from django.core.exceptions import SynchronousOnlyOperation
from django.db import DatabaseError, connection

# How late a server learns of what another process has stored.
READ_AGAIN_SECONDS = 5.0
V = TypeVar("V")
_all: "list[Followed[Any]]" = []
_log = logging.getLogger(__name__)


class Followed(Generic[V]):
    """A value that is read from the database as a whole; `unread` stands for it until that succeeds."""

    def __init__(self, read: Callable[[], V], *, unread: V) -> None:
        self.due_at = 0.0
        self._read = read
        self._unread = self._value = unread
        self._is_read = False
        self._lock = threading.Lock()
        _all.append(self)

    def value(self) -> V:
        """Return what was read last; the first call in a process reads it, where no server has."""
        if not self._is_read:
            self.read_now()
        return self._value

    def read_now(self) -> None:
        """Read it, as who changes it does, also within the transaction that does: for the next seconds this holds.

        While the database is away what was read last stays in force.
        """
        with self._lock:
            self._is_read = True
            self.due_at = time.monotonic() + READ_AGAIN_SECONDS
            with suppress(DatabaseError, SynchronousOnlyOperation):
                self._value = self._read()

    def forget(self) -> None:
        """Fall back to `unread`, and read nothing until told: for tests, whose databases come and go."""
        self._is_read = True
        self._value = self._unread


def follow_all() -> None:
    """Keep every value up to date from now on: called by a server as it starts. No request waits for a reading."""
    is_read = threading.Event()
    threading.Thread(target=_follow, args=(is_read,), name="followed-values", daemon=True).start()
    is_read.wait(READ_AGAIN_SECONDS)


def _follow(is_read: threading.Event) -> None:
    while True:
        for followed in _all:
            if followed.due_at <= time.monotonic():
                _read(followed)
        connection.close()
        is_read.set()
        time.sleep(max(0.0, min(followed.due_at for followed in _all) - time.monotonic()))


def _read(followed: Followed[Any]) -> None:
    try:
        followed.read_now()
    except Exception:
        _log.exception("A value in the database can't be read")
