"""Slow changes of nights: small steps that last, drifts, and all that is neither."""

import random
from statistics import median

import pytest

from benchweb.statistics.changes import find_changes, slow_change
from tests.statistics.changes.noisy import noisy

LEVEL = 1000.0
NOISE = 0.0107


def step(share: float, at: int, nights: int = 90) -> list[float]:
    return noisy([LEVEL * (1 + share * (night >= at)) for night in range(nights)], deviation=NOISE)


def drift(share: float, at: int, over: int, nights: int = 90) -> list[float]:
    way = [min(1.0, max(0.0, (night - at + 1) / over)) for night in range(nights)]
    return noisy([LEVEL * (1 + share * each) for each in way], deviation=NOISE)


def test_a_small_step_below_the_floor_of_alerts_is_found_with_its_levels_and_interval() -> None:
    nights = step(-0.015, 64)
    assert find_changes(nights, floor=0.02, only_last_window=True) == []
    change = slow_change(nights)
    assert change is not None
    assert abs(change.index - 64) <= 3
    assert not change.is_drift
    assert change.p < 1e-4
    assert change.before == pytest.approx(median(nights[: change.index]))
    assert change.after == pytest.approx(median(nights[change.index :]))
    low, ratio, high = change.interval_low_ratio, change.difference_ratio, change.interval_high_ratio
    assert low is not None
    assert ratio is not None
    assert high is not None
    assert low < ratio < high < 0
    assert ratio == pytest.approx(-0.015, abs=0.005)


def test_a_drift_is_told_from_its_beginning_to_the_level_at_its_end() -> None:
    change = slow_change(drift(-0.05, 20, 60))
    assert change is not None
    assert change.is_drift
    assert change.index <= 35
    assert change.before == pytest.approx(LEVEL, rel=0.01)
    assert change.after == pytest.approx(LEVEL * 0.955, rel=0.01)


def test_noise_alone_is_no_slow_change_at_its_p() -> None:
    draw = random.Random(3)
    found = [slow_change([draw.gauss(LEVEL, LEVEL * NOISE) for _ in range(90)], floor=0) for _ in range(400)]
    assert sum(change is not None and change.p <= 0.05 for change in found) <= 20
    assert all(change is None or change.p > 0.001 for change in found)


def test_single_spikes_hide_nothing_and_make_nothing() -> None:
    nights = step(-0.02, 55)
    for night in (10, 31, 60, 77):
        nights[night] *= 0.6
    change = slow_change(nights)
    assert change is not None
    assert abs(change.index - 55) <= 3
    calm = step(0.0, 0)
    calm[80] = calm[84] = calm[88] = 400.0
    assert slow_change(calm) is None


def test_what_weekends_differ_by_is_taken_out() -> None:
    nights = [value * (0.96 if night % 7 > 4 else 1) for night, value in enumerate(step(-0.02, 50))]
    change = slow_change(nights)
    assert change is not None
    assert abs(change.index - 50) <= 3
    assert change.difference_ratio == pytest.approx(-0.02, abs=0.007)
    calm = [value * (0.96 if night % 7 > 4 else 1) for night, value in enumerate(step(0.0, 0))]
    assert slow_change(calm) is None


def test_two_levels_to_and_fro_are_no_change_and_hide_none() -> None:
    draw = random.Random(5)
    low = [draw.random() < 0.35 for _ in range(90)]
    calm = [value * (0.9 if is_low else 1) for value, is_low in zip(step(0.0, 0), low, strict=True)]
    changed = [value * (0.9 if is_low else 1) for value, is_low in zip(step(-0.03, 60), low, strict=True)]
    assert slow_change(calm) is None
    found = slow_change(changed)
    assert found is not None
    assert found.difference_ratio == pytest.approx(-0.03, abs=0.01)


def test_where_each_night_depends_on_the_one_before_the_nights_are_worth_less() -> None:
    draw, states = random.Random(7), [0.0]
    for _ in range(89):
        states.append(0.9 * states[-1] + draw.gauss(0, NOISE * 0.44))
    wandering = slow_change([LEVEL * (1 + state) for state in states], floor=0)
    independent = slow_change(step(-0.02, 45))
    assert wandering is None or wandering.p > 0.001
    assert independent is not None
    assert independent.p < 1e-9


def test_what_came_back_is_told_no_more() -> None:
    back = [LEVEL * (0.97 if 40 <= night < 80 else 1) for night in range(90)]
    assert slow_change(noisy(back, deviation=NOISE)) is None


def test_missing_nights_are_left_out_and_their_places_kept() -> None:
    nights: list[float | None] = [*step(-0.03, 60)]
    for night in (*range(0, 60, 3), 61, 62):
        nights[night] = None
    change = slow_change(nights)
    assert change is not None
    assert 58 <= change.index <= 64


def test_of_fewer_than_six_weeks_and_of_less_than_two_weeks_at_a_level_nothing_is_told() -> None:
    assert slow_change([LEVEL] * 21 + [LEVEL * 0.9] * 20) is None
    assert slow_change([LEVEL] * 21 + [LEVEL * 0.9] * 21)
    short = slow_change(noisy([LEVEL] * 82 + [LEVEL * 0.97] * 8, deviation=NOISE))
    assert short is None or short.p > 0.001


def test_what_is_smaller_than_the_floor_is_told_nowhere() -> None:
    nights = step(-0.03, 45)
    assert slow_change(nights)
    assert slow_change(nights, floor=0.05) is None
    assert slow_change(nights, least=100.0) is None


def test_a_series_that_stands_still_has_none() -> None:
    assert slow_change([LEVEL] * 90) is None
    assert slow_change([]) is None
    assert slow_change([None] * 90) is None


def test_on_a_log_scale_levels_are_told_in_the_metrics_unit() -> None:
    slower = [10e-3 * (1.04 if night >= 45 else 1) for night in range(90)]
    change = slow_change(noisy(slower, deviation=NOISE), log_scale=True)
    assert change is not None
    assert change.before == pytest.approx(10e-3, rel=0.01)
    assert change.after == pytest.approx(10.4e-3, rel=0.01)
