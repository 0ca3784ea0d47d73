"""Find the changes of a series: the one function behind pages, alerts and `manage.py find_changes`."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite, log, log1p
from statistics import median

from benchweb.statistics.changes.change import Change, ModeShares
from benchweb.statistics.changes.drift import Slope, drifts
from benchweb.statistics.changes.entropy import entropy_changes
from benchweb.statistics.changes.judge import Bounds, holds, lasting
from benchweb.statistics.changes.modes import Modes, share_change, share_difference_interval, two_modes
from benchweb.statistics.changes.potts import potts_changes
from benchweb.statistics.deciding import LEAST_CHANGE_RATIO, LEAST_RUNS, WINDOW_RUNS
from benchweb.statistics.median_interval import quick_median_difference_interval
from benchweb.statistics.noise import noise_of_steps, without_spikes
from benchweb.statistics.rank_sum import quick_p_value

# The prices of a jump, in ln n: of L1-Potts' in standard deviations of the noise too.
_POTTS_PRICE = 5.0
_LAST_POTTS_PRICE = 2.0
_ENTROPY_PRICE = 7.0
# Fewer values are no level.
SHORTEST = 3
# Both methods must find a change, at most so many values apart.
_AGREEMENT = 3
# Of the last one ED-PELT knows less exactly where it is: it sees a few values by a few quantiles.
_LAST_AGREEMENT = 10
# So few new values need not agree where they stand apart: one of so many before may lie among them.
_MOST_NEW = 10
_ONE_OF = 20
# Even a series that stands still is taken to vary by that share of its level: what is rounded shows less noise.
_LEAST_NOISE_RATIO = 0.001


def find_changes(
    values: Sequence[float | None],
    *,
    floor: float = LEAST_CHANGE_RATIO,
    least: float = 0.0,
    window: int = WINDOW_RUNS,
    log_scale: bool = False,
    only_last_window: bool = False,
) -> list[Change]:
    """Return the changes of level of a series, by time; none of fewer than twelve values.

    `values` are the runs' medians, oldest first; None is a missing one, left out and never filled. A change is at least
    `floor` (a share of the level before) and `least` (in the metric's unit). Longer series are looked at by windows of
    `window` values, or in the last one only, in less than 1 ms: what a night may have changed. `log_scale` is for what
    varies with its level, as latency; it needs positive values and is left where there are others.
    """
    places = [index for index, value in enumerate(values) if value is not None and isfinite(value)]
    known = [float(value) for value in values if value is not None and isfinite(value)]
    changes: list[Change] = []
    looks = windows(len(known), window)
    for start, end, first, last in looks[-1:] if only_last_window else looks:
        for change in _changes(known[start:end], floor, least, log_scale):
            at = start + change.index
            index = places[at]
            if (first <= at < last or only_last_window) and not (changes and index - changes[-1].index < SHORTEST):
                changes.append(replace(change, index=index))
    return changes


def _changes(values: Sequence[float], floor: float, least: float, log_scale: bool) -> list[Change]:
    """Return the changes within one window; their indexes are the window's."""
    if len(values) < LEAST_RUNS:
        return []
    is_log = log_scale and min(values) > 0
    # On a log scale a share of the level is a difference.
    scaled = [log(value) for value in values] if is_log else values
    least_noise = _LEAST_NOISE_RATIO * (1.0 if is_log else abs(median(values)))
    noise = max(noise_of_steps(scaled), least_noise)
    bounds = Bounds(0.0, log1p(floor), least_noise) if is_log else Bounds(floor, least, least_noise)
    modes = two_modes(scaled)
    changes = _of_modes(values, scaled, modes, bounds) if modes else _of_levels(values, scaled, noise, bounds)
    return [change for change in changes if abs(change.after - change.before) >= max(least, floor * abs(change.before))]


def _of_levels(values: Sequence[float], scaled: Sequence[float], noise: float, bounds: Bounds) -> list[Change]:
    places = without_spikes(scaled, noise)
    measured, raw = [scaled[index] for index in places], [values[index] for index in places]
    candidates = _agreed(measured, noise)
    jumps = [jump.index for jump in lasting(measured, candidates, bounds)]
    if not jumps:
        # What is left of a long slope by steps looks like noise with a long memory.
        slopes = [
            slope for _, slope in drifts(measured, candidates, noise) if slope and _is_drift(measured, slope, bounds)
        ]
        return [
            _change(places[slope.start], raw[slope.first : slope.start], raw[slope.end : slope.last], is_drift=True)
            for slope in slopes
        ]
    steps_and_slopes = drifts(measured, jumps, noise)
    ends = [0, *(steps[0] for steps, _ in steps_and_slopes), len(measured)]
    return [
        _change(places[steps[0]], raw[start : steps[0]], raw[steps[-1] : end], is_drift=slope is not None)
        for (steps, slope), start, end in zip(steps_and_slopes, ends, ends[2:], strict=False)
    ]


def _is_drift(values: Sequence[float], slope: Slope, bounds: Bounds) -> bool:
    before, after = values[slope.first : slope.start], values[slope.end : slope.last]
    return holds(before, after, slope.residuals(values), 3, bounds)[0]


def _of_modes(values: Sequence[float], scaled: Sequence[float], modes: Modes, bounds: Bounds) -> list[Change]:
    """Return changes to levels that are neither mode, or else of the modes' shares."""
    distances = modes.distances(scaled)
    noise = max(noise_of_steps(distances), bounds.noise)
    least = max(bounds.difference, bounds.ratio * abs(modes.low))
    jumps = [
        jump.index for jump in lasting(distances, _agreed(distances, noise), replace(bounds, ratio=0, difference=least))
    ]
    if not jumps and (at := share_change(modes.is_high(scaled))):
        return [_of_shares(values, modes.is_high(scaled), at)]
    ends = [0, *jumps, len(values)]
    segments = [values[start:end] for start, end in pairwise(ends)]
    return [_change(index, before, after) for index, (before, after) in zip(jumps, pairwise(segments), strict=True)]


def _of_shares(values: Sequence[float], is_high: Sequence[bool], at: int) -> Change:
    """Return the change of the modes' shares as one of the level that they come to: medians would hide it."""
    high = median(value for value, is_one in zip(values, is_high, strict=True) if is_one)
    low = median(value for value, is_one in zip(values, is_high, strict=True) if not is_one)
    before, after = is_high[:at], is_high[at:]
    shares = ModeShares(1 - sum(before) / len(before), 1 - sum(after) / len(after))
    level, new = (high - (high - low) * share for share in (shares.before, shares.after))
    least, most = (share * (high - low) for share in share_difference_interval(before, after))
    return Change(
        index=at,
        before=level,
        after=new,
        difference_ratio=_ratio(new - level, level),
        interval_low_ratio=_ratio(least, level),
        interval_high_ratio=_ratio(most, level),
        p=quick_p_value(before, after),
        mode_shares=shares,
    )


def _agreed(values: Sequence[float], noise: float) -> list[int]:
    """Return where L1-Potts jumps and ED-PELT does too."""
    unit = log(len(values)) * noise
    jumps = potts_changes(values, _POTTS_PRICE * unit, _LAST_POTTS_PRICE * unit, SHORTEST)
    # Without a jump of the one, the other need not be asked: it is slower.
    others = entropy_changes(values, _ENTROPY_PRICE * log(len(values)), SHORTEST) if jumps else []
    within = dict.fromkeys(jumps[:-1], _AGREEMENT) | dict.fromkeys(jumps[-1:], _LAST_AGREEMENT)
    agreed = [jump for jump, distance in within.items() if any(abs(jump - other) <= distance for other in others)]
    return agreed if agreed[-1:] == jumps[-1:] or not _is_new_level(values, jumps) else [*agreed, jumps[-1]]


def _is_new_level(values: Sequence[float], jumps: Sequence[int]) -> bool:
    """Tell whether the values since the last jump are few and stand apart: ED-PELT would want more of them."""
    *others, last = [0, *jumps]
    if not others or len(values) - last > _MOST_NEW:
        return False
    before, after = values[others[-1] : last], values[last:]
    among = min(sum(value <= max(after) for value in before), sum(value >= min(after) for value in before))
    return among * _ONE_OF <= len(before)


def _change(index: int, before: Sequence[float], after: Sequence[float], is_drift: bool = False) -> Change:
    low, high = quick_median_difference_interval(before, after)
    level, new = median(before), median(after)
    return Change(
        index=index,
        before=level,
        after=new,
        difference_ratio=_ratio(new - level, level),
        interval_low_ratio=_ratio(low, level),
        interval_high_ratio=_ratio(high, level),
        p=quick_p_value(before, after),
        is_drift=is_drift,
    )


def _ratio(difference: float, level: float) -> float | None:
    return difference / abs(level) if level else None


def windows(count: int, width: int) -> list[tuple[int, int, int, int]]:
    """Return each window's start and end, and from where to where what it finds counts: about its middle half.

    Windows follow each other by half their width, so that each change lies in the middle of one; the last ends with
    the series.
    """
    if count <= width:
        return [(0, count, 0, count)]
    starts = [*range(0, count - width, width // 2), count - width]
    edges = [0, *(start + width // 4 for start in starts[1:]), count]
    return [(start, start + width, *counting) for start, counting in zip(starts, pairwise(edges), strict=True)]
