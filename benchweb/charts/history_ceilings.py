"""What was the most that a path could carry, and when: a ceiling changes with the MTU."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime

from benchweb.charts.moments import rfc3339

# From when until when a value held; None is the end of what is looked at.
Held = tuple[datetime | None, datetime | None]
ALWAYS: Held = (None, None)


def held_values(changes: Sequence[tuple[datetime, float]]) -> list[tuple[float, int, Held]]:
    """Say of each of a ceiling's values, the how manieth time it is that it held, and when.

    `changes` are the times from which on runs had a value, oldest first; it holds until a run had another. The first
    one held before as well, as far as runs tell.
    """
    times = Counter[float]()
    found = []
    for place, (at, value) in enumerate(changes):
        end = changes[place + 1][0] if place + 1 < len(changes) else None
        found.append((value, times[value], (at if place else None, end)))
        times[value] += 1
    return found


def together(helds: Collection[Held]) -> tuple[str, str]:
    """Give the whole time in which a value held for any of several lines, as a chart has it: empty for its ends."""
    begins, ends = [begin for begin, _ in helds], [end for _, end in helds]
    begin = min((each for each in begins if each), default=None) if None not in begins else None
    end = max((each for each in ends if each), default=None) if None not in ends else None
    return rfc3339(begin) if begin else "", rfc3339(end) if end else ""
