"""How far a night's median lies from those of the nights before it, by their own noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchweb.statistics.deciding import LEAST_NIGHTS_BEFORE, LEAST_SUSPECT_RATIO, NOISE_TIMES
from benchweb.statistics.noise import noise_of_residuals


@dataclass(frozen=True)
class Deviation:
    """A night beside those before; `score` is the difference in units of the noise, None where there is no noise."""

    baseline: float
    noise: float
    score: float | None
    # None where the baseline is 0.
    ratio: float | None
    n_before: int

    @property
    def is_learning(self) -> bool:
        return self.n_before < LEAST_NIGHTS_BEFORE

    @property
    def is_significant(self) -> bool:
        """Tell whether the night stands out from the noise of enough others."""
        return not self.is_learning and self.score is not None and abs(self.score) > NOISE_TIMES


def deviation(
    latest: float, before: Sequence[float], least: float = 0.0, floor: float = LEAST_SUSPECT_RATIO
) -> Deviation | None:
    """Compare a median with earlier ones; None without any. A difference of `least` or less never stands out.

    The noise is 1.4826 × the median absolute deviation, and at least so much that `floor` or `least` is within it.
    """
    if not before:
        return None
    baseline = median(before)
    scatter = noise_of_residuals([value - baseline for value in before])
    noise = max(scatter, floor / NOISE_TIMES * abs(baseline), least / NOISE_TIMES)
    difference = latest - baseline
    return Deviation(
        baseline=baseline,
        noise=noise,
        score=difference / noise if noise else None,
        ratio=difference / abs(baseline) if baseline else None,
        n_before=len(before),
    )
