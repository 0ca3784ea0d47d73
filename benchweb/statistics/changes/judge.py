"""Which of the changes that were found hold: sure, large beside the noise, and worth telling."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, sqrt
from statistics import median

from benchweb.statistics.deciding import LARGEST_P_OF_CHANGE, LEAST_ERRORS_OF_CHANGE, MORE_ERRORS_OF_FEW
from benchweb.statistics.noise import inflation, noise_of_residuals
from benchweb.statistics.rank_sum import quick_p_value


@dataclass(frozen=True)
class Bounds:
    """What a change must exceed: a share of the level, a difference in the metric's unit, and noise always assumed."""

    ratio: float
    difference: float
    noise: float


@dataclass(frozen=True)
class Jump:
    """A boundary between two segments: its index, the p-value of their ranks, and whether it holds."""

    index: int
    p: float
    holds: bool


def least_errors(count: int) -> float:
    """Return from how many of its standard errors on a difference of levels counts, among so many values."""
    return LEAST_ERRORS_OF_CHANGE * (1 + MORE_ERRORS_OF_FEW / count)


def lasting(values: Sequence[float], boundaries: Sequence[int], bounds: Bounds) -> list[Jump]:
    """Return the boundaries that hold, the least sure taken away one by one: its segments become one."""
    retained = list(boundaries)
    while retained:
        jumps = _judged(values, retained, bounds)
        failed = [jump for jump in jumps if not jump.holds]
        if not failed:
            return jumps
        retained.remove(max(failed, key=lambda jump: jump.p).index)
    return []


def holds(
    before: Sequence[float], after: Sequence[float], residuals: Sequence[float], levels: int, bounds: Bounds
) -> tuple[bool, float]:
    """Tell whether two segments differ beyond chance and bounds, by the noise of residuals from levels; and p."""
    low, high = median(before), median(after)
    noise = max(noise_of_residuals(residuals), bounds.noise)
    error = noise * sqrt(inflation(residuals, noise, levels) * (1 / len(before) + 1 / len(after)))
    errors = abs(high - low) / error if error else inf
    is_large = abs(high - low) >= max(bounds.ratio * abs(low), bounds.difference) and high != low
    p = quick_p_value(before, after)
    return p < LARGEST_P_OF_CHANGE and errors >= least_errors(len(residuals)) and is_large, p


def _judged(values: Sequence[float], boundaries: Sequence[int], bounds: Bounds) -> list[Jump]:
    segments = [values[start:end] for start, end in pairwise([0, *boundaries, len(values)])]
    residuals = [value - median(segment) for segment in segments for value in segment]
    jumps = []
    for index, (before, after) in zip(boundaries, pairwise(segments), strict=True):
        does_hold, p = holds(before, after, residuals, len(segments), bounds)
        jumps.append(Jump(index, p, does_hold))
    return jumps
