"""Series with two modes: from run to run the one or the other level, as a coin falls."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import sqrt
from statistics import NormalDist, median

from benchweb.statistics.deciding import CONFIDENCE
from benchweb.statistics.noise import noise_of_residuals

# Two clusters are modes when they lie so many times the noise within them apart,
_LEAST_GAP = 5.0
# each has that share of the values,
_LEAST_SHARE = 0.15
# and the values go to and fro so often, beside what a coin would do: else they are levels, with changes between.
_LEAST_SWITCHING = 0.6
# Of fewer values nobody can tell modes from levels.
LEAST_TO_LEARN = 20
# The shares of a mode differ by so many of their standard errors, by all splits and nights that are looked at.
_SHARE_ERRORS = 4.5
_LEAST_ON_A_SIDE = 8


@dataclass(frozen=True)
class Modes:
    """The two levels that values alternate between."""

    low: float
    high: float

    def nearest(self, value: float) -> float:
        """Return the level that a value lies nearer to."""
        return self.low if abs(value - self.low) <= abs(value - self.high) else self.high

    def distances(self, values: Sequence[float]) -> list[float]:
        """Return how far each value lies from the nearer mode: what a new level shows by."""
        return [abs(value - self.nearest(value)) for value in values]

    def is_high(self, values: Sequence[float]) -> list[bool]:
        """Tell for each value whether it belongs to the higher mode."""
        middle = (self.low + self.high) / 2
        return [value > middle for value in values]


def two_modes(values: Sequence[float]) -> Modes | None:
    """Return the two modes of the first two thirds, before what may have changed since, or of all; None for others."""
    older = values[: len(values) * 2 // 3]
    return _modes(older) or _modes(values)


def share_difference_interval(before: Sequence[bool], after: Sequence[bool]) -> tuple[float, float]:
    """Return the 95 % interval of the difference between two shares, after less before, by Agresti and Caffo (2000)."""
    (low, low_error), (high, high_error) = _share(before), _share(after)
    half = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2) * sqrt(low_error**2 + high_error**2)
    return high - low - half, high - low + half


def share_change(is_high: Sequence[bool]) -> int | None:
    """Return from where on the modes have other shares than before; None when chance does as much."""
    count = len(is_high)
    so_far = [0, *accumulate(is_high)]
    overall = so_far[-1] / count
    variance = overall * (1 - overall)
    if not variance:
        return None
    errors = {
        at: abs(so_far[at] / at - (so_far[-1] - so_far[at]) / (count - at))
        / sqrt(variance * (1 / at + 1 / (count - at)))
        for at in range(_LEAST_ON_A_SIDE, count - _LEAST_ON_A_SIDE + 1)
    }
    best = max(errors, key=errors.__getitem__, default=None)
    return best if best is not None and errors[best] >= _SHARE_ERRORS else None


def _share(is_high: Sequence[bool]) -> tuple[float, float]:
    """Return a share with one more success and one more failure, and its standard error."""
    count = len(is_high) + 2
    share = (sum(is_high) + 1) / count
    return share, sqrt(share * (1 - share) / count)


def _modes(values: Sequence[float]) -> Modes | None:
    if len(values) < LEAST_TO_LEARN:
        return None
    ordered = sorted(values)
    split = _widest_gap(ordered)
    low, high = median(ordered[:split]), median(ordered[split:])
    modes = Modes(low, high)
    if high - low < _LEAST_GAP * noise_of_residuals(modes.distances(values)):
        return None
    is_high = modes.is_high(values)
    share = sum(is_high) / len(values)
    by_chance = 2 * share * (1 - share) * (len(values) - 1)
    switches = sum(before != after for before, after in pairwise(is_high))
    is_mixed = min(share, 1 - share) >= _LEAST_SHARE and switches >= _LEAST_SWITCHING * by_chance
    return modes if is_mixed else None


def _widest_gap(ordered: Sequence[float]) -> int:
    """Return where the widest gap between neighbours is that leaves enough values on both sides."""
    least = max(1, int(len(ordered) * _LEAST_SHARE))
    places = range(least, len(ordered) - least + 1)
    return max(places, key=lambda index: ordered[index] - ordered[index - 1])
