"""Join a test's intervals where there are too many, by the engine's rule (kinds/src/outcome/course.rs): pure.

Lengths are doubled until the rest is few enough; none reaches over the end of the warm-up or the begin of the drain.
Counts are summed, rates and levels are means over time, and the least and greatest of each stay.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

Interval = dict[str, Any]

# What a result holds at most.
MOST_INTERVALS = 3_600
# What pages read and draw of it at most: a point a pixel or two.
MOST_DISPLAYED = 720
_COUNTED = ("packets", "retransmits", "errors")
_INTERFACE_COUNTS = ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes")


def thinned(intervals: Sequence[Interval], most: int = MOST_INTERVALS) -> list[Interval]:
    """Return at most so many intervals, those that are joined with `parts` and `extremes`; `most` is 3 or more."""
    sides = [list(group) for _side, group in groupby(intervals, key=_side)]
    size = 1
    # Sides that alternate are none of a test's: then the borders give way.
    if len(sides) > most:
        sides = [list(intervals)]
    while sum(-(-len(side) // size) for side in sides) > most:
        size *= 2
    if size == 1:
        return list(intervals)
    return [joined(side[start : start + size]) for side in sides for start in range(0, len(side), size)]


def joined(parts: Sequence[Interval]) -> Interval:
    """Return one interval of the time of all of these, which follow each other."""
    if len(parts) == 1:
        return parts[0]
    first, last = parts[0], parts[-1]
    keys = dict.fromkeys(key for part in parts for key in _figures(part))
    whole = {
        **{key: value for key, value in first.items() if key in ("start_seconds", "warmup", "drain")},
        "end_seconds": last["end_seconds"],
        "metrics": {key: _combined(key, parts) for key in keys},
        "parts": sum(part.get("parts") or 1 for part in parts),
        "extremes": {key: _extremes(key, parts) for key in keys},
    }
    counts = _sums([part.get("counts") or {} for part in parts])
    interfaces = _interfaces([part.get("interfaces") or {} for part in parts])
    return whole | ({"counts": counts} if counts else {}) | ({"interfaces": interfaces} if interfaces else {})


def _side(interval: Interval) -> tuple[bool, bool]:
    return bool(interval.get("warmup")), bool(interval.get("drain"))


def _figures(interval: Interval) -> dict[str, float]:
    return {key: value for key, value in (interval.get("metrics") or {}).items() if value is not None}


def _combined(key: str, parts: Sequence[Interval]) -> float:
    figures = [(part, _figures(part)[key]) for part in parts if key in _figures(part)]
    if is_count(key):
        return sum(value for _part, value in figures)
    weights = [_weight(key, part) for part, _value in figures]
    total = sum(weights)
    if total <= 0:
        return figures[-1][1]
    return sum(value * weight for (_part, value), weight in zip(figures, weights, strict=True)) / total


def is_count(key: str) -> bool:
    """Tell whether a metric of joined intervals is their sum: its extremes are of one interval each."""
    return key.endswith(_COUNTED)


def _weight(key: str, part: Interval) -> float:
    """Return how much of the whole a part is: its time, and of a mean over units how many these are."""
    seconds: float = part["end_seconds"] - part["start_seconds"]
    units = (part.get("counts") or {}).get("units")
    return float(units) if "latency_mean" in key and units else seconds


def _extremes(key: str, parts: Sequence[Interval]) -> list[float]:
    lows_and_highs = [extremes_of(part, key) for part in parts]
    known = [low_and_high for low_and_high in lows_and_highs if low_and_high is not None]
    return [min(low for low, _high in known), max(high for _low, high in known)]


def extremes_of(interval: Interval, key: str) -> tuple[float, float] | None:
    """Return the least and greatest of a metric in an interval, which may join others; None where it has none."""
    if extremes := (interval.get("extremes") or {}).get(key):
        return extremes[0], extremes[1]
    value = (interval.get("metrics") or {}).get(key)
    return None if value is None else (value, value)


def _sums(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    keys = dict.fromkeys(key for counted in counts for key in counted)
    return {key: sum(counted.get(key) or 0 for counted in counts) for key in keys}


def _interfaces(interfaces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Add what one interface counted; of two of them the counts together say nothing."""
    ends = {}
    for end in ("source", "sink"):
        counted = [interface.get(end) for interface in interfaces]
        known = [interface for interface in counted if interface]
        if len(known) == len(interfaces) and len({interface.get("name") for interface in known}) == 1:
            sums = {key: sum(interface.get(key) or 0 for interface in known) for key in _INTERFACE_COUNTS}
            ends[end] = {"name": known[0].get("name"), **sums}
    return ends
