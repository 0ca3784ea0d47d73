"""Summarise repetitions: few, skewed and without a known distribution, so medians and ranges."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


# Frozen it would take three times as long to make, and a page has hundreds.
@dataclass
class Summary:
    """Repetitions in short; `spread_ratio` is None where one repetition or a median of 0 leaves none to tell."""

    n: int
    median: float
    low: float
    high: float
    spread_ratio: float | None


def summary(values: Sequence[float]) -> Summary | None:
    """Give the median, extremes and spread of repetitions; None for none."""
    if not values:
        return None
    # Sorted once: the statistics module's median does it again, and a page has hundreds.
    by_size, n = sorted(values), len(values)
    low, high = by_size[0], by_size[-1]
    middle = by_size[n // 2] if n % 2 else (by_size[n // 2 - 1] + by_size[n // 2]) / 2
    return Summary(n, middle, low, high, _half_range(n, middle, low, high))


def half_range_ratio(values: Sequence[float]) -> float | None:
    """Give (highest − lowest) / (2 × |median|): the ± of "16.3 Gbit/s ±1.2 %".

    With the three or five repetitions that a plan usually has, every value counts, and the range is what was
    seen, no estimate of what wasn't. It grows with n: spreads of different n don't compare.
    """
    return _half_range(len(values), median(values), min(values), max(values)) if values else None


def _half_range(n: int, middle: float, low: float, high: float) -> float | None:
    return (high - low) / (2 * abs(middle)) if n > 1 and middle else None
