"""The latest run beside the noise of those before."""

import random

import pytest

from benchweb.statistics.changes import suspicion
from tests.statistics.changes.noisy import noisy

CALM = noisy([1000.0] * 30, deviation=0.005)


@pytest.mark.parametrize(("latest", "suspect"), [(1000.0, False), (975.0, False), (960.0, True), (1040.0, True)])
def test_beyond_noise_and_floor_is_suspect(latest: float, suspect: bool) -> None:
    assert (suspicion([*CALM, latest]) is not None) is suspect


def test_only_what_is_worse_is_suspect_where_the_direction_is_known() -> None:
    assert suspicion([*CALM, 900.0], higher_is_better=True)
    assert suspicion([*CALM, 900.0], higher_is_better=False) is None
    assert suspicion([*CALM, 1100.0], higher_is_better=True) is None


def test_what_one_night_in_ten_shows_is_no_suspect_and_what_a_spike_showed_is() -> None:
    calm = [1000.0, 1002.0, 998.0, 1001.0, 999.0] * 6
    weekly = [value * (0.95 if index % 7 > 4 else 1) for index, value in enumerate(calm)]
    assert suspicion([*weekly, 950.0]) is None
    assert suspicion([*weekly, 880.0])
    assert suspicion([*calm[:20], 950.0, 1000.0, 950.0, *calm[:7], 950.0])


def test_a_noisy_series_allows_more() -> None:
    assert suspicion([*noisy([1000.0] * 30, deviation=0.05), 900.0]) is None


def test_eleven_values_before_are_needed() -> None:
    assert suspicion([*CALM[:10], 500.0]) is None
    assert suspicion([*CALM[:11], 500.0])


def test_only_the_present_level_counts() -> None:
    values = [1000.0] * 20 + [800.0] * 12
    assert suspicion([*values, 1000.0], since=20)
    assert suspicion([*values, 800.0], since=20) is None


def test_a_missing_latest_value_and_no_value_are_not_suspect() -> None:
    assert suspicion([*CALM, None]) is None
    assert suspicion([]) is None


def test_of_a_constant_series_what_exceeds_the_floor_is_suspect() -> None:
    assert suspicion([100.0] * 20 + [103.0]) is None
    assert suspicion([100.0] * 20 + [103.1])
    assert suspicion([0.0] * 20 + [0.01])
    assert suspicion([0.0] * 20 + [0.01], least=0.02) is None


def test_on_a_log_scale_a_tail_upwards_allows_more_upwards() -> None:
    skewed = [10.0, 14.0, 20.0] * 10
    assert suspicion([*skewed, 1.4], log_scale=True)
    assert suspicion([*skewed, 1.4]) is None


def test_of_two_modes_the_worse_one_is_no_suspect_and_what_lies_beyond_both_is() -> None:
    draw = random.Random(1)
    values = [900.0 + 100 * (draw.random() < 0.65) + draw.gauss(0, 5) for _ in range(40)]
    assert suspicion([*values, 900.0], higher_is_better=True) is None
    assert suspicion([*values, 1000.0], higher_is_better=False) is None
    found = suspicion([*values, 840.0], higher_is_better=True)
    assert found is not None
    assert found.level == pytest.approx(900, abs=3)
    # Better than the mode that it is nearer to.
    assert suspicion([*values, 935.0], higher_is_better=True) is None
    assert suspicion([*values, 965.0], higher_is_better=True) is not None
