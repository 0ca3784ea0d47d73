"""Bring values of several strata, such as pairs of hosts, to one level, so that each counts against its own kind."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median

Strata = Mapping[int, Sequence[float]]


def aligned(first: Strata, second: Strata) -> tuple[list[float], list[float]]:
    """Return two samples whose strata are on one level: what sets the strata apart hides no change within them.

    Only strata of both count: each is scaled so that the middle of its two medians is the mean over all strata, as
    Hodges and Lehmann (1962) align blocks before ranking, here by ratio. With a level that is not above 0, such as no
    loss, the values are left as they are. Raise ValueError without common strata: nothing is like the other.
    """
    common = sorted(first.keys() & second.keys())
    if not common:
        raise ValueError("the samples have no stratum in common")
    levels = {key: (median(first[key]) + median(second[key])) / 2 for key in common}
    # One stratum is as it was measured.
    is_scaled = len(common) > 1 and min(levels.values()) > 0
    typical = fmean(levels.values())
    factors = {key: typical / level if is_scaled else 1.0 for key, level in levels.items()}
    return _scaled(first, factors), _scaled(second, factors)


def _scaled(strata: Strata, factors: Mapping[int, float]) -> list[float]:
    return [value * factor for key, factor in factors.items() for value in strata[key]]
