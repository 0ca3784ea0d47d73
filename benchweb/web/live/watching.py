"""Whoever watches one run in this process shares one subscription: two hundred watchers cost the broker one."""

import asyncio
import contextlib
import json
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import redis.asyncio
from django.conf import settings

from benchweb.common.celery_client import warn
from benchweb.runs.live import INTERVALS_RETAINED, channel, intervals_key

# Proxies drop a silent connection after 30 to 60 s.
KEEP_ALIVE_SECONDS = 15.0
# A watcher that is so far behind (a sleeping laptop) is let go; it comes back and is told what it missed.
_MOST_WAITING = 500
Position = tuple[int, int]
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LiveMessage:
    """A message to watchers; `position` orders a run's intervals (trial, event) and is None for all else."""

    body: dict[str, Any]
    position: Position | None = None

    @cached_property
    def text(self) -> str:
        """Write a server-sent event, by whose id a browser that comes back goes on."""
        marked = f"id: {self.position[0]}.{self.position[1]}\n" if self.position else ""
        return f"{marked}data: {json.dumps(self.body)}\n\n"


# Sent when nothing else is: a browser that hears nothing for longer knows that its connection is dead.
ALIVE = "event: alive\ndata: {}\n\n"


def parsed_position(text: str) -> Position:
    """Read the id of the last event that a browser heard; from the beginning for anything else."""
    trial, _, event = text.partition(".")
    is_position = all(part.isascii() and part.isdecimal() and len(part) < 10 for part in (trial, event))
    return (int(trial), int(event)) if is_position else (-1, -1)


@dataclass
class RunWatchers:
    """The watchers of one run: what each is yet to be sent, and the intervals that latecomers are told."""

    run_id: int
    state_of: Callable[[int], Awaitable[str]]
    waiting: set["asyncio.Queue[LiveMessage | str | None]"] = field(default_factory=set)
    intervals: deque[LiveMessage] = field(default_factory=lambda: deque(maxlen=INTERVALS_RETAINED))
    is_subscribed: asyncio.Event = field(default_factory=asyncio.Event)
    is_broken: bool = False
    task: "asyncio.Task[None] | None" = None

    def after(self, position: Position) -> list[LiveMessage]:
        """Return the intervals that follow a place."""
        return [message for message in self.intervals if message.position and message.position > position]

    async def listen(self) -> None:
        """Pass the broker's messages on until nobody watches; None tells the watchers that it broke."""
        client = redis.asyncio.Redis.from_url(settings.REDIS_URL)
        try:
            async with client.pubsub() as subscription:
                await subscription.subscribe(channel(self.run_id))
                # Read after the subscription: what comes in between is there twice, and its place tells.
                for text in await client.lrange(intervals_key(self.run_id), 0, -1):
                    self._add(json.loads(text))
                self.is_subscribed.set()
                await self._pass_on(subscription)
        except redis.RedisError as error:
            warn(_log, "runs can't be watched", error)
        finally:
            self.is_broken = True
            self.is_subscribed.set()
            self._tell(None)
            await client.aclose()

    async def _pass_on(self, subscription: Any) -> None:
        while True:
            heard = await subscription.get_message(timeout=KEEP_ALIVE_SECONDS)
            if heard is None:
                self._tell(ALIVE)
                # A message may be lost; the state in the database is not.
                self._tell(LiveMessage({"type": "state", "state": await self.state_of(self.run_id)}))
            elif heard["type"] == "message" and (message := self._add(json.loads(heard["data"]))):
                self._tell(message)

    def _add(self, body: dict[str, Any]) -> LiveMessage | None:
        """Return the message to pass on; None for an interval that was there before."""
        if body.get("type") != "interval":
            return LiveMessage(body | {"watchers": len(self.waiting)})
        position = (int(body.get("index", 0)), int(body.get("event", 0)))
        if self.intervals and self.intervals[-1].position and position <= self.intervals[-1].position:
            return None
        self.intervals.append(LiveMessage(body, position))
        return self.intervals[-1]

    def _tell(self, message: LiveMessage | str | None) -> None:
        for queue in list(self.waiting):
            if queue.qsize() < _MOST_WAITING:
                queue.put_nowait(message)
            elif queue.qsize() == _MOST_WAITING:
                queue.put_nowait(None)


_rooms: dict[int, RunWatchers] = {}


@contextlib.asynccontextmanager
async def watching(
    run_id: int, state_of: Callable[[int], Awaitable[str]]
) -> AsyncIterator[tuple[RunWatchers, "asyncio.Queue[LiveMessage | str | None]"]]:
    """Join the watchers of a run; gives the room, and what the watcher is to be sent: None when it must leave."""
    room = _rooms.get(run_id)
    if room is None or room.is_broken:
        room = _rooms[run_id] = RunWatchers(run_id, state_of)
        room.task = asyncio.create_task(room.listen())
    queue: asyncio.Queue[LiveMessage | str | None] = asyncio.Queue()
    room.waiting.add(queue)
    try:
        await room.is_subscribed.wait()
        if room.is_broken:
            queue.put_nowait(None)
        yield room, queue
    finally:
        room.waiting.discard(queue)
        if not room.waiting:
            _close(room)


def _close(room: RunWatchers) -> None:
    if _rooms.get(room.run_id) is room:
        del _rooms[room.run_id]
    if room.task is not None:
        room.task.cancel()
