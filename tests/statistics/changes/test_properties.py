"""What holds for any series: drawn at random, always the same ones."""

import random

import pytest

from benchweb.statistics.changes import find_changes
from tests.statistics.changes.noisy import noisy

SEEDS = range(40)


def any_series(seed: int) -> list[float]:
    """Return up to three levels with noise, some spikes, 12 to 150 values."""
    draw = random.Random(seed)
    levels: list[float] = []
    while len(levels) < 12 or draw.random() < 0.6:
        levels += [1000.0 * draw.choice([0.8, 0.9, 0.95, 1.0, 1.1])] * draw.randint(4, 60)
    values = noisy(levels[:150], seed, draw.choice([0.002, 0.01, 0.03]))
    return [value * (draw.choice([0.6, 1.5]) if draw.random() < 0.03 else 1) for value in values]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_unit_makes_no_difference(seed: int) -> None:
    values = any_series(seed)
    # A power of two, so that no value is rounded.
    plain, scaled = find_changes(values), find_changes([value * 1024 for value in values])
    assert [(found.index, found.p, found.difference_ratio) for found in scaled] == [
        (found.index, found.p, found.difference_ratio) for found in plain
    ]
    assert [found.before for found in scaled] == [found.before * 1024 for found in plain]


@pytest.mark.parametrize("seed", SEEDS)
def test_up_and_down_are_judged_alike(seed: int) -> None:
    values = any_series(seed)
    mirrored = [4096.0 - value for value in values]
    # Without a floor that is a share of the level, nor the noise of it that is always assumed: of noisy series only.
    if find_changes(values, floor=0.0, least=20.0) and seed % 2:
        up = [found.index for found in find_changes(values, floor=0.0, least=20.0)]
        down = [found.index for found in find_changes(mirrored, floor=0.0, least=20.0)]
        assert len(set(up) ^ set(down)) <= 2


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_told_keeps_its_promises(seed: int) -> None:
    values = any_series(seed)
    found = find_changes(values)
    indexes = [change.index for change in found]
    assert indexes == sorted(set(indexes))
    for change in found:
        assert 0 < change.index < len(values)
        assert change.p < 0.001 and change.before != change.after
        assert change.difference_ratio == pytest.approx((change.after - change.before) / change.before)
        assert change.difference_ratio is not None
        assert change.interval_low_ratio is not None and change.interval_high_ratio is not None
        assert change.interval_low_ratio <= change.difference_ratio <= change.interval_high_ratio


@pytest.mark.parametrize("seed", SEEDS)
def test_missing_values_anywhere_only_move_the_indexes(seed: int) -> None:
    values = any_series(seed)
    draw = random.Random(seed)
    with_gaps: list[float | None] = []
    moved: list[int] = []
    for value in values:
        with_gaps += [None] * draw.choice([0, 0, 0, 1, 3])
        moved.append(len(with_gaps))
        with_gaps.append(value)
    expected = [moved[change.index] for change in find_changes(values)]
    assert [change.index for change in find_changes(with_gaps)] == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_window_alone_is_judged_as_a_list_of_its_own(seed: int) -> None:
    values = any_series(seed)
    start = max(0, len(values) - 60)
    alone = [start + change.index for change in find_changes(values[start:])]
    assert [change.index for change in find_changes(values, only_last_window=True)] == alone
