"""The noise of a series: how wide, how much each value has of the one before, and which values are single spikes."""

from collections.abc import Sequence
from itertools import combinations, pairwise, product
from math import sqrt
from statistics import median

# The median absolute deviation of normal noise, times this, is its standard deviation.
NORMAL = 1.4826
# A value that far from both neighbours, in standard deviations, while these agree, is a spike.
_SPIKE_TIMES = 6.0
# Beyond so many standard deviations a residual counts as that far, lest one decides.
_CLIPPED_AT = 3.0
_MOST_CORRELATION = 0.9
# Segments' levels are not taken to hide more of the variance.
_MOST_TAKEN = 0.75


def noise_of_steps(values: Sequence[float]) -> float:
    """Return the standard deviation by the differences of neighbours, which a change of level leaves alone."""
    return NORMAL / sqrt(2) * median([abs(after - before) for before, after in pairwise(values)])


def noise_of_residuals(residuals: Sequence[float]) -> float:
    """Return the standard deviation of values less their segments' medians."""
    return NORMAL * median([abs(residual) for residual in residuals])


def inflation(residuals: Sequence[float], noise: float, segments: int) -> float:
    """Return by how much the variance of a level exceeds that of as many independent values with these residuals.

    (1 + ρ) / (1 − ρ), where ρ is the correlation of neighbours. Segments' own levels take from the residuals what is
    slow: ρ is too small by (1 + 3ρ) / length (Kendall 1954), and their variance by that of the levels.
    """
    bound = _CLIPPED_AT * noise
    clipped = [max(-bound, min(bound, residual)) for residual in residuals]
    power = sum(residual * residual for residual in clipped)
    if not power:
        return 1.0
    raw = sum(before * after for before, after in pairwise(clipped)) / power
    share = segments / len(clipped)
    correlation = min(_MOST_CORRELATION, max(0.0, raw + (1 + 3 * raw) * share))
    times = (1 + correlation) / (1 - correlation)
    return times / (1 - min(_MOST_TAKEN, times * share))


def without_spikes(values: Sequence[float], noise: float) -> list[int]:
    """Return the indexes of all values but single ones that jump away and come back; the last may be such a one.

    A level that lasts shows by its second value at the latest.
    """
    bound = _SPIKE_TIMES * noise
    return [index for index in range(len(values)) if not _is_spike(values, index, bound)]


def _is_spike(values: Sequence[float], index: int, bound: float) -> bool:
    value = values[index]
    before, after = values[max(0, index - 3) : index], values[index + 1 : index + 4]
    if any(abs(value - neighbour) <= bound for neighbour in (*before[-2:], *after[:2])):
        return False
    # Whether the level before comes back; at the ends, whether there was one. Else it is on the way to another one.
    pairs = product(before, after) if before and after else combinations(before or after, 2)
    return any(abs(first - second) <= bound for first, second in pairs)
