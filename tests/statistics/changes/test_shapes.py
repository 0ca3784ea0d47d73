"""Drift, and series that alternate between two levels."""

import random

import pytest

from benchweb.statistics.changes import find_changes
from benchweb.statistics.changes.modes import share_change, two_modes
from tests.statistics.changes.noisy import noisy, stepped


def alternating(count: int, seed: int, low_share: float = 0.35) -> list[float]:
    """Return 1,000 or 900 as a coin falls, with noise of 1 %."""
    draw = random.Random(seed)
    return noisy([900.0 if draw.random() < low_share else 1000.0 for _ in range(count)], seed)


@pytest.mark.parametrize("seed", range(5))
def test_a_drift_is_one_change_that_is_called_a_drift(seed: int) -> None:
    levels = [1000.0 * (1 - 0.15 * min(1.0, max(0, index - 15) / 30)) for index in range(60)]
    [found] = find_changes(noisy(levels, seed))
    assert found.is_drift
    assert 10 <= found.index <= 35
    assert found.difference_ratio == pytest.approx(-0.15, abs=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_a_step_is_no_drift(seed: int) -> None:
    [found] = find_changes(stepped(60, 30, -0.15, seed))
    assert not found.is_drift


@pytest.mark.parametrize("seed", range(10))
def test_two_modes_are_known_and_no_change(seed: int) -> None:
    values = alternating(60, seed)
    modes = two_modes(values)
    assert modes is not None
    assert (modes.low, modes.high) == pytest.approx((900, 1000), rel=0.01)
    assert find_changes(values) == []


@pytest.mark.parametrize("seed", range(5))
def test_modes_that_both_move_are_a_change(seed: int) -> None:
    values = [value * (0.95 if index >= 52 else 1) for index, value in enumerate(alternating(60, seed))]
    [found] = find_changes(values)
    assert abs(found.index - 52) <= 1


def test_other_shares_of_the_same_modes_are_a_change() -> None:
    values = alternating(40, 3, low_share=0.2) + alternating(20, 4, low_share=0.95)
    [found] = find_changes(values)
    assert abs(found.index - 40) <= 3
    shares = found.mode_shares
    assert shares is not None
    assert (shares.before, shares.after) == pytest.approx((0.2, 0.95), abs=0.12)
    # Not the medians: a change from 60 to 80 % at the lower level would have none.
    assert (found.before, found.after) == pytest.approx(
        (1000 - 100 * shares.before, 1000 - 100 * shares.after), rel=0.005
    )
    assert found.difference_ratio == pytest.approx((found.after - found.before) / found.before)
    low, high = found.interval_low_ratio, found.interval_high_ratio
    assert low is not None
    assert high is not None
    assert -0.1 < low < (found.after - found.before) / found.before < high < -0.03


def test_a_change_of_shares_that_moves_the_level_by_less_than_the_floor_is_none() -> None:
    values = alternating(40, 3, low_share=0.2) + alternating(20, 4, low_share=0.95)
    assert find_changes(values, floor=0.06)
    assert find_changes(values, floor=0.1) == []


def test_shares_that_chance_explains_are_none() -> None:
    assert share_change([True, False] * 30) is None
    assert share_change([True] * 60) is None
    assert share_change([True] * 30 + [False] * 30) == 30


def test_levels_that_hold_are_no_modes() -> None:
    assert two_modes(stepped(60, 30, -0.1)) is None
    assert two_modes(noisy([1000.0] * 60)) is None
