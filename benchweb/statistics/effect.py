"""How large a difference is, and how large it would have to be to show."""

from collections.abc import Sequence

from benchweb.statistics.rank_sum import critical_count

# Romano et al. 2006, for the absolute value of Cliff's delta: below each bound the word beside it holds.
_SIZES = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"))


def cliffs_delta(baseline: Sequence[float], other: Sequence[float]) -> float:
    """Return P(other > baseline) − P(other < baseline) over all pairs: 1 when every value lies above."""
    pairs = [(there > here) - (there < here) for here in baseline for there in other]
    return sum(pairs) / len(pairs)


def effect_size(delta: float) -> str:
    """Say how large a Cliff's delta is: negligible, small, medium or large."""
    return next((word for bound, word in _SIZES if abs(delta) < bound), "large")


def least_shift_shown(baseline: Sequence[float], other: Sequence[float], level: float) -> float | None:
    """Return the smallest shift, up or down, that the rank-sum test would have found in samples of this spread.

    The test finds a shift at `level` just when it lies outside the interval that Hodges and Lehmann made of it, so this
    is that interval's longer side. None where the test can find nothing, however large: too few repetitions.
    """
    beyond = critical_count(len(baseline), len(other), level)
    if beyond < 0:
        return None
    differences = sorted(there - here for here in baseline for there in other)
    count = len(differences)
    middle = (differences[(count - 1) // 2] + differences[count // 2]) / 2
    return max(middle - differences[beyond], differences[count - 1 - beyond] - middle)
