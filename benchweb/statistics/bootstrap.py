"""The bootstrap of a difference of medians without drawing: resamples' medians have a distribution in closed form."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import comb

from benchweb.statistics.deciding import CONFIDENCE

# What is rarer than that among the resamples' medians moves no quantile that is shown.
_NEGLIGIBLE = 1e-5

# A value that the median of a resample may have, and how probable it is.
Atom = tuple[float, float]


def median_difference_interval(
    baseline: Sequence[float], other: Sequence[float], level: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the percentile interval of median(other) − median(baseline) over all resamples of both.

    What drawing ever more resamples tends to (Maritz and Jarrett 1978; Efron 1979 calls it the ideal bootstrap), so the
    same samples always have the same interval. Of fewer than about five values it is narrower than it should be: no
    resample shows what wasn't seen.
    """
    tail = (1 - level) / 2
    baseline_atoms = _median_atoms(tuple(sorted(baseline)))
    other_atoms = _median_atoms(tuple(sorted(other)))
    differences = sorted([(there - here, p * q) for here, p in baseline_atoms for there, q in other_atoms])
    return _quantile(differences, tail), _quantile(differences[::-1], tail)


def _quantile(atoms: Sequence[Atom], tail: float) -> float:
    """Return the first value, in the order given, at which the probability so far reaches `tail`."""
    # Sums of floats fall short of what they should be by some units of the last place.
    wanted = tail - 1e-12
    below = accumulate(probability for _, probability in atoms)
    return next(value for (value, _), reached in zip(atoms, below, strict=True) if reached >= wanted)


@lru_cache(maxsize=1024)
def _median_atoms(ordered: tuple[float, ...]) -> list[Atom]:
    atoms = [((ordered[low] + ordered[high]) / 2, weight) for low, high, weight in _weights(len(ordered))]
    joined: dict[float, float] = {}
    for value, weight in atoms:
        joined[value] = joined.get(value, 0.0) + weight
    return sorted(joined.items())


@lru_cache(maxsize=128)
def _weights(count: int) -> list[tuple[int, int, float]]:
    """Return how probable it is that a resample's median lies midway between the values at two places (from 0)."""
    middle = (count + 1) // 2
    # P(the value in the middle stands at the place), by the binomial law of how many draws stand at it or below.
    at_most = [0.0, *(_at_least(count, middle, index / count) for index in range(1, count + 1))]
    single = [after - before for before, after in pairwise(at_most)]
    weights = _odd(single) if count % 2 else _even(count, single)
    weighty = [weight for weight in weights if weight[2] > _NEGLIGIBLE]
    whole = sum(weight for *_, weight in weighty)
    return [(low, high, weight / whole) for low, high, weight in weighty]


def _odd(single: Sequence[float]) -> list[tuple[int, int, float]]:
    return [(index, index, weight) for index, weight in enumerate(single)]


def _even(count: int, single: Sequence[float]) -> list[tuple[int, int, float]]:
    """Of the two in the middle the lower stands at one place and the upper at a higher one, or both at the same."""
    half = count // 2

    def reaching(index: int) -> float:
        """Return P(a half of the draws stand at the place or below, and one of them at it)."""
        return float(((index + 1) / count) ** half - (index / count) ** half)

    apart = [
        (low, high, comb(count, half) * reaching(low) * reaching(count - 1 - high))
        for low in range(count)
        for high in range(low + 1, count)
    ]
    split = [0.0] * count
    for low, _, weight in apart:
        split[low] += weight
    return [*apart, *((index, index, single[index] - split[index]) for index in range(count))]


def _at_least(count: int, wanted: int, probability: float) -> float:
    """Return P(at least `wanted` of `count` draws succeed)."""
    return sum(
        comb(count, hits) * probability**hits * (1 - probability) ** (count - hits) for hits in range(wanted, count + 1)
    )
