"""Whether the latest run lies outside what the noise of its series allows: known the same night, before it is sure."""

from collections.abc import Sequence
from math import isfinite, log
from statistics import median

from benchweb.statistics.deviation import LEAST_RATIO, NOISE_TIMES, deviation

# The noise is that of so many runs before.
_BEFORE = 30
# Of fewer, nobody can tell it.
_LEAST_BEFORE = 11


def is_suspect(
    values: Sequence[float | None],
    *,
    floor: float = LEAST_RATIO,
    least: float = 0.0,
    since: int = 0,
    higher_is_better: bool | None = None,
    log_scale: bool = False,
) -> bool:
    """Tell whether the last value lies further from those before than four times their noise, `floor` and `least`.

    `since` is where the present level begins: the index of the last change. With a known direction only what is worse
    is suspect. False where the last value is missing, and while there are fewer than eleven before it.
    """
    known = [value for value in values[since:-1] if value is not None and isfinite(value)][-_BEFORE:]
    latest = values[-1] if values else None
    if latest is None or not isfinite(latest) or len(known) < _LEAST_BEFORE:
        return False
    if higher_is_better is not None and (latest > median(known)) == higher_is_better:
        return False
    if abs(latest - median(known)) <= max(least, floor * abs(median(known))):
        return False
    if log_scale and min(latest, *known) > 0:
        # On a log scale the level is 1, or the floor would be a share of the logarithm.
        middle = log(median(known))
        return _stands_out(1 + log(latest) - middle, [1 + log(value) - middle for value in known])
    return _stands_out(latest, known)


def _stands_out(latest: float, before: Sequence[float]) -> bool:
    found = deviation(latest, before, floor=0.0)
    return found is not None and (found.score is None or abs(found.score) > NOISE_TIMES)
