"""The shape of a sparkline: values as points of an SVG, gaps on the ground below. Pure, no markup."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from statistics import median

# Of a calm series the noise must not fill the height: so much of the largest value spans it at least.
_LEAST_SPAN_RATIO = 0.1
# Room for the stroke and the last value's dot.
_MARGIN = 2.5
# Gaps are told on the ground, where no value of a line that goes on would be taken for them.
_GROUND = 1.0
# Where there are gaps, values keep so far from the bottom: the dot of a missing one is none at the lowest.
_ABOVE_GAPS = 5.5
# Runs that come faster were launched by hand, one after the other: none of a schedule is missing.
_LEAST_RHYTHM_SECONDS = 1_800
# Times are regular when so many of their intervals are within half of the usual one.
_REGULAR_SHARE = 0.75
_LEAST_INTERVALS = 4
# However long nothing came, the gap leaves room for the rest.
_LONGEST_GAP = 6


# Frozen it would take three times as long to make, and a matrix has hundreds.
@dataclass
class Sparkline:
    """Lines of at least two neighbours, values that stand alone, and the last value where it isn't missing.

    `gaps` are the points of missing values, at `ground_y`.
    """

    lines: list[list[tuple[float, float]]]
    isolated: list[tuple[float, float]]
    last: tuple[float, float] | None
    baseline_y: float | None
    gaps: list[float]
    ground_y: float
    # The value that the line is drawn for, where one of them is.
    marked: tuple[float, float] | None = None


def sparkline(
    values: Sequence[float | None],
    *,
    width: float,
    height: float,
    baseline: float | None = None,
    bounds: tuple[float, float] | None = None,
    before: int = 0,
    mark: int | None = None,
) -> Sparkline:
    """Place values evenly from left to right; None is a gap that no line crosses.

    The first `before` are of a time when there was nothing yet to have a value: they are left empty, and no gaps.

    `bounds` make several sparklines share a scale; else the values and the baseline span the height, and values that
    differ by little stay flat.
    """
    known = [value for value in values if value is not None]
    if not known:
        return Sparkline([], [], None, None, [], height - _GROUND)
    low, high = bounds or _bounds(known if baseline is None else [*known, baseline])
    step = (width - 2 * _MARGIN) / max(1, len(values) - 1)
    foot = _MARGIN if len(known) == len(values) - before else _ABOVE_GAPS
    factor = (height - _MARGIN - foot) / (high - low) if high > low else 0.0
    ground = height - foot if factor else height / 2

    inside = values if bounds is None else [None if value is None else _within(value, bounds) for value in values]
    points = [
        None if value is None else (x, round(ground - (value - low) * factor, 1))
        for x, value in zip(_columns(len(values), step), inside, strict=True)
    ]
    drawn = [point for point in points if point is not None]
    runs = [drawn] if len(drawn) == len(points) else _runs(points)
    return Sparkline(
        lines=[run for run in runs if len(run) > 1],
        isolated=[run[0] for run in runs if len(run) == 1],
        last=points[-1],
        baseline_y=None if baseline is None else round(ground - (_within(baseline, bounds) - low) * factor, 1),
        gaps=[x for x, value in list(zip(_columns(len(values), step), values, strict=True))[before:] if value is None],
        ground_y=height - _GROUND,
        marked=None if mark is None else points[mark],
    )


def _within(value: float, bounds: tuple[float, float] | None) -> float:
    return value if bounds is None else min(max(value, bounds[0]), bounds[1])


@lru_cache(maxsize=256)
def _columns(count: int, step: float) -> list[float]:
    """Return the x of each value, the same for all lines of a table."""
    return [round(_MARGIN + number * step, 1) for number in range(count)]


def with_gaps(ats: Sequence[datetime], values: Sequence[float], until: datetime) -> list[float | None]:
    """Leave a gap where a run is missing by the rhythm of the others, up to `until`; without a rhythm none is."""
    steps = [(later - earlier).total_seconds() for earlier, later in pairwise(ats)]
    usual = median(steps) if steps else 0.0
    half, late_from = usual / 2, usual * 1.25
    regular = [step for step in steps if -half <= step - usual <= half]
    if usual < _LEAST_RHYTHM_SECONDS or len(steps) < _LEAST_INTERVALS or len(regular) < _REGULAR_SHARE * len(steps):
        return list(values)
    spaced: list[float | None] = []
    first = 0
    # Most come in time: only of the others it is computed how many are missing.
    for index, step in enumerate(steps, 1):
        if step > late_from:
            spaced += values[first:index]
            spaced += [None] * min(_LONGEST_GAP, round(step / usual) - 1)
            first = index
    spaced += values[first:]
    # The next one is late only when half an interval has passed beyond its time.
    late = int((until - ats[-1]).total_seconds() / usual - 0.5)
    return spaced + [None] * min(_LONGEST_GAP, max(0, late))


def nightly(nights: Sequence[date], values: Sequence[float], *, last: date, count: int) -> list[float | None]:
    """Return a value for each of `count` nights up to `last`; None for those that have none."""
    known = dict(zip(nights, values, strict=True))
    return [known.get(last - timedelta(days=ago)) for ago in range(count - 1, -1, -1)]


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    missing = _LEAST_SPAN_RATIO * max(abs(low), abs(high)) - (high - low)
    return (low - missing / 2, high + missing / 2) if missing > 0 else (low, high)


def _runs(points: Sequence[tuple[float, float] | None]) -> list[list[tuple[float, float]]]:
    edges = [-1, *[number for number, point in enumerate(points) if point is None], len(points)]
    between = [points[before + 1 : after] for before, after in pairwise(edges)]
    return [[point for point in run if point is not None] for run in between if run]
