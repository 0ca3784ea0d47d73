"""ED-PELT: change points of any kind, by the likelihood of the empirical distribution (Haynes et al. 2017)."""

from collections.abc import Sequence
from functools import cache
from math import exp, inf, log
from operator import sub

from benchweb.statistics.changes.potts import boundaries

# Quantiles are so many times ln n.
_QUANTILES = 4


def entropy_changes(values: Sequence[float], price: float, shortest: int) -> list[int]:
    """Return where segments of at least `shortest` values begin, the first left out.

    The least sum of segments' costs, each jump at a price (PELT, Killick et al. 2012). A segment's cost is the entropy
    of being below each of 4·ln n quantiles, which are denser in the tails; only the order of the values counts.
    """
    count = len(values)
    below, weight = _counts_below(values)
    entropies = [_entropies(length).__getitem__ for length in range(count + 1)]
    best = [inf] * (count + 1)
    best[0] = -price
    previous = [0] * (count + 1)
    beginnings = [0]
    # Which beginnings no later end can want, by the end from where on.
    pruned: dict[int, set[int]] = {}
    for end in range(shortest, count + 1):
        if end >= 2 * shortest:
            beginnings.append(end - shortest)
        if gone := pruned.get(end):
            beginnings = [candidate for candidate in beginnings if candidate not in gone]
        row = below[end]
        costs = [
            best[start] + weight * sum(map(entropies[end - start], map(sub, row, below[start]))) for start in beginnings
        ]
        least = min(costs)
        best[end], previous[end] = least + price, beginnings[costs.index(least)]
        # An end may be a beginning only `shortest` later: until then the pruned may still be the best.
        pruned[end + shortest] = {start for start, cost in zip(beginnings, costs, strict=True) if cost > best[end]}
    return boundaries(previous)


@cache
def _entropies(length: int) -> list[float]:
    """Return length × entropy of a share, by twice the count: an equal value counts half as below."""
    return [0.0, *(_entropy(length, twice / (2 * length)) for twice in range(1, 2 * length)), 0.0]


def _entropy(length: int, share: float) -> float:
    return -length * (share * log(share) + (1 - share) * log(1 - share))


def _counts_below(values: Sequence[float]) -> tuple[list[list[int]], float]:
    """Return twice how many of the first values lie below each quantile, for each number of first ones; the weight."""
    ordered = sorted(values)
    count = len(values)
    wanted = min(count, int(_QUANTILES * log(count)) + 1)
    scale = log(2 * count - 1)
    shares = [1 / (1 + exp(scale * (1 - (2 * index + 1) / wanted))) for index in range(wanted)]
    quantiles = [ordered[int((count - 1) * share)] for share in shares]
    row = [0] * len(quantiles)
    rows = [row]
    for value in values:
        row = [
            so_far + 2 * (value < quantile) + (value == quantile)
            for so_far, quantile in zip(row, quantiles, strict=True)
        ]
        rows.append(row)
    return rows, 2 * scale / wanted
