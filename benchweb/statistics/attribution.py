"""How well something that happened explains that series got worse: pure, and the same each time it is asked.

The shift of a unit at a moment is the median of its few runs since minus that of its runs before; a cluster's effect at
a moment is the median shift of its units minus the median shift of all other units at that moment (difference in
differences: Angrist and Pischke 2009, chapter 5). How often chance does as well is counted, not assumed: every cluster
at every moment is a placebo (Abadie, Diamond and Hainmueller 2010), and the exposures of one event are put together by
Fisher's method (1925). What counts there is a shift that begins at the moment itself, neither a run before nor after.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, log
from statistics import median
from typing import NamedTuple

from benchweb.statistics.deciding import LEAST_RUNS_OF_SHIFT, RUNS_AFTER_SHIFT, RUNS_BEFORE_SHIFT

# More moments tell no more, and cost as much each.
_MOST_MOMENTS = 120


@dataclass(frozen=True)
class Course:
    """A unit's values, oldest first, with the time at which each was there; larger is worse.

    `clusters` are those whom it touches: what happens to one of them happens to it.
    """

    clusters: frozenset[int]
    times: Sequence[float]
    values: Sequence[float]
    _shifts: dict[tuple[int, int], "Shift | None"] = field(default_factory=dict, compare=False, repr=False)

    def place(self, at: float) -> int:
        """Return the place of the first value since a time."""
        return bisect_left(self.times, at)

    def shift(self, place: int, after: int) -> "Shift | None":
        """Return by how much the `after` values from a place on are above those before it; None of too few before."""
        if (key := (place, after)) not in self._shifts:
            before, since = self.values[max(0, place - RUNS_BEFORE_SHIFT) : place], self.values[place : place + after]
            is_known = len(before) >= LEAST_RUNS_OF_SHIFT and bool(since)
            self._shifts[key] = _shift(before, since) if is_known else None
        return self._shifts[key]


class Shift(NamedTuple):
    """By how much values got worse at a place, and by how much of that they did right there."""

    size: float
    abrupt: float


class Exposure(NamedTuple):
    """That something began to hold at a time: for a cluster, or where that is None for the units at these places."""

    at: float
    cluster: int | None
    units: frozenset[int]


class UnitShift(NamedTuple):
    """By how much more than the others a unit got worse when it was exposed."""

    unit: int
    excess: float


@dataclass(frozen=True)
class ExposureEffect:
    """What followed an exposure: its units' shifts beside the others', and how often chance does as well."""

    exposure: Exposure
    units: list[UnitShift]
    # Shifts of the units that were not exposed, each minus their median; none where all were.
    others: list[UnitShift]
    p: float

    @property
    def size(self) -> float:
        """Return the cluster's effect, in the values' scale."""
        return median(unit.excess for unit in self.units)


class Panel:
    """Units side by side, each with its course; asked for the effects of what happened to some of them."""

    def __init__(self, courses: Sequence[Course]) -> None:
        self.courses = courses
        self._placebos: dict[tuple[frozenset[int] | None, int], list[float]] = {}

    def runs_since(self, exposures: Collection[Exposure]) -> int:
        """Return how many values a shift is known by: as many as the exposed have since, three at most."""
        counts = [
            len(self.courses[unit].times) - self.courses[unit].place(exposure.at)
            for exposure in exposures
            for unit in exposure.units
        ]
        return min(RUNS_AFTER_SHIFT, max(counts, default=0))

    def effects(self, exposures: Sequence[Exposure]) -> list[ExposureEffect]:
        """Return what followed each exposure of one event; those of which nothing is known are left out."""
        after = self.runs_since(exposures)
        found = []
        for exposure in exposures:
            shifts = self._shifts_at(exposure.at, after)
            exposed = self._exposed_about(exposure, exposures)
            units, others = exposure.units & shifts.keys(), sorted(shifts.keys() - exposed)
            if not units:
                continue
            usual = median(shifts[unit].size for unit in others) if others else 0.0
            abrupt = _excess([shifts[unit].abrupt for unit in units], [shifts[unit].abrupt for unit in others])
            found.append(
                ExposureEffect(
                    exposure,
                    units=[UnitShift(unit, shifts[unit].size - usual) for unit in sorted(units)],
                    others=[UnitShift(unit, shifts[unit].size - usual) for unit in others],
                    p=chance_of(abrupt, self._placebo_effects(exposure, after)),
                )
            )
        return found

    def _exposed_about(self, exposure: Exposure, exposures: Sequence[Exposure]) -> set[int]:
        """Name the units that can't be compared with: exposed themselves within the runs that are looked at."""
        found = set(exposure.units)
        for other in exposures:
            for unit in other.units - found:
                course = self.courses[unit]
                if abs(course.place(other.at) - course.place(exposure.at)) < RUNS_BEFORE_SHIFT:
                    found.add(unit)
        return found

    def _shifts_at(self, at: float, after: int) -> dict[int, Shift]:
        shifts = ((unit, course.shift(course.place(at), after)) for unit, course in enumerate(self.courses))
        return {unit: shift for unit, shift in shifts if shift is not None}

    def _placebo_effects(self, exposure: Exposure, after: int) -> list[float]:
        """Return the effects of nothing: of every cluster at every moment, or of the same units at every moment."""
        key = (None if exposure.cluster is not None else exposure.units, after)
        if key not in self._placebos:
            groups = list(self._units_of_clusters.values()) if key[0] is None else [exposure.units]
            self._placebos[key] = sorted(self._effects_of(groups, after))
        return self._placebos[key]

    def _effects_of(self, groups: Sequence[frozenset[int]], after: int) -> Iterator[float]:
        for moment in self._moments:
            # As many runs since as the exposed have: fewer would be noisier than what they are compared with.
            shifts = [
                (shift.abrupt, unit)
                for unit, shift in self._shifts_at(moment, after).items()
                if self.courses[unit].place(moment) + after <= len(self.courses[unit].times)
            ]
            shifts.sort()
            for units in groups:
                inside = [abrupt for abrupt, unit in shifts if unit in units]
                if inside:
                    yield _excess(inside, [abrupt for abrupt, unit in shifts if unit not in units])

    @cached_property
    def _units_of_clusters(self) -> dict[int, frozenset[int]]:
        clusters = sorted({cluster for course in self.courses for cluster in course.clusters})
        return {
            cluster: frozenset(unit for unit, course in enumerate(self.courses) if cluster in course.clusters)
            for cluster in clusters
        }

    @cached_property
    def _moments(self) -> list[float]:
        times = sorted({at for course in self.courses for at in course.times})
        # Where runs of one night end one after the other, some of them stand for the night.
        return times[:: max(1, -(-len(times) // _MOST_MOMENTS))]


def _shift(before: Sequence[float], since: Sequence[float]) -> Shift:
    low, high = median(before), median(since)
    return Shift(high - low, min(high, since[0]) - max(low, before[-1]))


def _excess(inside: Sequence[float], outside: Sequence[float]) -> float:
    return median(inside) - (median(outside) if outside else 0.0)


def chance_of(effect: float, placebos: Sequence[float]) -> float:
    """Return how often an effect of nothing is as large, of sorted ones; the effect itself is one, so it is never 0."""
    # Sums of floats differ by some units of the last place.
    as_large = len(placebos) - bisect_left(placebos, effect - abs(effect) * 1e-9)
    return max(1, as_large) / len(placebos) if placebos else 1.0


def joint_chance(chances: Sequence[float]) -> float:
    """Return Fisher's p of independent p-values: chi-squared of −2 Σ ln p with two degrees of freedom for each."""
    half = -sum(log(chance) for chance in chances)
    term, total = 1.0, 0.0
    for index in range(len(chances)):
        total += term
        term *= half / (index + 1)
    return min(1.0, exp(-half) * total)
