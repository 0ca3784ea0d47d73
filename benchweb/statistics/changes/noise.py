"""The noise of a series: how wide, how much each value has of the one before, and which values are single spikes."""

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from statistics import median

# The median absolute deviation of normal noise, times this, is its standard deviation.
NORMAL = 1.4826
# A value that far from both neighbours, in standard deviations, while these agree, is a spike.
_SPIKE_TIMES = 6.0
# Beyond so many standard deviations a residual counts as that far, lest one decides.
_CLIPPED_AT = 3.0
_MOST_CORRELATION = 0.9


def noise_of_steps(values: Sequence[float]) -> float:
    """Return the standard deviation by the differences of neighbours, which a change of level leaves alone."""
    return NORMAL / sqrt(2) * median([abs(after - before) for before, after in pairwise(values)])


def noise_of_residuals(residuals: Sequence[float]) -> float:
    """Return the standard deviation of values less their segments' medians."""
    return NORMAL * median([abs(each) for each in residuals])


def inflation(residuals: Sequence[float], noise: float, segments: int) -> float:
    """Return how many correlated values are worth one: (1 + ρ) / (1 − ρ), at least 1.

    ρ is the correlation of neighbours. That of residuals from segments' own levels is too small by (1 + 3ρ) / length
    (Kendall 1954), which is added.
    """
    bound = _CLIPPED_AT * noise
    clipped = [max(-bound, min(bound, each)) for each in residuals]
    power = sum(each * each for each in clipped)
    if not power:
        return 1.0
    raw = sum(before * after for before, after in pairwise(clipped)) / power
    share = segments / len(clipped)
    correlation = min(_MOST_CORRELATION, max(0.0, raw + (1 + 3 * raw) * share))
    return (1 + correlation) / (1 - correlation)


def without_spikes(values: Sequence[float], noise: float) -> list[int]:
    """Return the indexes of all values but single ones that jump away and come back; the last may be such a one.

    A level that lasts shows by its second value at the latest.
    """
    bound = _SPIKE_TIMES * noise
    return [index for index in range(len(values)) if not _is_spike(values, index, bound)]


def _is_spike(values: Sequence[float], index: int, bound: float) -> bool:
    value = values[index]
    before, after = values[max(0, index - 2) : index], values[index + 1 : index + 3]
    if any(abs(value - each) <= bound for each in (*before, *after)):
        return False
    # The two nearest: one on each side, or at the ends both on one.
    first, second = (before[-1], after[0]) if before and after else (before or after)
    # Where these differ too, the value is on the way from one level to another, or all is noise.
    return abs(first - second) <= bound
