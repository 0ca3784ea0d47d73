"""L1-Potts: the piecewise constant line with the least absolute distance, each jump at a price."""

from bisect import insort
from collections.abc import Sequence
from math import inf


def potts_changes(values: Sequence[float], price: float, shortest: int) -> list[int]:
    """Return where segments of at least `shortest` values begin, the first left out: the exact optimum in O(n²)."""
    count = len(values)
    best = [inf] * (count + 1)
    best[0] = -price
    previous = [0] * (count + 1)
    for end in range(shortest, count + 1):
        best[end], previous[end] = _best_beginning(values, end, best, shortest)
        best[end] += price
    return boundaries(previous)


def boundaries(previous: Sequence[int]) -> list[int]:
    """Follow each end's best beginning back from the last end."""
    found = []
    at = previous[-1]
    while at > 0:
        found.append(at)
        at = previous[at]
    return found[::-1]


def _best_beginning(values: Sequence[float], end: int, best: Sequence[float], shortest: int) -> tuple[float, int]:
    """Return the least cost of all values before `end`, and where the last segment begins then.

    A value adds its distance from the median so far to the cost of a segment: between the two middle ones, nothing.
    """
    ordered: list[float] = []
    cost, least, beginning = 0.0, inf, 0
    low = high = values[end - 1]
    # The hottest loop of the detection: bare arithmetic.
    for start in range(end - 1, -1, -1):
        value = values[start]
        if value < low:
            cost += low - value
        elif value > high:
            cost += value - high
        insort(ordered, value)
        length = end - start
        half = length >> 1
        high = ordered[half]
        low = high if length & 1 else ordered[half - 1]
        if length >= shortest and best[start] + cost < least:
            least, beginning = best[start] + cost, start
    return least, beginning
