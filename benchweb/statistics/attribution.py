"""How well something that happened explains that series got worse: pure, and the same each time it is asked.

The shift of a unit at a moment is the median of its few runs since minus that of its runs before. What happened to
several clusters at about the same time is one wave of exposures; its effect is the mean over its clusters of their
units' median shift, minus the median shift of all units that were not exposed (difference in differences: Angrist and
Pischke 2009, chapter 5). How often chance does as well is counted, not assumed: as many clusters drawn at random, at
each moment, are a placebo (Abadie, Diamond and Hainmueller 2010; Bertrand, Duflo and Mullainathan 2004). Waves of
different times are put together by the mean over all clusters, whose placebos are drawn wave by wave. What counts for
chance is a shift that begins at the moment itself, neither a run before nor after.
"""

import random
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from statistics import fmean, median
from typing import NamedTuple

from benchweb.statistics.deciding import CONFIDENCE, LEAST_RUNS_OF_SHIFT, RUNS_AFTER_SHIFT, RUNS_BEFORE_SHIFT

# More moments and more draws tell no more, and cost as much each.
_MOST_MOMENTS = 60
_DRAWS = 2_000
_JOINT_DRAWS = 4_000
# Of fewer placebos no interval is read.
_LEAST_PLACEBOS = 40


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
class WaveEffect:
    """What followed the exposures of one time: the units' shifts beside the others', and the effects of nothing.

    `size` has the values' scale; `interval` has it with CONFIDENCE, by what placebos vary, None of too few of them.
    """

    exposures: Sequence[Exposure]
    units: list[UnitShift]
    # Shifts of the units that were not exposed, each minus their median; none where all were.
    others: list[UnitShift]
    size: float
    interval: tuple[float, float] | None
    # The effect that counts for chance, and those of its placebos, sorted.
    abrupt: float
    placebos: Sequence[float] = field(repr=False)


class Panel:
    """Units side by side, each with its course; asked for the effects of what happened to some of them."""

    def __init__(self, courses: Sequence[Course]) -> None:
        self.courses = courses
        self._placebos: dict[tuple[int | frozenset[int], int], list[Shift]] = {}

    def effects(self, exposures: Sequence[Exposure]) -> list[WaveEffect]:
        """Return what followed each wave of one event; those of which nothing is known are left out."""
        found = (self._effect(wave, exposures) for wave in self._waves(exposures))
        return [effect for effect in found if effect]

    def _waves(self, exposures: Sequence[Exposure]) -> list[list[Exposure]]:
        """Return exposures of about the same time together: nearer than half of what is usual between two runs."""
        waves: list[list[Exposure]] = []
        for exposure in sorted(exposures, key=lambda each: each.at):
            if waves and exposure.at - waves[-1][-1].at <= self._usual_gap / 2:
                waves[-1].append(exposure)
            else:
                waves.append([exposure])
        return waves

    def _effect(self, wave: Sequence[Exposure], exposures: Sequence[Exposure]) -> WaveEffect | None:
        at = wave[0].at
        exposed = frozenset(unit for exposure in wave for unit in exposure.units)
        after = self._runs_since(at, exposed)
        shifts = self._shifts_at(at, after)
        others = sorted(shifts.keys() - self._exposed_about(at, exposed, exposures))
        groups = [exposure.units for exposure in wave] if wave[0].cluster is not None else [exposed]
        found = _effect_of(groups, others, shifts)
        if found is None:
            return None
        usual = median(shifts[unit].size for unit in others) if others else 0.0
        placebos = self._placebo_effects(len(groups) if wave[0].cluster is not None else exposed, after)
        return WaveEffect(
            exposures=wave,
            units=[UnitShift(unit, shifts[unit].size - usual) for unit in sorted(exposed & shifts.keys())],
            others=[UnitShift(unit, shifts[unit].size - usual) for unit in others],
            size=found.size,
            interval=_interval(found.size, [placebo.size for placebo in placebos]),
            abrupt=found.abrupt,
            placebos=sorted(placebo.abrupt for placebo in placebos),
        )

    def _runs_since(self, at: float, units: Collection[int]) -> int:
        """Return how many values a shift is known by: as many as the exposed have since, three at most."""
        counts = (len(self.courses[unit].times) - self.courses[unit].place(at) for unit in units)
        return min(RUNS_AFTER_SHIFT, max(counts, default=0))

    def _exposed_about(self, at: float, exposed: Collection[int], exposures: Sequence[Exposure]) -> set[int]:
        """Name the units that can't be compared with: exposed themselves within the runs that are looked at."""
        found = set(exposed)
        for other in exposures:
            for unit in other.units - found:
                course = self.courses[unit]
                if abs(course.place(other.at) - course.place(at)) < RUNS_BEFORE_SHIFT:
                    found.add(unit)
        return found

    def _shifts_at(self, at: float, after: int) -> dict[int, Shift]:
        shifts = ((unit, course.shift(course.place(at), after)) for unit, course in enumerate(self.courses))
        return {unit: shift for unit, shift in shifts if shift is not None}

    def _placebo_effects(self, exposed: int | frozenset[int], after: int) -> list[Shift]:
        """Return the effects of nothing: of so many clusters drawn at each moment, or of the same units there."""
        if (key := (exposed, after)) not in self._placebos:
            self._placebos[key] = list(self._drawn_effects(exposed, after))
        return self._placebos[key]

    def _drawn_effects(self, exposed: int | frozenset[int], after: int) -> Iterator[Shift]:
        # The same each time: an answer that changes from look to look is none.
        count = exposed if isinstance(exposed, int) else len(exposed)
        draw = random.Random(f"{count} {after}")  # noqa: S311  (no secret)
        clusters = list(self._units_of_clusters.values())
        for moment in self._moments:
            shifts = {
                unit: shift
                for unit, shift in self._shifts_at(moment, after).items()
                # As many runs since as the exposed have: fewer would be noisier than what they are compared with.
                if self.courses[unit].place(moment) + after <= len(self.courses[unit].times)
            }
            for groups in self._drawn_groups(exposed, clusters, draw):
                drawn = frozenset(unit for units in groups for unit in units)
                effect = _effect_of(groups, [unit for unit in shifts if unit not in drawn], shifts)
                if effect is not None:
                    yield effect

    def _drawn_groups(
        self, exposed: int | frozenset[int], clusters: Sequence[frozenset[int]], draw: random.Random
    ) -> Iterator[Sequence[frozenset[int]]]:
        if isinstance(exposed, frozenset):
            yield [exposed]
        elif exposed == 1:
            yield from ([units] for units in clusters)
        elif exposed >= len(clusters):
            yield clusters
        else:
            for _ in range(max(1, _DRAWS // len(self._moments))):
                yield draw.sample(clusters, exposed)

    @cached_property
    def _units_of_clusters(self) -> dict[int, frozenset[int]]:
        clusters = sorted({cluster for course in self.courses for cluster in course.clusters})
        return {
            cluster: frozenset(unit for unit, course in enumerate(self.courses) if cluster in course.clusters)
            for cluster in clusters
        }

    @cached_property
    def _moments(self) -> list[float]:
        """Return one time per usual gap between runs: the clusters' runs of a night end one after the other."""
        moments: list[float] = []
        for at in sorted({at for course in self.courses for at in course.times}):
            if not moments or at - moments[-1] > self._usual_gap / 2:
                moments.append(at)
        return moments[-_MOST_MOMENTS:]

    @cached_property
    def _usual_gap(self) -> float:
        gaps = [later - earlier for course in self.courses for earlier, later in pairwise(course.times)]
        return median(gaps) if gaps else 0.0


def _shift(before: Sequence[float], since: Sequence[float]) -> Shift:
    low, high = median(before), median(since)
    return Shift(high - low, min(high, since[0]) - max(low, before[-1]))


def _effect_of(groups: Sequence[Collection[int]], others: Sequence[int], shifts: dict[int, Shift]) -> Shift | None:
    """Return the mean over groups of their median shift, beside the median of the others; None of unknown groups."""
    inside = [known for units in groups if (known := [shifts[unit] for unit in units if unit in shifts])]
    if not inside:
        return None
    outside = [shifts[unit] for unit in others]
    size = fmean(median(shift.size for shift in known) for known in inside)
    abrupt = fmean(median(shift.abrupt for shift in known) for known in inside)
    if not outside:
        return Shift(size, abrupt)
    return Shift(size - median(shift.size for shift in outside), abrupt - median(shift.abrupt for shift in outside))


def _interval(size: float, placebos: Sequence[float]) -> tuple[float, float] | None:
    """Return the sizes that differ from one by no more than placebos do from nothing."""
    if len(placebos) < _LEAST_PLACEBOS:
        return None
    ordered, tail = sorted(placebos), (1 - CONFIDENCE) / 2
    low, high = ordered[int(tail * len(ordered))], ordered[-1 - int(tail * len(ordered))]
    return size - high, size - low


def chance_of(effect: float, placebos: Sequence[float]) -> float:
    """Return how often an effect of nothing is as large, of sorted ones; the effect itself is one, so it is never 0."""
    # Sums of floats differ by some units of the last place.
    as_large = len(placebos) - bisect_left(placebos, effect - abs(effect) * 1e-9)
    return max(1, as_large) / len(placebos) if placebos else 1.0


def joint_chance(effects: Sequence[WaveEffect]) -> float:
    """Return how often chance does as well as all waves of one event: by the mean over their exposures."""
    if len(effects) == 1:
        return chance_of(effects[0].abrupt, effects[0].placebos)
    weights = [len(effect.exposures) for effect in effects]
    total = sum(weight * effect.abrupt for weight, effect in zip(weights, effects, strict=True))
    draw = random.Random(len(effects))  # noqa: S311  (no secret)
    as_large = sum(
        sum(
            weight * draw.choice(effect.placebos) if effect.placebos else weight * effect.abrupt
            for weight, effect in zip(weights, effects, strict=True)
        )
        >= total
        for _ in range(_JOINT_DRAWS)
    )
    return (1 + as_large) / (1 + _JOINT_DRAWS)
