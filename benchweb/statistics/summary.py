"""Summarise repetitions: few, skewed and without a known distribution, so medians and ranges."""

from collections.abc import Sequence
from dataclasses import dataclass


# Frozen it would take three times as long to make, and a page has hundreds.
@dataclass
class Summary:
    """Repetitions in short: their number, median and extremes."""

    n: int
    median: float
    low: float
    high: float

    @property
    def extremes(self) -> tuple[float, float]:
        """Return the lowest and the highest."""
        return self.low, self.high


def summary(values: Sequence[float]) -> Summary | None:
    """Return the median and the extremes of repetitions; None for none."""
    if not values:
        return None
    # Sorted once: the statistics module's median does it again, and a page has hundreds.
    by_size, n = sorted(values), len(values)
    middle = by_size[n // 2] if n % 2 else (by_size[n // 2 - 1] + by_size[n // 2]) / 2
    return Summary(n, middle, by_size[0], by_size[-1])
