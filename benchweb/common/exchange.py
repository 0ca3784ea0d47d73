"""Let a request and the server's bounds tell each other things by the ASGI scope; imports no room."""

import threading

from django.core.exceptions import RequestAborted
from django.http import HttpRequest

_ENDED, _USER = "benchweb.ended", "benchweb.user"


def begin_exchange() -> dict[str, object]:
    """Return what a scope needs for the functions below."""
    return {_ENDED: threading.Event()}


def end_exchange(scope: dict[str, object]) -> None:
    """Note that nobody waits for the answer any more."""
    ended_event(scope).set()


def ended_event(scope: dict[str, object]) -> threading.Event:
    """Return what is set once nobody waits for the answer any more."""
    ended = scope.get(_ENDED)
    return ended if isinstance(ended, threading.Event) else threading.Event()


def check_wanted(request: HttpRequest) -> None:
    """Raise RequestAborted once nobody waits for the answer any more: for long work that changes nothing."""
    if ended_event(scope_of(request)).is_set():
        raise RequestAborted("Nobody waits for this answer any more.")


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
