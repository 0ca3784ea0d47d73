"""Summaries of repetitions, with values worked out by hand."""

import pytest

from benchweb.statistics import Summary, half_range_ratio, summary


def test_three_repetitions_give_their_middle_and_extremes():
    assert summary([12.0, 10.0, 11.0]) == Summary(n=3, median=11.0, low=10.0, high=12.0, spread_ratio=1 / 11)


def test_an_even_count_gives_the_mean_of_the_two_in_the_middle():
    assert summary([4.0, 1.0, 2.0, 100.0]) == Summary(n=4, median=3.0, low=1.0, high=100.0, spread_ratio=16.5)


def test_one_repetition_has_no_spread():
    assert summary([5.0]) == Summary(n=1, median=5.0, low=5.0, high=5.0, spread_ratio=None)


def test_nothing_measured_is_no_summary():
    assert summary([]) is None


@pytest.mark.parametrize(
    ("values", "ratio"),
    [([7.0, 7.0, 7.0], 0.0), ([90.0, 100.0, 110.0], 0.1), ([-90.0, -100.0, -110.0], 0.1), ([0.0, 0.0, 5.0], None)],
)
def test_the_half_range_is_relative_to_the_median(values, ratio):
    assert half_range_ratio(values) == ratio
