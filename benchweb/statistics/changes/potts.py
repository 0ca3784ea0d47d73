"""L1-Potts: the piecewise constant line with the least absolute distance, each jump at a price."""

from bisect import insort
from collections.abc import Sequence
from math import inf
from operator import add

# Long enough that a block's cost per value is nearly that of all, short enough to lose little by a jump within.
_BLOCK = 10


def potts_changes(values: Sequence[float], price: float, last_price: float, shortest: int) -> list[int]:
    """Return where segments of at least `shortest` values begin, the first left out: the exact optimum in O(n²).

    The last jump has a price of its own: the last segment may be short because it is new.
    """
    if _is_one_segment(values, price, last_price):
        return []
    count = len(values)
    best = [inf] * (count + 1)
    best[0] = -price
    previous = [0] * (count + 1)
    for end in range(shortest, count):
        best[end], previous[end] = _best_beginning(values, end, best, shortest)
        best[end] += price
    best[0] = -last_price
    _, previous[count] = _best_beginning(values, count, best, shortest)
    return boundaries(previous)


def boundaries(previous: Sequence[int]) -> list[int]:
    """Follow each end's best beginning back from the last end."""
    positions = []
    at = previous[-1]
    while at > 0:
        positions.append(at)
        at = previous[at]
    return positions[::-1]


def _is_one_segment(values: Sequence[float], price: float, last_price: float) -> bool:
    """Tell at a tenth of the cost, and for sure, that no jump is worth its price: so it is for most series.

    With one jump, each place is tried. With more, no values cost less than in blocks of their own, but for as many
    blocks as there are jumps, which may cost nothing.
    """
    before, after = _costs(values), _costs(values[::-1])[::-1]
    whole = before[-1]
    if min(map(add, before, after)) + last_price < whole:
        return False
    blocks = [_costs(values[start : start + _BLOCK])[-1] for start in range(0, len(values), _BLOCK)]
    dearest = max(blocks)
    return dearest <= price and sum(blocks) - 2 * dearest + price + last_price >= whole


def _costs(values: Sequence[float]) -> list[float]:
    """Return the distance of the first values from their median, for each number of first ones from 0."""
    ordered: list[float] = []
    cost, costs = 0.0, [0.0]
    for value in values:
        if ordered:
            low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
            cost += max(low - value, value - high, 0.0)
        insort(ordered, value)
        costs.append(cost)
    return costs


def _best_beginning(values: Sequence[float], end: int, best: Sequence[float], shortest: int) -> tuple[float, int]:
    """Return the least cost of all values before `end`, and where the last segment begins then.

    A value adds its distance from the median so far to the cost of a segment: between the two middle ones, nothing.
    """
    ordered: list[float] = []
    cost, least, beginning = 0.0, inf, 0
    low = high = values[end - 1]
    # No beginning costs less than the first.
    first = best[0]
    # The hottest loop of the detection: bare arithmetic.
    for length, value in enumerate(values[end - 1 :: -1], start=1):
        if value < low:
            cost += low - value
        elif value > high:
            cost += value - high
        insort(ordered, value)
        high = ordered[length >> 1]
        low = high if length & 1 else ordered[(length >> 1) - 1]
        if length >= shortest:
            start = end - length
            if best[start] + cost < least:
                least, beginning = best[start] + cost, start
            if first + cost >= least and start:
                break
    return least, beginning
