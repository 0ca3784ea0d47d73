"""Whether the latest run lies outside what the noise of its series allows: known the same night, before it is sure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, log
from statistics import median

from benchweb.statistics.changes.modes import two_modes
from benchweb.statistics.deciding import LEAST_RUNS, LEAST_SUSPECT_RATIO, NOISE_TIMES, WINDOW_RUNS
from benchweb.statistics.noise import noise_of_residuals

# The level is that of so many runs before. Noise and modes are those of more: of 30 values the noise is known to a
# seventh only, and one series in some hundred would look half as noisy again.
_BEFORE = 30
# Spikes are rarer: what was nearly as far off in one of so many runs before is usual, each weekend or so.
_USUAL_ONE_OF = 10
_NEARLY = 0.4
# Of few values one alone must have been nearer to it: an outlier hides no large fall.
_FEW, _NEARER = 20, 0.7


@dataclass(frozen=True)
class Suspicion:
    """A last value that lies outside: the level that it was compared with, in the metric's unit."""

    level: float


def suspicion(
    values: Sequence[float | None],
    *,
    floor: float = LEAST_SUSPECT_RATIO,
    least: float = 0.0,
    noise_times: float = NOISE_TIMES,
    since: int = 0,
    higher_is_better: bool | None = None,
    log_scale: bool = False,
) -> Suspicion | None:
    """Return the level that the last value lies further from than `noise_times` its noise, `floor` and `least`.

    Of a series with two modes the level is the nearer one, and the noise that around both. `since` is where the present
    level begins: the index of the last change. With a known direction only what is worse is suspect. None where the
    last value is missing, or not suspect, and while there are fewer than eleven before it.
    """
    latest = values[-1] if values else None
    known = [value for value in values[since:-1] if value is not None and isfinite(value)][-WINDOW_RUNS:]
    if latest is None or not isfinite(latest) or len(known) + 1 < LEAST_RUNS:
        return None
    # On a log scale the noise of 10 ms and that of 1 ms are alike.
    is_log = log_scale and min(latest, *known) > 0
    scaled, at = ([log(value) for value in known], log(latest)) if is_log else (known, latest)
    middle, residuals = _level(at, scaled)
    level = exp(middle) if is_log else middle
    if higher_is_better is not None and (latest > level) == higher_is_better:
        return None
    is_large = abs(latest - level) > max(least, floor * abs(level))
    is_off = abs(at - middle) > noise_times * noise_of_residuals(residuals)
    return Suspicion(level) if is_large and is_off and not _is_usual(at - middle, residuals) else None


def _is_usual(off: float, residuals: Sequence[float]) -> bool:
    """Tell whether values were nearly as far off so often that one more is no news; a change of how often is."""
    share = _NEARER if len(residuals) < _FEW else _NEARLY
    seen = sum(residual / off >= share for residual in residuals)
    return seen >= len(residuals) // _USUAL_ONE_OF


def _level(latest: float, before: Sequence[float]) -> tuple[float, list[float]]:
    """Return the level that a value belongs to, and how far those before are from theirs."""
    modes = two_modes(before)
    if modes is not None:
        return modes.nearest(latest), [value - modes.nearest(value) for value in before]
    middle = median(before[-_BEFORE:])
    return middle, [value - middle for value in before]
