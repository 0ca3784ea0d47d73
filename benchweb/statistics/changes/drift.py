"""Drift: a level that went from one to another bit by bit."""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import log
from statistics import median

from benchweb.statistics.noise import noise_of_steps, without_spikes

# A way between two levels that is shorter is a step.
_SHORTEST_WAY = 8
# So many beginnings and ends of the way are tried.
_TRIES = 6
# The levels at both ends of the way need so many values.
_LEAST_AT_END = 3


@dataclass(frozen=True)
class Slope:
    """A level from `first` to `start`, a straight way to `end`, a level until `last`."""

    first: int
    start: int
    end: int
    last: int

    def residuals(self, values: Sequence[float]) -> list[float]:
        """Return the values from `first` to `last` less the slope."""
        low, high = median(values[self.first : self.start]), median(values[self.end : self.last])
        rise = (high - low) / (self.end - self.start + 1)
        way = [value - low - rise * (index + 1) for index, value in enumerate(values[self.start : self.end])]
        before = [value - low for value in values[self.first : self.start]]
        return [*before, *way, *(value - high for value in values[self.end : self.last])]


def is_one_drift(values: Sequence[float], boundaries: Collection[int]) -> bool:
    """Tell whether steps between a series' values are one drift in the same direction, whatever spikes there are."""
    noise = noise_of_steps(values)
    smooth = without_spikes(values, noise)
    steps = sorted({bisect_left(smooth, boundary) for boundary in boundaries})
    if any(after - before < _LEAST_AT_END for before, after in pairwise([0, *steps, len(smooth)])):
        return False
    segments = drifts([values[index] for index in smooth], steps, noise)
    return len(segments) == 1 and segments[0][1] is not None


def drifts(values: Sequence[float], boundaries: Sequence[int], noise: float) -> list[tuple[list[int], Slope | None]]:
    """Return the boundaries, those of one drift together with its slope.

    Steps in the same direction are a drift when a slope explains the values better, by the noise × ln n: what its
    additional parameter must be worth.
    """
    ends = [0, *boundaries, len(values)]
    levels = [median(values[start:end]) for start, end in pairwise(ends)]
    is_up = dict(zip(boundaries, (high > low for low, high in pairwise(levels)), strict=True))
    groups: list[tuple[list[int], Slope | None]] = []
    for _, group in groupby(boundaries, key=is_up.__getitem__):
        steps = list(group)
        slope = _slope(values, [ends[ends.index(steps[0]) - 1], *steps, ends[ends.index(steps[-1]) + 1]], noise)
        groups.extend([(steps, slope)] if slope else [([step], None) for step in steps])
    return groups


def _slope(values: Sequence[float], ends: Sequence[int], noise: float) -> Slope | None:
    """Return the best of some slopes between the outer two of the steps' ends, where it is better than the steps."""
    first, *steps, last = ends
    as_steps = sum(abs(value - median(values[low:high])) for low, high in pairwise(ends) for value in values[low:high])
    latest = last - _LEAST_AT_END
    starts = range(first + _LEAST_AT_END, steps[0] + 1, max(1, (steps[0] - first) // _TRIES))
    stops = range(latest, steps[-1] - 1, -max(1, (latest - steps[-1]) // _TRIES))
    tried = [Slope(first, start, end, last) for start in starts for end in stops if end - start >= _SHORTEST_WAY]
    distances = [sum(map(abs, slope.residuals(values))) for slope in tried]
    if not distances or min(distances) + noise * log(last - first) >= as_steps:
        return None
    return tried[distances.index(min(distances))]
