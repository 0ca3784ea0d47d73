"""Caches of one process: values that never change, up to a number, and where others may be read anew."""

import asyncio
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def remember(cache: dict[K, V], key: K, value: V, *, most: int) -> V:
    """Store a value in the cache and return it; a full cache is emptied first.

    Another thread may empty it at any time: read a value by `get`.
    """
    if len(cache) >= most:
        cache.clear()
    cache[key] = value
    return value


def is_in_event_loop() -> bool:
    """Tell whether a coroutine is calling: there nothing may wait for the database, as to read anew does."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
