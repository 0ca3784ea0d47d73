"""How small a change a series can show at all, and what more repetitions would help."""

from collections.abc import Sequence
from math import ceil, isfinite, pi, sqrt
from statistics import median

from benchweb.statistics.changes.judge import least_errors
from benchweb.statistics.deciding import LEAST_CHANGE_RATIO, LEAST_RUNS, WINDOW_RUNS
from benchweb.statistics.noise import inflation, noise_of_residuals

# A change should show within so many runs.
_RUNS_AFTER = 5
# The median of n normal values varies as the mean of 2n / π does.
_MEDIAN_LOSS = pi / 2


def smallest_detectable_change(
    values: Sequence[float | None], *, floor: float = LEAST_CHANGE_RATIO, window: int = WINDOW_RUNS, since: int = 0
) -> float | None:
    """Return the smallest change that would be confirmed within five runs, as a share of the level.

    `since` is where the present level begins: the index of the last change. None of fewer than twelve runs, and of a
    level of 0.
    """
    known = [value for value in values[since:] if value is not None and isfinite(value)][-window:]
    if len(known) < LEAST_RUNS or not median(known):
        return None
    return max(floor, least_errors(len(known)) * _error(known) / abs(median(known)))


def repetitions_to_halve(
    values: Sequence[float | None], spreads: Sequence[float | None], *, repetitions: int, since: int = 0
) -> int | None:
    """Return how many repetitions a run needs so that the smallest detectable change halves; None where none do.

    `spreads` are the standard deviations of each run's repetitions. More repetitions lessen the noise within runs, not
    what differs from run to run.
    """
    known = [value for value in values[since:] if value is not None and isfinite(value)]
    within = [spread for spread in spreads[since:] if spread is not None and isfinite(spread)]
    if len(known) < LEAST_RUNS or not within or repetitions < 1:
        return None
    total = _noise(known) ** 2
    of_repetitions = _MEDIAN_LOSS * median(within) ** 2
    between = max(0.0, total - of_repetitions / repetitions)
    left = total / 4 - between
    return max(repetitions + 1, ceil(of_repetitions / left)) if left > 0 and of_repetitions else None


def _error(known: Sequence[float]) -> float:
    """Return the standard error of the difference between all these runs' level and that of five new ones."""
    residuals = [value - median(known) for value in known]
    noise = _noise(known)
    return noise * sqrt(inflation(residuals, noise, 1) * (1 / len(known) + 1 / _RUNS_AFTER))


def _noise(known: Sequence[float]) -> float:
    middle = median(known)
    return noise_of_residuals([value - middle for value in known])
