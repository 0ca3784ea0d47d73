"""Confidence interval of a mean, as netperf's -I: its full width over the mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import atan, cos, pi, sin, sqrt, tan
from statistics import fmean, variance

# Halvings of a quarter circle: more than the 53 bits of a float resolve nothing.
_HALVINGS = 60


@dataclass(frozen=True)
class MeanInterval:
    """The mean of n values with its interval; `width_ratio` is None when the values vary around 0."""

    n: int
    mean: float
    half_width: float

    @property
    def width_ratio(self) -> float | None:
        """Return the full width over the mean: netperf's -I 99,5 wants it at most 0.05."""
        if self.half_width == 0:
            return 0.0
        return 2 * self.half_width / abs(self.mean) if self.mean else None


def mean_interval(values: Sequence[float], level: float) -> MeanInterval | None:
    """Return the interval of the mean at `level` (0 to 1, exclusive); None for fewer than two values.

    t(level, n − 1)·√(s²/n) on each side, s² with n − 1 below. netperf (calculate_confidence in src/netlib.c) writes
    √(var/(n − 1)) with a variance that has n below: the same number. The engine's `run --confidence` does the same.
    """
    if len(values) < 2:
        return None
    half_width = student_t(level, len(values) - 1) * sqrt(variance(values) / len(values))
    return MeanInterval(len(values), fmean(values), half_width)


@cache
def student_t(level: float, degrees_of_freedom: int) -> float:
    """Return the value that Student's t stays within, on both sides of 0, with probability `level`."""
    low, high = 0.0, pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _probability_within(middle, degrees_of_freedom) < level:
            low = middle
        else:
            high = middle
    return tan(low) * sqrt(degrees_of_freedom)


def student_p_value(t: float, degrees_of_freedom: int) -> float:
    """Return how often Student's t is at least so far from 0, on either side; of less than 1e-15 nothing is left."""
    return max(0.0, 1 - _probability_within(atan(abs(t) / sqrt(degrees_of_freedom)), degrees_of_freedom))


def _probability_within(angle: float, degrees_of_freedom: int) -> float:
    """Return P(|t| < tan(angle)·√ν) by Abramowitz and Stegun, 26.7.3 (ν odd) and 26.7.4 (ν even): finite sums."""
    if degrees_of_freedom == 1:
        return angle / (pi / 2)
    is_odd = degrees_of_freedom % 2 == 1
    term = total = cos(angle) if is_odd else 1.0
    for factor in range(2 if is_odd else 1, degrees_of_freedom - 2, 2):
        term *= cos(angle) ** 2 * factor / (factor + 1)
        total += term
    return (angle + sin(angle) * total) / (pi / 2) if is_odd else sin(angle) * total
