"""A run's live events as server-sent events; the database stays the truth, Redis only wakes."""

from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from benchweb.runs.models import OPEN_STATES, Run
from benchweb.web.watching import Message, Place, parsed_place, watching

_RETRY_MILLISECONDS = 2000


def run_events(request: HttpRequest, run_id: int) -> HttpResponseBase:
    """Stream a run's messages until its final state; no database connection is held meanwhile.

    A browser that comes back tells the last id that it heard, and gets the intervals after it.
    """
    allowed = request.user.is_authenticated
    state = _read_state(run_id)
    if not allowed:
        return HttpResponse("Log in first.", status=403, content_type="text/plain")
    if not state:
        return HttpResponse(f"There is no run {run_id}.", status=404, content_type="text/plain")
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    after = parsed_place(request.headers.get("Last-Event-ID") or request.GET.get("after", ""))
    return StreamingHttpResponse(_stream(run_id, after), content_type="text/event-stream", headers=headers)


async def _stream(run_id: int, after: Place) -> AsyncIterator[str]:
    yield f"retry: {_RETRY_MILLISECONDS}\n\n"
    async with watching(run_id, _state) as (room, queue):
        # The state is read after the subscription: an end in between is not lost.
        state = await _state(run_id)
        yield Message({"type": "run", "state": state, "watchers": len(room.waiting)}).text
        for message in room.after(after):
            after = message.place or after
            yield message.text
        while state in OPEN_STATES:
            heard = await queue.get()
            if heard is None:
                # The stream ends; the browser opens it again after the pause and reads the page anew.
                yield ": the broker is not reachable, or this connection fell behind\n\n"
                return
            if isinstance(heard, str):
                yield heard
                continue
            if heard.place is not None and heard.place <= after:
                continue
            after = heard.place or after
            if heard.body.get("type") != "state":
                yield heard.text
            if heard.body.get("type") in ("run", "state"):
                state = heard.body.get("state", state)
        yield Message({"type": "end", "state": state}).text


def _read_state(run_id: int) -> str:
    try:
        return Run.objects.filter(pk=run_id).values_list("state", flat=True).first() or ""
    finally:
        # Given back before the next message: two hundred watchers must not hold two hundred connections.
        connection.close()


_state = sync_to_async(_read_state)
