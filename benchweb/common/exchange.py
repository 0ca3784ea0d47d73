"""Let a request and the server's bounds tell each other things by the ASGI scope; imports no room."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.core.exceptions import RequestAborted
from django.http import HttpRequest

_ENDED, _USER = "benchweb.ended", "benchweb.user"
NOBODY_WAITS = "Nobody waits for this answer any more."
# A statement that was only about to begin isn't stopped by what came before it.
_STOP_AGAIN_SECONDS = 0.5


class ExchangeEnd(threading.Event):
    """Set once nobody waits for an answer any more; what is under way for it then is stopped."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()
        self._stop: Callable[[], None] | None = None

    def set(self) -> None:
        """Note it, and stop what is under way: in another thread, for the caller must not wait."""
        super().set()
        if self._stop:
            threading.Thread(target=self._stop_until_over, name="exchange-end", daemon=True).start()

    @contextmanager
    def stopped_by(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call `stop`, which may be called again, when the end comes meanwhile; never once this is left."""
        with self._changed:
            self._stop = stop
        try:
            yield
        finally:
            with self._changed:
                self._stop = None
                self._changed.notify_all()

    def _stop_until_over(self) -> None:
        with self._changed:
            while self._stop:
                self._stop()
                self._changed.wait(_STOP_AGAIN_SECONDS)


def begin_exchange() -> dict[str, object]:
    """Return what a scope needs for the functions below."""
    return {_ENDED: ExchangeEnd()}


def end_exchange(scope: dict[str, object]) -> None:
    """Note that nobody waits for the answer any more."""
    ended_event(scope).set()


def ended_event(scope: dict[str, object]) -> ExchangeEnd:
    """Return what is set once nobody waits for the answer any more."""
    ended = scope.get(_ENDED)
    return ended if isinstance(ended, ExchangeEnd) else ExchangeEnd()


def check_wanted(request: HttpRequest) -> None:
    """Raise RequestAborted once nobody waits for the answer any more: for long work that changes nothing."""
    if ended_event(scope_of(request)).is_set():
        raise RequestAborted(NOBODY_WAITS)


def scope_of(request: HttpRequest) -> dict[str, object]:
    """Return a request's scope, an empty one for a request that came by no server."""
    scope: dict[str, object] = getattr(request, "scope", {})
    return scope


def note_user(request: HttpRequest, user_id: int | None) -> None:
    """Note whose a request is, None for a stranger's: users don't wait among strangers."""
    scope_of(request)[_USER] = user_id or 0


def noted_user(scope: dict[str, object]) -> int | None:
    """Return whose a request was, 0 for a stranger's, None where nobody asked."""
    user = scope.get(_USER)
    return user if isinstance(user, int) else None
