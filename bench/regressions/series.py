"""Simulated nights of one series, with six kinds of noise and a truth that is known."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt

LEVEL = 1000.0
# Of a night's median: five repetitions that vary by 2 % each.
DEVIATION = 0.0107
CORRELATION = 0.7
SPIKES, LEAST_SPIKE, LARGEST_SPIKE = 0.03, 0.15, 0.5
MODE_GAP, LOW_MODE_SHARE = 0.10, 0.35
# A host boots every 15 nights or so and may come up in the other mode; the boot is a fact.
BOOTS = 1 / 15
WEEKEND = 0.04


@dataclass
class Nights:
    """Values by night, what a re-run in the same night gives, and the nights with changed facts."""

    values: list[float] = field(default_factory=list)
    reruns: list[float] = field(default_factory=list)
    facts: list[int] = field(default_factory=list)

    def add(self, value: float, rerun: float) -> None:
        """Take a night, both values as shares above or below the level."""
        self.values.append(LEVEL * (1 + value))
        self.reruns.append(LEVEL * (1 + rerun))


def gaussian(draw: random.Random, count: int) -> Nights:
    nights = Nights()
    for _ in range(count):
        nights.add(draw.gauss(0, DEVIATION), draw.gauss(0, DEVIATION))
    return nights


def autocorrelated(draw: random.Random, count: int) -> Nights:
    """A re-run an hour later sees nearly the same state, so it can't help here."""
    nights = Nights()
    state = draw.gauss(0, DEVIATION)
    hourly = CORRELATION ** (1 / 24)
    for _ in range(count):
        state = CORRELATION * state + draw.gauss(0, DEVIATION * sqrt(1 - CORRELATION**2))
        nights.add(state, hourly * state + draw.gauss(0, DEVIATION * sqrt(1 - hourly**2)))
    return nights


def spikes(draw: random.Random, count: int) -> Nights:
    def spike() -> float:
        size = draw.choice((-1, 1)) * draw.uniform(LEAST_SPIKE, LARGEST_SPIKE)
        return draw.gauss(0, DEVIATION) + (size if draw.random() < SPIKES else 0)

    nights = Nights()
    for _ in range(count):
        nights.add(spike(), spike())
    return nights


def bimodal(draw: random.Random, count: int) -> Nights:
    def either() -> float:
        return draw.gauss(0, DEVIATION) - (MODE_GAP if draw.random() < LOW_MODE_SHARE else 0)

    nights = Nights()
    for _ in range(count):
        nights.add(either(), either())
    return nights


def sticky(draw: random.Random, count: int) -> Nights:
    nights = Nights()
    low = draw.random() < 0.5
    for night in range(count):
        if draw.random() < BOOTS:
            nights.facts.append(night)
            low = draw.random() < 0.5
        shift = -MODE_GAP if low else 0.0
        nights.add(shift + draw.gauss(0, DEVIATION), shift + draw.gauss(0, DEVIATION))
    return nights


def weekly(draw: random.Random, count: int) -> Nights:
    nights = Nights()
    for night in range(count):
        shift = -WEEKEND if night % 7 > 4 else 0.0
        nights.add(shift + draw.gauss(0, DEVIATION), shift + draw.gauss(0, DEVIATION))
    return nights


KINDS: dict[str, Callable[[random.Random, int], Nights]] = {
    "gaussian": gaussian,
    "autocorrelated": autocorrelated,
    "spikes": spikes,
    "bimodal": bimodal,
    "sticky": sticky,
    "weekly": weekly,
}


def changed(nights: Nights, at: int, ratio: float, over: int = 1) -> Nights:
    """Return the nights with a change of level that begins at night `at` and takes `over` nights."""
    factors = [1 + ratio * min(1.0, max(0.0, (night - at + 1) / over)) for night in range(len(nights.values))]
    return Nights(
        [value * factor for value, factor in zip(nights.values, factors, strict=True)],
        [value * factor for value, factor in zip(nights.reruns, factors, strict=True)],
        nights.facts,
    )
