"""Series with a known truth."""

import random


def noisy(levels: list[float], seed: int = 1, deviation: float = 0.01) -> list[float]:
    """Return levels with normal noise, a share of each level wide."""
    draw = random.Random(seed)
    return [level * (1 + draw.gauss(0, deviation)) for level in levels]


def stepped(count: int, at: int, ratio: float, seed: int = 1) -> list[float]:
    """Return noise of 1 % around 1,000, and around so much more or less from `at` on."""
    return noisy([1000.0 * (1 + ratio * (index >= at)) for index in range(count)], seed)
