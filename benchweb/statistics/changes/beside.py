"""Find the changes of a series beside what explains a part of it: that hides none, and none is lost by it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import expm1
from statistics import median

from benchweb.statistics.changes.change import Change
from benchweb.statistics.changes.covariates import ExplainedSeries
from benchweb.statistics.changes.find import SHORTEST, find_changes
from benchweb.statistics.deciding import LEAST_CHANGE_RATIO, LEAST_SPREADS_OF_MOVE, MOVED_WITH_SHARE
from benchweb.statistics.noise import noise_of_residuals

# What only the explained series shows is no smaller than so many times the noise of the values themselves, and than
# such a share of the level: no covariate explains better.
_TIMES_THE_NOISE, _SHARE_OF_LEVEL = 1.5, 0.02


def find_changes_beside(
    values: Sequence[float | None],
    explained: ExplainedSeries | None,
    covariates: Sequence[Sequence[float | None]],
    *,
    floor: float = LEAST_CHANGE_RATIO,
    least: float = 0.0,
    log_scale: bool = False,
) -> list[Change]:
    """Return the changes in the last window that a series shows by itself, or without what covariates explain.

    Each says which covariate moved with it, if one did, by what it explains or by a change of its own at that time.
    Then it has the values' own levels, else those of the explained series; what moved no further than covariates swing
    all the time is left out, unless the explained series shows it too. What the values show and neither the
    explained series nor a covariate does came of the swings, if these are known on both sides of it. What the explained
    series alone shows must show in the values too, at least by half: a covariate that changes alone changes nothing
    else.
    """
    own = find_changes(values, floor=floor, least=least, log_scale=log_scale, only_last_window=True)
    if explained is None:
        return [replace(change, moved_with=_changed_with(change, covariates)) for change in own]
    others = find_changes(explained.values, floor=floor, least=least, log_scale=log_scale, only_last_window=True)
    found = sorted([*own, *(change for change in others if not _is_near(change, own))], key=lambda change: change.index)
    ends = [0, *(change.index for change in found), len(values)]
    noise = _noise(values, ends)
    told = []
    for change, first, last in zip(found, ends, ends[2:], strict=False):
        segment = (first, change.index, last)
        covariate = _moved_with(change, explained, segment)
        if covariate is None:
            covariate = _changed_with(change, covariates)
        if change in own:
            clearer = next((other for other in others if _is_near(other, [change])), None)
            if covariate is not None:
                # What the explained series shows may be a level that it has of a covariate which swings.
                is_clear = clearer is not None and _changed_with(change, covariates) is None
                if is_clear or not _is_swing(change, explained):
                    told.append(replace(change, moved_with=covariate))
            elif clearer is not None:
                told.append(clearer)
            elif not _is_explained(values, explained, segment):
                told.append(change)
            continue
        size = abs(change.after - change.before)
        least_size = max(_TIMES_THE_NOISE * noise, _SHARE_OF_LEVEL * abs(change.before))
        if size >= least_size and 2 * _shift(values, segment) * _sign(change) >= size:
            told.append(replace(change, moved_with=covariate))
    return told


def _moved_with(change: Change, explained: ExplainedSeries, segment: tuple[int, int, int]) -> int | None:
    """Return the covariate that accounts for most of a change, and for so large a share of it at least."""
    size = abs(change.after - change.before)
    moved = {
        covariate: expm1(_shift(moves, segment)) * abs(change.before) * _sign(change)
        for covariate, moves in explained.moves.items()
    }
    most = max(moved, key=moved.__getitem__)
    return most if moved[most] >= MOVED_WITH_SHARE * size else None


def _changed_with(change: Change, covariates: Sequence[Sequence[float | None]]) -> int | None:
    """Return a covariate that changes at the same time, the same way, and by at least so large a share of it."""
    for index, covariate in enumerate(covariates):
        for other in find_changes(covariate, only_last_window=True):
            ratios = (change.difference_ratio, other.difference_ratio)
            is_same = None not in ratios and _is_near(change, [other]) and _sign(change) == _sign(other)
            if is_same and abs(ratios[1] or 0.0) >= MOVED_WITH_SHARE * abs(ratios[0] or 0.0):
                return index
    return None


def _is_swing(change: Change, explained: ExplainedSeries) -> bool:
    """Tell whether what covariates account for is of the size by which they move the values all the time."""
    known = [[move for move in each if move is not None] for each in zip(*explained.moves.values(), strict=True)]
    moves = [sum(each) for each in known if len(each) == len(explained.moves)]
    middle = median(moves) if moves else 0.0
    spread = noise_of_residuals([move - middle for move in moves]) if moves else 0.0
    return abs(change.difference_ratio or 0.0) < LEAST_SPREADS_OF_MOVE * spread


def _is_explained(values: Sequence[float | None], explained: ExplainedSeries, segment: tuple[int, int, int]) -> bool:
    """Tell whether covariates were measured with enough values on both sides of a change to explain it away."""
    first, index, last = segment
    for part in (slice(first, index), slice(index, last)):
        known = len(_known(explained.values[part]))
        if known < SHORTEST or 2 * known < len(_known(values[part])):
            return False
    return True


def _sign(change: Change) -> int:
    return 1 if change.after > change.before else -1


def _is_near(change: Change, others: Sequence[Change]) -> bool:
    return any(abs(change.index - other.index) <= SHORTEST for other in others)


def _shift(values: Sequence[float | None], segment: tuple[int, int, int]) -> float:
    first, index, last = segment
    before, after = (
        [value for value in part if value is not None] for part in (values[first:index], values[index:last])
    )
    return median(after) - median(before) if before and after else 0.0


def _noise(values: Sequence[float | None], ends: Sequence[int]) -> float:
    """Return the noise of the values around the medians of their segments."""
    segments = [_known(values[start:end]) for start, end in pairwise(ends)]
    return noise_of_residuals([value - median(segment) for segment in segments for value in segment])


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]
