"""The latest run beside the noise of those before."""

import pytest

from benchweb.statistics.changes import is_suspect
from tests.statistics.changes.noisy import noisy

CALM = noisy([1000.0] * 30, deviation=0.005)


@pytest.mark.parametrize(("latest", "suspect"), [(1000.0, False), (975.0, False), (960.0, True), (1040.0, True)])
def test_beyond_noise_and_floor_is_suspect(latest: float, suspect: bool) -> None:
    assert is_suspect([*CALM, latest]) is suspect


def test_only_what_is_worse_is_suspect_where_the_direction_is_known() -> None:
    assert is_suspect([*CALM, 900.0], higher_is_better=True)
    assert not is_suspect([*CALM, 900.0], higher_is_better=False)
    assert not is_suspect([*CALM, 1100.0], higher_is_better=True)


def test_a_noisy_series_allows_more() -> None:
    assert not is_suspect([*noisy([1000.0] * 30, deviation=0.05), 900.0])


def test_eleven_values_before_are_needed() -> None:
    assert not is_suspect([*CALM[:10], 500.0])
    assert is_suspect([*CALM[:11], 500.0])


def test_only_the_present_level_counts() -> None:
    values = [1000.0] * 20 + [800.0] * 12
    assert is_suspect([*values, 1000.0], since=20)
    assert not is_suspect([*values, 800.0], since=20)


def test_a_missing_latest_value_and_no_value_are_not_suspect() -> None:
    assert not is_suspect([*CALM, None])
    assert not is_suspect([])


def test_of_a_constant_series_what_exceeds_the_floor_is_suspect() -> None:
    assert not is_suspect([100.0] * 20 + [103.0])
    assert is_suspect([100.0] * 20 + [103.1])
    assert is_suspect([0.0] * 20 + [0.01])
    assert not is_suspect([0.0] * 20 + [0.01], least=0.02)


def test_on_a_log_scale_a_tail_upwards_allows_more_upwards() -> None:
    skewed = [10.0, 14.0, 20.0] * 10
    assert is_suspect([*skewed, 1.4], log_scale=True)
    assert not is_suspect([*skewed, 1.4])
