"""The Wilcoxon–Mann–Whitney test: exact, ties included, for the few repetitions that a plan has."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from math import comb, erfc, sqrt

# The counts of the exact distribution have 64 bits each, and C(66, 33) is the last that fits. Beyond, the normal
# approximation is good to the third digit.
_MOST_EXACT = 66
_BITS = 64
# With so few values in one of the samples the tail of the normal approximation is too fat, and the exact one is cheap.
_FEW = 6
_MOST_BESIDE_FEW = 200
_FEW_IN_ALL = 24


def rank_sum_p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p-value: how often two samples of one distribution differ at least so much in their ranks.

    Twice the smaller tail of the permutation distribution of the rank sum, ties with their middle ranks, as scipy's
    mannwhitneyu gives it for all permutations. With more than 66 values in all: the normal approximation, corrected
    for ties and continuity.
    """
    total, chosen, sizes = _rank_sum(first, second)
    is_exact = sum(sizes) <= _MOST_EXACT
    return _exact(total, chosen, sizes) if is_exact else _approximate(total, chosen, sizes)


def quick_p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p-value in less than 0.1 ms for most samples, where many are judged.

    Exact where both have at most 24 values, or one at most six and both 200; else the normal approximation.
    """
    total, chosen, sizes = _rank_sum(first, second)
    count = sum(sizes)
    is_exact = count <= _FEW_IN_ALL or (chosen <= _FEW and count <= _MOST_BESIDE_FEW)
    return _exact(total, chosen, sizes) if is_exact else _approximate(total, chosen, sizes)


def least_p_value(first_count: int, second_count: int) -> float:
    """Return the smallest p-value that samples of these sizes can have: when all of one lie above all of the other."""
    return min(1.0, 2 / comb(first_count + second_count, first_count))


@lru_cache(maxsize=256)
def critical_count(first_count: int, second_count: int, level: float) -> int:
    """Return the largest U, without ties, whose two-sided p-value is at most `level`; −1 when no U is so rare."""
    sizes = (1,) * (first_count + second_count)
    small = min(first_count, second_count)
    if len(sizes) > _MOST_EXACT:
        # Downwards from the middle, where the p-value is 1.
        counts = range(first_count * second_count // 2, -1, -1)
        offset = small * (small + 1)
        critical = (u for u in counts if _approximate(2 * u + offset, small, sizes) <= level)
        return next(critical, -1)
    below = _cumulative(sizes, small)[small * (small + 1) :: 2]
    return bisect_left(below, True, key=lambda ways: 2 * ways > level * comb(len(sizes), small)) - 1


def _rank_sum(first: Sequence[float], second: Sequence[float]) -> tuple[int, int, tuple[int, ...]]:
    """Return twice the rank sum of the smaller sample, its size, and the sizes of groups of equal values, by value."""
    small, large = sorted((first, second), key=len)
    groups = [(value, len(list(same))) for value, same in groupby(sorted([*small, *large]))]
    sizes = tuple(size for _, size in groups)
    ranks = dict(zip((value for value, _ in groups), _doubled_ranks(sizes), strict=True))
    return sum(ranks[value] for value in small), len(small), sizes


def _exact(doubled_sum: int, chosen: int, sizes: tuple[int, ...]) -> float:
    below = _cumulative(sizes, chosen)
    ways = comb(sum(sizes), chosen)
    least = min(below[doubled_sum], ways - (below[doubled_sum - 1] if doubled_sum else 0))
    return min(1.0, 2 * least / ways)


def _doubled_ranks(sizes: Sequence[int]) -> list[int]:
    """Return each group of equal values twice its middle rank, a whole number: ranks r to s have r + s."""
    ends = list(accumulate(sizes))
    return [end - size + 1 + end for end, size in zip(ends, sizes, strict=True)]


@lru_cache(maxsize=256)
def _cumulative(sizes: tuple[int, ...], chosen: int) -> list[int]:
    """Give, for each doubled rank sum s, in how many ways `chosen` of the values have a sum of at most s.

    The polynomial ∏(1 + y·q^rank) in one whole number: a coefficient has 64 bits, q moves by one, y by a row. So adding
    a value is one shift and one addition of machine words, and the exact test of 10 and 10 takes 0.1 ms.
    """
    ranks = [rank for rank, size in zip(_doubled_ranks(sizes), sizes, strict=True) for _ in range(size)]
    # No sum of `chosen` ranks is larger than that of the last ones, so rows don't run into each other where it matters.
    row = sum(ranks[-chosen:]) + 1
    mask = (1 << (chosen + 1) * row * _BITS) - 1
    ways = 1
    for rank in ranks:
        ways = (ways + (ways << (row + rank) * _BITS)) & mask
    last = (ways >> chosen * row * _BITS).to_bytes(row * _BITS // 8, "little")
    step = _BITS // 8
    return list(accumulate(int.from_bytes(last[at : at + step], "little") for at in range(0, len(last), step)))


def _approximate(doubled_sum: int, chosen: int, sizes: Sequence[int]) -> float:
    total = sum(sizes)
    other = total - chosen
    ties = sum(size**3 - size for size in sizes) / (total * (total - 1))
    variance = chosen * other / 12 * (total + 1 - ties)
    if variance <= 0:
        return 1.0
    distance = abs(doubled_sum / 2 - chosen * (total + 1) / 2) - 0.5
    return min(1.0, erfc(max(0.0, distance) / sqrt(2 * variance)))
