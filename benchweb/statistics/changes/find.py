"""Find the changes of a series: the one function behind pages, alerts and `manage.py find_changes`."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite, log, log1p
from statistics import median

from benchweb.statistics.bootstrap import median_difference_interval
from benchweb.statistics.changes.change import LEAST_RATIO, LEAST_RUNS, WINDOW, Change
from benchweb.statistics.changes.entropy import entropy_changes
from benchweb.statistics.changes.judge import Bounds, lasting
from benchweb.statistics.changes.noise import noise_of_steps, without_spikes
from benchweb.statistics.changes.potts import potts_changes
from benchweb.statistics.changes.windows import windows

# The prices of a jump, in ln n: of L1-Potts' in standard deviations of the noise too.
_POTTS_PRICE = 2.0
_ENTROPY_PRICE = 6.0
# Fewer values are no level.
SHORTEST = 3
# Both methods must find a change, at most so many values apart.
_AGREEMENT = 3
# Even a series that stands still is taken to vary by that share of its level: what is rounded shows less noise.
_LEAST_NOISE_RATIO = 0.001


def find_changes(
    values: Sequence[float | None],
    *,
    floor: float = LEAST_RATIO,
    least: float = 0.0,
    window: int = WINDOW,
    log_scale: bool = False,
    only_last_window: bool = False,
) -> list[Change]:
    """Return the changes of level of a series, by time; none of fewer than twelve values.

    `values` are the runs' medians, oldest first; None is a missing one, left out and never filled. A change is at least
    `floor` (a share of the level before) and `least` (in the metric's unit). Longer series are looked at by windows of
    `window` values, or in the last one only, in less than 1 ms: what a night may have changed. `log_scale` is for what
    varies with its level, as latency; it needs positive values and is left where there are others.
    """
    places = [place for place, value in enumerate(values) if value is not None and isfinite(value)]
    known = [float(value) for value in values if value is not None and isfinite(value)]
    found: list[Change] = []
    looks = windows(len(known), window)
    for start, end, first, last in looks[-1:] if only_last_window else looks:
        for change in _changes(known[start:end], floor, least, log_scale):
            at = start + change.index
            index = places[at]
            if (first <= at < last or only_last_window) and not (found and index - found[-1].index < SHORTEST):
                found.append(replace(change, index=index))
    return found


def _changes(values: Sequence[float], floor: float, least: float, log_scale: bool) -> list[Change]:
    """Return the changes within one window; their indexes are the window's."""
    if len(values) < LEAST_RUNS:
        return []
    is_log = log_scale and min(values) > 0
    # On a log scale a share of the level is a difference.
    scaled = [log(value) for value in values] if is_log else values
    least_noise = _LEAST_NOISE_RATIO * (1.0 if is_log else abs(median(values)))
    noise = max(noise_of_steps(scaled), least_noise)
    places = without_spikes(scaled, noise)
    scaled = [scaled[place] for place in places]
    raw = [values[place] for place in places]
    candidates = _agreed(scaled, noise)
    bounds = Bounds(0.0, log1p(floor), least_noise) if is_log else Bounds(floor, least, least_noise)
    jumps = lasting(scaled, candidates, bounds) if candidates else []
    ends = [0, *(jump.index for jump in jumps), len(raw)]
    segments = [raw[start:end] for start, end in pairwise(ends)]
    found = [
        _change(places[jump.index], before, after, jump.p)
        for jump, (before, after) in zip(jumps, pairwise(segments), strict=True)
    ]
    return [change for change in found if abs(change.after - change.before) >= least]


def _agreed(values: Sequence[float], noise: float) -> list[int]:
    """Return where L1-Potts jumps and ED-PELT does too."""
    jumps = potts_changes(values, _POTTS_PRICE * log(len(values)) * noise, SHORTEST)
    # Without a jump of the one, the other need not be asked: so most series cost half a millisecond.
    others = entropy_changes(values, _ENTROPY_PRICE * log(len(values)), SHORTEST) if jumps else []
    return [jump for jump in jumps if any(abs(jump - other) <= _AGREEMENT for other in others)]


def _change(index: int, before: Sequence[float], after: Sequence[float], p: float) -> Change:
    low, high = median_difference_interval(before, after)
    level, new = median(before), median(after)
    return Change(
        index=index,
        before=level,
        after=new,
        difference_ratio=_share(new - level, level),
        interval_low_ratio=_share(low, level),
        interval_high_ratio=_share(high, level),
        p=p,
    )


def _share(difference: float, level: float) -> float | None:
    return difference / abs(level) if level else None
