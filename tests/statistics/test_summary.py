"""Summaries of repetitions, with values worked out by hand."""

from benchweb.statistics import Summary, summary


def test_three_repetitions_give_their_middle_and_extremes() -> None:
    assert summary([12.0, 10.0, 11.0]) == Summary(n=3, median=11.0, low=10.0, high=12.0)


def test_an_even_count_gives_the_mean_of_the_two_in_the_middle() -> None:
    assert summary([4.0, 1.0, 2.0, 100.0]) == Summary(n=4, median=3.0, low=1.0, high=100.0)


def test_one_repetition_is_its_own_extremes() -> None:
    assert summary([5.0]) == Summary(n=1, median=5.0, low=5.0, high=5.0)


def test_nothing_measured_is_no_summary() -> None:
    assert summary([]) is None
