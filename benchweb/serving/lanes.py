"""Lanes that so many pass at a time: whoever finds one full waits there, first come, first served."""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass


@dataclass
class _Lane:
    """The places of one lane, and how many have or want one: a lane of nobody is forgotten."""

    places: asyncio.Semaphore
    users: int = 0


class Lanes:
    """Lanes by their names, made when somebody comes."""

    def __init__(self) -> None:
        self._lanes: dict[Hashable, _Lane] = {}

    async def enter(self, bounds: Sequence[tuple[Hashable, int]]) -> Callable[[], None]:
        """Wait for a place in each lane, in this order; return what leaves them all and may be called twice.

        Who waits in a narrow lane holds no place in a wider one, as long as the narrow ones come first.
        """
        places = ExitStack()
        try:
            for name, most in bounds:
                await self._enter(name, most)
                places.callback(self._leave, name)
        except BaseException:
            places.close()
            raise
        return places.close

    async def _enter(self, name: Hashable, most: int) -> None:
        lane = self._lanes.setdefault(name, _Lane(asyncio.Semaphore(most)))
        lane.users += 1
        try:
            await lane.places.acquire()
        except BaseException:
            self._forget(name)
            raise

    def _leave(self, name: Hashable) -> None:
        self._lanes[name].places.release()
        self._forget(name)

    def _forget(self, name: Hashable) -> None:
        lane = self._lanes[name]
        lane.users -= 1
        if not lane.users:
            del self._lanes[name]
