"""Find the slow change of a series of nights: a small step that lasts, or a drift over weeks.

The nights' ranks are compared with a step at each place and with some slopes. A correlation is tested by Student's t
with as many values as the nights are worth where each depends on the one before. The best of all steps is as sure as
the largest of a Brownian bridge (Miller and Siegmund 1982), the best of K slopes as K times its own p.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import exp, isfinite, log, pi, sqrt
from statistics import NormalDist, median

from benchweb.statistics.changes.change import Change
from benchweb.statistics.changes.modes import two_modes
from benchweb.statistics.confidence import student_p_value
from benchweb.statistics.deciding import LEAST_NIGHTS_OF_LEVEL, LEAST_NIGHTS_OF_SLOW, LEAST_SLOW_RATIO
from benchweb.statistics.median_interval import quick_median_difference_interval
from benchweb.statistics.noise import inflation, noise_of_residuals

_WEEK = 7
# Kruskal and Wallis' H of seven weekdays, beyond which one series in a thousand is by chance; of fewer weekdays rarer.
_WEEKDAYS_DIFFER = 22.46
# Of fewer nights a weekday is not known.
_LEAST_OF_WEEKDAY = 4
# Slopes begin and end at these sixths of the nights, and take at least half of them.
_SLOPES = tuple((start, end) for start in range(4) for end in range(3, 7) if end - start >= 3)
# Two levels, and what choosing where they meet takes from the residuals.
_SEGMENTS = 3
_NORMAL = NormalDist()
# Less is nothing that floats could tell.
_LEAST_P = 1e-15


@dataclass(frozen=True)
class _Shape:
    """A level until `start`, another from `end` on, straight between them; `values` are centred and of length 1."""

    start: int
    end: int
    values: tuple[float, ...]


@dataclass(frozen=True)
class _Fit:
    """A shape, its correlation, how sure it is, and by how much the nights' dependence inflates a level's variance."""

    shape: _Shape
    correlation: float
    p: float
    inflation: float


def slow_change(
    nights: Sequence[float | None], *, floor: float = LEAST_SLOW_RATIO, least: float = 0.0, log_scale: bool = False
) -> Change | None:
    """Return the surest slow change of a series that lasts until its last night; None where there is none.

    `nights` has one value for each of consecutive nights, oldest first; None is a missing one, never filled. `floor` is
    a share of the level before, `least` in the metric's unit; `log_scale` as with find_changes. The p is that of this
    series alone: who looks at many judges them together. Less than 1 ms.
    """
    known = [(night, float(value)) for night, value in enumerate(nights) if value is not None and isfinite(value)]
    if len(known) < LEAST_NIGHTS_OF_SLOW:
        return None
    places, values = [night for night, _ in known], [value for _, value in known]
    is_log = log_scale and min(values) > 0
    even = _without_modes(_without_weekdays(places, [log(value) for value in values] if is_log else values))
    ranks = _ranks(even)
    if ranks is None:
        return None
    fits = (_best_step(ranks), _best_slope(ranks))
    fit = max(fits, key=lambda each: each.correlation)
    change = _change([exp(value) for value in even] if is_log else even, fit, places, min(each.p for each in fits))
    difference = abs(change.after - change.before)
    is_large = difference >= max(least, floor * abs(change.before)) and difference > 0
    return change if is_large and _is_lasting(even, fit.shape) else None


def _without_weekdays(places: Sequence[int], values: Sequence[float]) -> list[float]:
    """Take out what each weekday differs by from the week around it, where weekdays differ beyond chance."""
    by_weekday: dict[int, list[int]] = defaultdict(list)
    for index, place in enumerate(places):
        by_weekday[place % _WEEK].append(index)
    groups = [indexes for indexes in by_weekday.values() if len(indexes) >= _LEAST_OF_WEEKDAY]
    half = _WEEK // 2
    beside = [value - median(values[max(0, index - half) : index + half + 1]) for index, value in enumerate(values)]
    if len(groups) < 2 or _weekday_difference(beside, groups) < _WEEKDAYS_DIFFER:
        return list(values)
    even = list(values)
    for indexes in groups:
        effect = median([beside[index] for index in indexes])
        for index in indexes:
            even[index] -= effect
    return even


def _weekday_difference(values: Sequence[float], groups: Sequence[Sequence[int]]) -> float:
    """Return Kruskal and Wallis' H: how much the ranks of some groups of values differ."""
    ranks = _ranks([values[index] for indexes in groups for index in indexes])
    if ranks is None:
        return 0.0
    ends = list(accumulate(len(indexes) for indexes in groups))
    sums = [sum(ranks[end - len(indexes) : end]) for end, indexes in zip(ends, groups, strict=True)]
    between = sum(total * total / len(indexes) for total, indexes in zip(sums, groups, strict=True))
    return between * (len(ranks) - 1)


def _without_modes(values: Sequence[float]) -> list[float]:
    """Lay two levels that values alternate between over each other: on the one that most are at."""
    modes = two_modes(values)
    if modes is None:
        return list(values)
    is_high = modes.is_high(values)
    base = modes.high if 2 * sum(is_high) >= len(values) else modes.low
    return [base + value - modes.nearest(value) for value in values]


def _ranks(values: Sequence[float]) -> list[float] | None:
    """Return the values' middle ranks, centred and of length 1; None where all are the same."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for index in order[first : last + 1]:
            ranks[index] = (first + last) / 2
        first = last + 1
    return _normed(ranks)


def _normed(values: Sequence[float]) -> list[float] | None:
    middle = sum(values) / len(values)
    length = sqrt(sum((value - middle) ** 2 for value in values))
    return [(value - middle) / length for value in values] if length else None


def _best_step(ranks: Sequence[float]) -> _Fit:
    count = len(ranks)
    sums = list(accumulate(ranks))

    def correlation(at: int) -> float:
        return abs(sums[at - 1]) * sqrt(count / (at * (count - at)))

    shape = _shape(count, *[max(range(LEAST_NIGHTS_OF_LEVEL, count - LEAST_NIGHTS_OF_LEVEL + 1), key=correlation)] * 2)
    correlated, p, inflated = _tested(shape, ranks)
    errors = -_NORMAL.inv_cdf(max(_LEAST_P, p) / 2)
    trimmed = LEAST_NIGHTS_OF_LEVEL / count
    # The larger of both sides of the formula's; of few errors it is none.
    density = exp(-errors * errors / 2) / sqrt(2 * pi)
    span = 2 * log((1 - trimmed) / trimmed)
    of_largest = density * ((errors - 1 / errors) * span + 4 / errors) if errors > 1 else 1.0
    return _Fit(shape, correlated, min(1.0, 2 * max(p, of_largest)), inflated)


def _best_slope(ranks: Sequence[float]) -> _Fit:
    shapes = _slopes(len(ranks))
    shape = max(shapes, key=lambda each: abs(_correlation(each, ranks)))
    correlated, p, inflated = _tested(shape, ranks)
    return _Fit(shape, correlated, min(1.0, 2 * len(shapes) * p), inflated)


def _tested(shape: _Shape, ranks: Sequence[float]) -> tuple[float, float, float]:
    """Return one shape's correlation without its sign, its two-sided p, and the inflation of a level's variance."""
    correlation = _correlation(shape, ranks)
    residuals = [rank - correlation * value for rank, value in zip(ranks, shape.values, strict=True)]
    noise = noise_of_residuals(residuals)
    inflated = inflation(residuals, noise, _SEGMENTS) if noise else 1.0
    degrees = int(len(ranks) / inflated) - 2
    rest = 1 - correlation * correlation
    if degrees < 1 or rest <= 0:
        return abs(correlation), 1.0 if degrees < 1 else _LEAST_P, inflated
    p = max(_LEAST_P, student_p_value(correlation * sqrt(degrees / rest), degrees))
    return abs(correlation), p, inflated


def _correlation(shape: _Shape, ranks: Sequence[float]) -> float:
    return sum(map(float.__mul__, shape.values, ranks))


@lru_cache(maxsize=1024)
def _slopes(count: int) -> tuple[_Shape, ...]:
    return tuple(_shape(count, start * count // 6, end * count // 6) for start, end in _SLOPES)


@lru_cache(maxsize=16384)
def _shape(count: int, start: int, end: int) -> _Shape:
    way = end - start + 1
    values = _normed([min(1.0, max(0.0, (index - start + 1) / way)) for index in range(count)])
    return _Shape(start, end, tuple(values or ()))


def _change(levels: Sequence[float], fit: _Fit, places: Sequence[int], p: float) -> Change:
    """Return the change of a shape: of a drift the levels at its ends, or of the first and last nights."""
    shape = fit.shape
    before = levels[: max(shape.start, LEAST_NIGHTS_OF_LEVEL)]
    after = levels[min(shape.end, len(levels) - LEAST_NIGHTS_OF_LEVEL) :]
    level, new = median(before), median(after)
    low, high = quick_median_difference_interval(before, after)
    half = (high - low) / 2 * sqrt(fit.inflation)
    return Change(
        index=places[shape.start],
        before=level,
        after=new,
        difference_ratio=_ratio(new - level, level),
        interval_low_ratio=_ratio(new - level - half, level),
        interval_high_ratio=_ratio(new - level + half, level),
        p=p,
        is_drift=shape.end > shape.start,
    )


def _ratio(difference: float, level: float) -> float | None:
    return difference / abs(level) if level else None


def _is_lasting(values: Sequence[float], shape: _Shape) -> bool:
    """Tell whether both halves of each level, and the last week, are on its own side of the middle.

    What came back isn't, nor what goes to and fro.
    """
    before = values[: max(shape.start, LEAST_NIGHTS_OF_LEVEL)]
    after = values[min(shape.end, len(values) - LEAST_NIGHTS_OF_LEVEL) :]
    up = 1 if median(after) > median(before) else -1
    middle = (median(before) + median(after)) / 2
    earlier = (before[: len(before) // 2], before[len(before) // 2 :])
    later = (after[: len(after) // 2], after[len(after) // 2 :], after[-_WEEK:])
    return all((median(part) - middle) * up < 0 for part in earlier) and all(
        (median(part) - middle) * up > 0 for part in later
    )
