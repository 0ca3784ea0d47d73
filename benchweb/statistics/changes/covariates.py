"""Take out of a series what was measured beside it explains: a host's own swings, say, as its memory shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from math import exp, isfinite, log
from statistics import median

from benchweb.statistics.changes.find import find_changes
from benchweb.statistics.deciding import LEAST_EXPLAINED_SHARE, LEAST_RUNS_OF_COVARIATE, WINDOW_RUNS

# Runs up to a week apart are compared: weekends show, and a step of the series spoils few of the comparisons.
_MOST_APART = 7
# A covariate that is noise seems to explain so much by chance: by that the coefficient is shrunk.
_EXPLAINED_BY_CHANCE = 0.03
# No series moves by more than so many times what moves its covariate.
_LARGEST_COEFFICIENT = 2.0
# A swing beyond so many times the one that most stay within has explained nothing yet: its value is left out.
_MOST, _BEYOND_MOST = 0.9, 1.5
# So many covariates may explain a part each, the strongest first.
_MOST_COVARIATES = 2


@dataclass(frozen=True)
class ExplainedSeries:
    """A series without the swings that covariates explain; a value is missing where a covariate is."""

    values: list[float | None]
    # By covariate: how each value was moved by it, levels included, as a natural logarithm of the ratio.
    moves: dict[int, list[float | None]]

    def since(self, first: int) -> "ExplainedSeries":
        """Return the series from one of its values on."""
        return ExplainedSeries(self.values[first:], {index: moves[first:] for index, moves in self.moves.items()})


@dataclass(frozen=True)
class _Fit:
    share: float
    covariate: int
    swings: list[float | None]
    moves: list[float | None]


def explained_series(
    values: Sequence[float | None], covariates: Sequence[Sequence[float | None]]
) -> ExplainedSeries | None:
    """Return a series without the swings of its covariates around their own levels; None where they explain too little.

    A covariate is a positive figure for each value, which rises as the value does, or None. It is fitted by ratios
    between runs at most a week apart, in the least absolute distance, so that neither a step nor outliers decide. A
    level that the covariate came to for good stays in the values: that is a change, not noise.
    """
    left = [_log(value) for value in values]
    moves: dict[int, list[float | None]] = {}
    logs = {index: [_log(value) for value in covariate] for index, covariate in enumerate(covariates)}
    levels = {index: _levels(tuple(covariate)) for index, covariate in logs.items()}
    for _ in range(_MOST_COVARIATES):
        fits = [_fit(left, index, logs[index], levels[index]) for index in logs if index not in moves]
        best = max((fit for fit in fits if fit), key=lambda fit: fit.share, default=None)
        if best is None:
            break
        moves[best.covariate] = best.moves
        left = [_sum(value, swing, -1) for value, swing in zip(left, best.swings, strict=True)]
    return ExplainedSeries([None if value is None else exp(value) for value in left], moves) if moves else None


def _fit(
    values: Sequence[float | None], index: int, covariate: Sequence[float | None], levels: Sequence[float]
) -> _Fit | None:
    """Return what a covariate explains; None where that is no more than chance would, or known of too few runs."""
    swings = _usual_swings(covariate, levels)
    both = [
        (value, swing) for value, swing in zip(values, swings, strict=True) if value is not None and swing is not None
    ]
    if len(both) < LEAST_RUNS_OF_COVARIATE:
        return None
    steps = [
        (value - earlier, swing - before)
        for apart in range(1, _MOST_APART + 1)
        for (earlier, before), (value, swing) in zip(both, both[apart:], strict=False)
    ]
    coefficient = min(_LARGEST_COEFFICIENT, _slope(steps))
    in_all = sum(abs(rise) for rise, _ in steps)
    unexplained = sum(abs(rise - coefficient * beside) for rise, beside in steps)
    share = 1 - unexplained / in_all if in_all else 0.0
    if coefficient <= 0 or share < LEAST_EXPLAINED_SHARE * max(1.0, WINDOW_RUNS / len(both)):
        return None
    shrunk = coefficient * (1 - _EXPLAINED_BY_CHANCE / share)
    return _Fit(
        share,
        index,
        [None if swing is None else shrunk * swing for swing in swings],
        [None if other is None else shrunk * other for other in covariate],
    )


def _usual_swings(covariate: Sequence[float | None], levels: Sequence[float]) -> list[float | None]:
    """Return how far a covariate is from its levels, without what lies further off than nearly all of its values."""
    swings = [None if value is None else value - level for value, level in zip(covariate, levels, strict=True)]
    sizes = sorted(abs(swing) for swing in swings if swing is not None)
    most = _BEYOND_MOST * sizes[int(_MOST * (len(sizes) - 1))] if sizes else 0.0
    return [swing if swing is not None and abs(swing) <= most else None for swing in swings]


def _slope(steps: Sequence[tuple[float, float]]) -> float:
    """Return the slope of the line through 0 with the least absolute distance: a weighted median of slopes."""
    slopes = sorted((rise / beside, abs(beside)) for rise, beside in steps if beside)
    weights = list(accumulate(weight for _, weight in slopes))
    found = (slope for (slope, _), weight in zip(slopes, weights, strict=True) if 2 * weight >= weights[-1])
    return next(found, 0.0)


# A host's canary is beside each series of each of its pairs.
@lru_cache(maxsize=1_000)
def _levels(covariate: tuple[float | None, ...]) -> Sequence[float]:
    """Return for each run the level that the covariate is at, by its own changes."""
    scaled = [None if value is None else exp(value) for value in covariate]
    ends = [0, *(change.index for change in find_changes(scaled, only_last_window=True)), len(covariate)]
    levels: list[float] = []
    for start, end in pairwise(ends):
        known = [value for value in covariate[start:end] if value is not None]
        levels += [median(known) if known else 0.0] * (end - start)
    return levels


def _log(value: float | None) -> float | None:
    return log(value) if value is not None and isfinite(value) and value > 0 else None


def _sum(value: float | None, other: float | None, sign: int) -> float | None:
    return None if value is None or other is None else value + sign * other
