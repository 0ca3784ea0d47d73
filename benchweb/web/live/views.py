"""Live events of runs as server-sent events; the database stays the truth, Redis only wakes."""

from collections.abc import Awaitable, Callable
from typing import cast

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.accounts.sessions import SessionStore
from benchweb.common.rows import row_id
from benchweb.web.live.stream import Watcher, has_room, read_states, stream
from benchweb.web.live.watching import Position, parsed_position

# A browser watches one run a tab; its stream's address must stay within what proxies take.
MOST_RUNS = 50
_RETRY_AFTER_SECONDS = 30
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@needs(Permission.READ, redirects=False)
def run_events(request: HttpRequest, run_id: int) -> HttpResponseBase:
    """Stream a run's messages until its final state; no database connection is held meanwhile.

    A browser that comes back tells the last id that it heard, and gets the intervals after it.
    """
    after = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    return _answer(request, {run_id: parsed_position(after)}, named=False)


@needs(Permission.READ, redirects=False)
def live(request: HttpRequest) -> HttpResponseBase:
    """Stream the messages of several runs, `run=ID` or `run=ID:POSITION` each, as events named by the run's id.

    All tabs of a browser share this one stream: with HTTP/1.1 a browser opens six connections to a site.
    """
    requested = [text.partition(":") for text in request.GET.getlist("run")]
    positions = {
        run_id: parsed_position(position) for run, _, position in requested if (run_id := row_id(run)) is not None
    }
    if not 0 < len(positions) <= MOST_RUNS:
        return _plain(f"Name 1 to {MOST_RUNS} runs: run=ID or run=ID:POSITION, once a run.", 400)
    return _answer(request, positions, named=True)


def _answer(request: HttpRequest, positions: dict[int, Position], *, named: bool) -> HttpResponseBase:
    # Of several runs one that is gone is told as ended: the others go on.
    if not read_states(list(positions)):
        return _plain(f"There is no run {', '.join(map(str, positions))}.", 404)
    user = cast(User, request.user)
    if not has_room(user.pk):
        message = f"{settings.LIVE_STREAMS_PER_USER} live streams of this user are open. Close a running run's page."
        return _plain(message, 429, {"Retry-After": str(_RETRY_AFTER_SECONDS)})
    watcher = Watcher(user.pk, _session_check(request.session.session_key or ""))
    texts = stream(watcher, positions, named=named)
    return StreamingHttpResponse(texts, content_type="text/event-stream", headers=_HEADERS)


def _plain(text: str, status: int, headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8", headers=headers)


def _session_check(key: str) -> Callable[[], Awaitable[bool]]:
    def is_logged_in() -> bool:
        """Read the session and its user as the next request would: log-out, expiry, a disabled user, a new password."""
        fresh = HttpRequest()
        fresh.session = SessionStore(key)
        try:
            return get_user(fresh).is_authenticated
        finally:
            connection.close()

    return sync_to_async(is_logged_in)
