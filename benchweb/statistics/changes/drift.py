"""Drift: a level that went from one to another bit by bit."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from math import log
from statistics import median

# A way between two levels that is shorter is a step.
_SHORTEST_WAY = 8
# So many beginnings and ends of the way are tried.
_TRIES = 6
# The levels at both ends of the way need so many values.
_LEAST_AT_END = 3


def drifts(values: Sequence[float], boundaries: Sequence[int], noise: float) -> list[tuple[list[int], bool]]:
    """Return the boundaries, those of one drift together, and whether they are one.

    Steps in the same direction are a drift when a slope explains the values better, by the noise × ln n: what its
    additional parameter must be worth.
    """
    ends = [0, *boundaries, len(values)]
    levels = [median(values[start:end]) for start, end in pairwise(ends)]
    is_up = dict(zip(boundaries, (high > low for low, high in pairwise(levels)), strict=True))
    found: list[tuple[list[int], bool]] = []
    for _, group in groupby(boundaries, key=is_up.__getitem__):
        steps = list(group)
        start, end = ends[ends.index(steps[0]) - 1], ends[ends.index(steps[-1]) + 1]
        if _is_slope(values[start:end], [step - start for step in steps], noise):
            found.append((steps, True))
        else:
            found.extend(([step], False) for step in steps)
    return found


def _is_slope(values: Sequence[float], steps: Sequence[int], noise: float) -> bool:
    count = len(values)
    pieces = [values[start:end] for start, end in pairwise([0, *steps, count])]
    as_steps = sum(abs(value - median(piece)) for piece in pieces for value in piece)
    beginnings = range(_LEAST_AT_END, steps[0] + 1, max(1, steps[0] // _TRIES))
    last = count - _LEAST_AT_END
    ends = range(last, steps[-1] - 1, -max(1, (last - steps[-1]) // _TRIES))
    tried = [(start, end) for start in beginnings for end in ends if end - start >= _SHORTEST_WAY]
    slopes = [_distance_from_slope(values, start, end) for start, end in tried]
    return bool(slopes) and min(slopes) + noise * log(count) < as_steps


def _distance_from_slope(values: Sequence[float], start: int, end: int) -> float:
    """Return the sum of distances from a level until `start`, a straight way to `end`, and a level from there."""
    low, high = median(values[:start]), median(values[end:])
    rise = (high - low) / (end - start + 1)
    way = sum(abs(value - low - rise * (index + 1)) for index, value in enumerate(values[start:end]))
    return way + sum(abs(value - low) for value in values[:start]) + sum(abs(value - high) for value in values[end:])
