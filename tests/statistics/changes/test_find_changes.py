"""Changes of a series' level, where the truth is known."""

import pytest

from benchweb.statistics.changes import find_changes
from tests.statistics.changes.noisy import noisy, stepped


@pytest.mark.parametrize("ratio", [-0.12, -0.06, 0.06, 0.12])
@pytest.mark.parametrize("seed", range(5))
def test_a_step_is_found_where_it_is_with_its_size(ratio: float, seed: int) -> None:
    [found] = find_changes(stepped(60, 40, ratio, seed))
    assert abs(found.index - 40) <= 1
    assert found.difference_ratio == pytest.approx(ratio, abs=0.012)
    assert found.difference_ratio is not None
    assert found.interval_low_ratio is not None and found.interval_high_ratio is not None
    assert found.interval_low_ratio <= found.difference_ratio <= found.interval_high_ratio
    assert found.p < 1e-6


def test_the_levels_are_the_medians_of_both_segments_in_the_unit_given() -> None:
    [found] = find_changes([10.0, 11.0, 12.0] * 8 + [20.0, 22.0, 24.0] * 8)
    assert (found.index, found.before, found.after, found.difference_ratio) == (24, 11.0, 22.0, 1.0)


@pytest.mark.parametrize("values", [[5.0] * 60, [0.0] * 60, [], [1.0], [None] * 30])
def test_what_never_changes_has_no_change(values: list[float | None]) -> None:
    assert find_changes(values) == []


@pytest.mark.parametrize("seed", range(20))
def test_noise_alone_is_no_change(seed: int) -> None:
    assert find_changes(noisy([1000.0] * 60, seed)) == []


def test_fewer_than_twelve_values_are_learning() -> None:
    assert find_changes([1.0] * 4 + [2.0] * 4 + [3.0] * 3) == []


def test_seven_values_on_each_side_are_enough() -> None:
    assert find_changes([100.0] * 7 + [50.0] * 6) == []
    assert [found.index for found in find_changes([100.0] * 7 + [50.0] * 7)] == [7]


def test_missing_values_are_left_out_and_indexes_are_those_of_the_list_given() -> None:
    values: list[float | None] = [*stepped(60, 40, -0.1)]
    with_gaps = [None, None, *values[:20], None, *values[20:39], float("nan"), *values[39:], None]
    [plain], [gappy] = find_changes(values), find_changes(with_gaps)
    assert gappy.index == plain.index + 4
    assert (gappy.before, gappy.after, gappy.p) == (plain.before, plain.after, plain.p)


@pytest.mark.parametrize("at", [5, 30, 58, 59])
@pytest.mark.parametrize("times", [0.1, 3.0])
def test_a_single_spike_is_no_change(at: int, times: float) -> None:
    values = noisy([1000.0] * 60)
    values[at] *= times
    assert find_changes(values) == []


def test_a_spike_among_the_first_of_a_new_level_hides_nothing() -> None:
    values = stepped(60, 55, -0.06)
    values[57] = 1800.0
    [found] = find_changes(values)
    assert found.index == 55


def test_a_change_smaller_than_the_floor_is_not_told() -> None:
    values = stepped(60, 30, -0.06)
    assert len(find_changes(values, floor=0.03)) == 1
    assert find_changes(values, floor=0.08) == []


def test_a_change_smaller_than_the_least_difference_is_not_told() -> None:
    losses = [0.0] * 40 + [0.0002 + 0.00001 * index for index in range(15)]
    [found] = find_changes(losses)
    assert (found.index, found.before, found.difference_ratio) == (40, 0.0, None)
    assert find_changes(losses, least=0.001) == []


def test_latency_on_a_log_scale_finds_the_same_ratio_up_and_down() -> None:
    values = stepped(60, 30, 0.25)
    [up] = find_changes(values, log_scale=True)
    [down] = find_changes(values[::-1], log_scale=True)
    assert (up.index, down.index) == (30, 30)
    assert up.difference_ratio is not None and down.difference_ratio is not None
    assert (1 + up.difference_ratio) * (1 + down.difference_ratio) == pytest.approx(1)


def test_a_long_series_is_looked_through_and_the_last_window_alone_on_request() -> None:
    values = noisy([1000.0 if index // 100 % 2 else 900.0 for index in range(1000)])
    found = find_changes(values)
    assert [change.index for change in found] == pytest.approx([*range(100, 1000, 100)], abs=2)
    assert find_changes(values, only_last_window=True) == []
    assert [change.index for change in find_changes(values[:920], only_last_window=True)] == [900]
