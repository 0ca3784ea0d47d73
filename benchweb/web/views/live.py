"""A run's live events as server-sent events; the database stays the truth, Redis only wakes."""

import json
from collections.abc import AsyncIterator
from typing import Any

import redis.asyncio
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from benchweb.runs.live import channel
from benchweb.runs.models import OPEN_STATES, Run

# Proxies drop a silent connection after 30 to 60 s.
KEEP_ALIVE_SECONDS = 15.0
_RETRY_MILLISECONDS = 2000


async def run_events(request: HttpRequest, run_id: int) -> HttpResponseBase:
    """Stream a run's messages until its final state; no database connection is held meanwhile."""
    allowed = (await request.auser()).is_authenticated
    state = await _state(run_id)
    if not allowed:
        return HttpResponse("Log in first.", status=403, content_type="text/plain")
    if not state:
        return HttpResponse(f"There is no run {run_id}.", status=404, content_type="text/plain")
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(_stream(run_id), content_type="text/event-stream", headers=headers)


async def _stream(run_id: int) -> AsyncIterator[str]:
    yield f"retry: {_RETRY_MILLISECONDS}\n\n"
    client = redis.asyncio.Redis.from_url(settings.REDIS_URL)
    try:
        async with client.pubsub() as subscription:
            await subscription.subscribe(channel(run_id))
            async for text in _messages(run_id, subscription):
                yield text
    except redis.RedisError:
        # The stream ends; the browser opens it again after the pause and reads the page anew.
        yield ": the broker is not reachable\n\n"
    finally:
        await client.aclose()


async def _messages(run_id: int, subscription: Any) -> AsyncIterator[str]:
    # The state is read after the subscription: an end in between is not lost.
    state = await _state(run_id)
    yield _event({"type": "run", "state": state})
    while state in OPEN_STATES:
        message = await subscription.get_message(ignore_subscribe_messages=True, timeout=KEEP_ALIVE_SECONDS)
        if message is None:
            yield ": alive\n\n"
            state = await _state(run_id)
            continue
        body = json.loads(message["data"])
        yield _event(body)
        if body.get("type") == "run":
            state = body.get("state", state)
    yield _event({"type": "end", "state": state})


@sync_to_async
def _state(run_id: int) -> str:
    try:
        return Run.objects.filter(pk=run_id).values_list("state", flat=True).first() or ""
    finally:
        # Given back before the next message: two hundred watchers must not hold two hundred connections.
        connection.close()


def _event(message: dict[str, Any]) -> str:
    return f"data: {json.dumps(message)}\n\n"
