"""One server-sent stream for all runs that a browser watches: bounded per user, and over when the session is."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import DatabaseError, connection

from benchweb.runs.models import OPEN_STATES, Run
from benchweb.web.live.watching import LiveMessage, Position, watching

_RETRY_MILLISECONDS = 2000
# How long a stream may outlive the session that opened it.
SESSION_CHECK_SECONDS = 5.0
# Bounds what waits for a browser that reads slowly; the rest waits in the rooms, which are bounded too.
_MOST_WAITING = 100
_log = logging.getLogger(__name__)
# Streams under way in this process, by user.
_open: Counter[int] = Counter()
_OF_NO_RUN = 0
_OVER = ": this session has ended, or this user has too many streams\n\n"


@dataclass(frozen=True)
class Watcher:
    """A reader who watches; `is_logged_in` reads anew whether the session still holds."""

    user_id: int
    is_logged_in: Callable[[], Awaitable[bool]]


def has_room(user_id: int) -> bool:
    """Tell whether a user may open one more stream."""
    return _open[user_id] < settings.LIVE_STREAMS_PER_USER


async def stream(watcher: Watcher, positions: Mapping[int, Position], *, named: bool) -> AsyncIterator[str]:
    """Stream the messages of runs, each after its place, until all have ended; `named` events bear their run's id."""
    yield f"retry: {_RETRY_MILLISECONDS}\n\n"
    if not has_room(watcher.user_id):
        yield _OVER
        return
    heard: asyncio.Queue[tuple[int, str | None]] = asyncio.Queue(_MOST_WAITING)
    with _counted_stream(watcher.user_id), _tasks(watcher, positions, heard):
        left = len(positions)
        while left:
            run_id, text = await heard.get()
            if run_id == _OF_NO_RUN:
                yield _OVER
                return
            if text is None:
                left -= 1
            else:
                yield f"event: {run_id}\n{text}" if named and text.startswith(("id:", "data:")) else text


@contextlib.contextmanager
def _counted_stream(user_id: int) -> Iterator[None]:
    _open[user_id] += 1
    try:
        yield
    finally:
        _open[user_id] -= 1
        if not _open[user_id]:
            del _open[user_id]


@contextlib.contextmanager
def _tasks(
    watcher: Watcher, positions: Mapping[int, Position], heard: "asyncio.Queue[tuple[int, str | None]]"
) -> Iterator[None]:
    tasks = [asyncio.create_task(_follow(run_id, position, heard)) for run_id, position in positions.items()]
    tasks.append(asyncio.create_task(_end_with_session(watcher, heard)))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def _follow(run_id: int, after: Position, heard: "asyncio.Queue[tuple[int, str | None]]") -> None:
    try:
        async for text in _texts(run_id, after):
            await heard.put((run_id, text))
    except DatabaseError as error:
        _log.warning("the stream of run %s ends: %s", run_id, error)
    await heard.put((run_id, None))


async def _end_with_session(watcher: Watcher, heard: "asyncio.Queue[tuple[int, str | None]]") -> None:
    try:
        while await watcher.is_logged_in():
            await asyncio.sleep(SESSION_CHECK_SECONDS)
    except DatabaseError as error:
        _log.warning("a session can't be checked: %s", error)
    await heard.put((_OF_NO_RUN, None))


async def _texts(run_id: int, after: Position) -> AsyncIterator[str]:
    async with watching(run_id, run_state) as (room, queue):
        # The state is read after the subscription: an end in between is not lost.
        state = await run_state(run_id)
        yield LiveMessage({"type": "run", "state": state, "watchers": len(room.waiting)}).text
        for message in room.after(after):
            after = message.position or after
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
            if heard.position is not None and heard.position <= after:
                continue
            after = heard.position or after
            if heard.body.get("type") != "state":
                yield heard.text
            if heard.body.get("type") in ("run", "state"):
                state = heard.body.get("state", state)
        yield LiveMessage({"type": "end", "state": state}).text


def read_states(run_ids: list[int]) -> dict[int, str]:
    """Return the states of runs by their ids."""
    try:
        return dict(Run.objects.filter(pk__in=run_ids).values_list("pk", "state"))
    finally:
        # Given back before the next message: two hundred watchers must not hold two hundred connections.
        connection.close()


async def run_state(run_id: int) -> str:
    """Return a run's state; nothing of one that isn't there."""
    return (await sync_to_async(read_states)([run_id])).get(run_id, "")
