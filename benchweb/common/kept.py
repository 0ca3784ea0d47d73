"""What was worked out once and holds for good, kept in a process's memory up to a number."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def keep(kept: dict[K, V], key: K, value: V, *, most: int) -> V:
    """Keep a value, and give it; where there are too many, all others go.

    Other threads may do so at any time: who looks for a value takes it by `get`.
    """
    if len(kept) >= most:
        kept.clear()
    kept[key] = value
    return value
