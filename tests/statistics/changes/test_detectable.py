"""What a series can show at all."""

from math import pi

import pytest

from benchweb.statistics.changes import find_changes, repetitions_to_halve, smallest_detectable_change
from tests.statistics.changes.noisy import noisy


def test_a_change_of_that_size_is_found_within_five_runs_and_half_of_it_is_not() -> None:
    calm = noisy([1000.0] * 55)
    smallest = smallest_detectable_change(calm)
    assert smallest == pytest.approx(0.03, abs=0.005)
    assert smallest is not None
    found = [find_changes([*calm, *noisy([1000.0 * (1 - smallest * 1.3)] * 5, seed)]) for seed in range(20)]
    assert sum(map(len, found)) >= 16
    missed = [find_changes([*calm, *noisy([1000.0 * (1 - smallest / 2)] * 5, seed)]) for seed in range(20)]
    assert sum(map(len, missed)) <= 2


def test_a_constant_series_shows_the_floor() -> None:
    assert smallest_detectable_change([100.0] * 20) == 0.005
    assert smallest_detectable_change([100.0] * 20, floor=0.03) == 0.03


def test_learning_and_levels_of_zero_have_none() -> None:
    assert smallest_detectable_change([100.0] * 11) is None
    assert smallest_detectable_change([0.0] * 20) is None


def test_four_times_the_repetitions_halve_noise_that_lies_within_runs() -> None:
    values = [990.0, 1010.0] * 30
    # Such a noise of the medians of five is what repetitions with this deviation give.
    within = 14.826 / (pi / 2 / 5) ** 0.5
    assert repetitions_to_halve(values, [within] * 60, repetitions=5) == 20


def test_no_repetitions_halve_noise_from_run_to_run() -> None:
    assert repetitions_to_halve(noisy([1000.0] * 60), [1.0] * 60, repetitions=5) is None
    assert repetitions_to_halve([1000.0] * 5, [1.0] * 5, repetitions=5) is None
