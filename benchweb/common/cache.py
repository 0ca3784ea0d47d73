"""Caches of one process: values that never change, up to a number."""

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
