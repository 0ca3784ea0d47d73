"""The interval of a difference of medians in closed form, for thousands of them; bootstrap.py has the finer one."""

from collections.abc import Sequence
from functools import lru_cache
from math import comb, sqrt
from statistics import NormalDist, median

from benchweb.statistics.deciding import CONFIDENCE

_NORMAL = NormalDist()


def quick_median_difference_interval(
    baseline: Sequence[float], other: Sequence[float], level: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the interval of median(other) − median(baseline) by Bonett and Price (2002), symmetric around it.

    The standard error of each median is read from two of its order statistics, so no shape is assumed. Of fewer than
    about five values it is narrower than it should be.
    """
    difference = median(other) - median(baseline)
    times = _NORMAL.inv_cdf(0.5 + level / 2)
    half = times * sqrt(_median_error(baseline) ** 2 + _median_error(other) ** 2)
    return difference - half, difference + half


def _median_error(values: Sequence[float]) -> float:
    ordered = sorted(values)
    rank, errors = _order_statistic(len(ordered))
    return (ordered[-rank] - ordered[rank - 1]) / (2 * errors)


@lru_cache(maxsize=1024)
def _order_statistic(count: int) -> tuple[int, float]:
    """Return which value from both ends to take, and how many standard errors from the median they are expected."""
    rank = max(1, round((count + 1) / 2 - sqrt(count)))
    outside = sum(comb(count, below) for below in range(rank)) / 2**count
    return rank, max(_NORMAL.inv_cdf(1 - min(0.4, outside)), 0.1)
