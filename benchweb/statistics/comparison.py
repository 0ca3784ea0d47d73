"""Compare the repetitions of two runs: difference, interval, effect, and a verdict that may be "can't tell"."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from statistics import median

from benchweb.statistics.bootstrap import median_difference_interval
from benchweb.statistics.deciding import FALSE_DISCOVERY_RATE, LARGEST_P_OF_DIFFERENCE, LEAST_VALUES_OF_INTERVAL
from benchweb.statistics.effect import cliffs_delta, effect_size, least_shift_shown
from benchweb.statistics.rank_sum import least_p_value, rank_sum_p_value


class Verdict(StrEnum):
    """What the repetitions can show of a difference."""

    DIFFERENT = "different"
    # Alone it would count, but among so many comparisons chance does as much.
    PERHAPS = "perhaps"
    NONE_SHOWN = "none_shown"
    # Every repetition of both gave the same value.
    SAME = "same"
    # Even when all of one lie above all of the other, chance does that too often.
    TOO_FEW = "too_few"


@dataclass(frozen=True)
class Difference:
    """What sets a sample apart from its baseline; in the metric's unit unless named otherwise."""

    n: int
    baseline_n: int
    baseline_median: float
    # Of the medians.
    difference: float
    # The bootstrap's 95 % interval of the difference; None for fewer than three repetitions of either.
    interval: tuple[float, float] | None
    cliffs_delta: float
    effect: str
    p_value: float
    least_p_value: float
    # The smallest shift that would have been found; None where these few repetitions can show none.
    least_shift_shown: float | None
    is_constant: bool

    @property
    def ratio(self) -> float | None:
        """Return the difference as a share of the baseline's median."""
        return self.share(self.difference)

    def share(self, value: float) -> float | None:
        """Return a difference as a share of the baseline's median; None where that is 0."""
        return value / abs(self.baseline_median) if self.baseline_median else None

    @property
    def can_tell(self) -> bool:
        """Tell whether samples of these sizes could have been found different at all."""
        return not self.is_constant and self.least_p_value <= LARGEST_P_OF_DIFFERENCE and self.interval is not None

    @property
    def is_significant(self) -> bool:
        """Tell whether the difference counts by itself: the test finds it, and the interval leaves out 0."""
        if self.p_value > LARGEST_P_OF_DIFFERENCE or self.interval is None:
            return False
        low, high = self.interval
        return low > 0 or high < 0


def difference(baseline: Sequence[float], other: Sequence[float]) -> Difference:
    """Compare two samples of at least one value each; the same samples always give the same figures."""
    return _difference(tuple(baseline), tuple(other))


def verdicts(differences: Sequence[Difference]) -> list[Verdict]:
    """Judge a family of comparisons, such as all measures of one run against the baseline.

    DIFFERENT holds the FALSE_DISCOVERY_RATE (Benjamini and Hochberg): of what is called so at most 5 % is
    expected to be chance, and when nothing differs at all, the whole family stays silent in at least 95 of 100 cases.
    What could not be called different whatever its order, equal or too few values, doesn't count (Tarone 1990).
    """
    adjusted = iter(adjusted_p_values([difference.p_value for difference in differences if difference.can_tell]))
    return [_verdict(difference, next(adjusted) if difference.can_tell else 1.0) for difference in differences]


def adjusted_p_values(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of Benjamini and Hochberg's procedure, in the order given."""
    count = len(p_values)
    adjusted, least = [1.0] * count, 1.0
    for rank, index in zip(
        range(count, 0, -1), sorted(range(count), key=p_values.__getitem__, reverse=True), strict=True
    ):
        least = min(least, p_values[index] * count / rank)
        adjusted[index] = least
    return adjusted


@cache
def repetitions_needed() -> int:
    """Return how many repetitions of each run can show a difference at all."""
    return next(count for count in range(1, 100) if least_p_value(count, count) <= LARGEST_P_OF_DIFFERENCE)


# A finished run never changes: its figures are worked out once a process, not once a view.
@lru_cache(maxsize=8192)
def _difference(baseline: tuple[float, ...], other: tuple[float, ...]) -> Difference:
    middle = median(baseline)
    apart = median(other) - middle
    is_enough = min(len(baseline), len(other)) >= LEAST_VALUES_OF_INTERVAL
    delta = cliffs_delta(baseline, other)
    return Difference(
        n=len(other),
        baseline_n=len(baseline),
        baseline_median=middle,
        difference=apart,
        interval=median_difference_interval(baseline, other) if is_enough else None,
        cliffs_delta=delta,
        effect=effect_size(delta),
        p_value=rank_sum_p_value(baseline, other),
        least_p_value=least_p_value(len(baseline), len(other)),
        least_shift_shown=least_shift_shown(baseline, other, LARGEST_P_OF_DIFFERENCE),
        is_constant=len({*baseline, *other}) == 1,
    )


def _verdict(difference: Difference, adjusted_p_value: float) -> Verdict:
    if difference.is_constant:
        return Verdict.SAME
    if not difference.can_tell:
        return Verdict.TOO_FEW
    if not difference.is_significant:
        return Verdict.NONE_SHOWN
    return Verdict.DIFFERENT if adjusted_p_value <= FALSE_DISCOVERY_RATE else Verdict.PERHAPS
