"""The quick forms of the rank-sum test and of the interval of a difference of medians, beside finer ones."""

import random
from statistics import median

import pytest
from scipy import stats

from benchweb.statistics.median_interval import quick_median_difference_interval
from benchweb.statistics.rank_sum import quick_p_value, rank_sum_p_value


@pytest.mark.parametrize("few", [3, 4, 6])
def test_a_few_values_beside_many_are_judged_exactly(few: int) -> None:
    draw = random.Random(few)
    for _ in range(20):
        small, large = [draw.gauss(1, 1) for _ in range(few)], [draw.gauss(0, 1) for _ in range(90)]
        exact = stats.mannwhitneyu(small, large, method="exact").pvalue
        assert quick_p_value(small, large) == pytest.approx(exact)
        assert quick_p_value(large, small) == pytest.approx(exact)


def test_many_values_are_judged_by_the_normal_approximation() -> None:
    draw = random.Random(1)
    first, second = [draw.gauss(0, 1) for _ in range(30)], [draw.gauss(0.5, 1) for _ in range(30)]
    assert quick_p_value(first, second) == pytest.approx(stats.mannwhitneyu(first, second, method="asymptotic").pvalue)
    assert quick_p_value(first, second) == pytest.approx(rank_sum_p_value(first, second), rel=0.05)


@pytest.mark.parametrize(("here", "there"), [(10, 50), (30, 30), (6, 54)])
def test_the_interval_holds_the_true_difference_about_as_often_as_it_says(here: int, there: int) -> None:
    draw = random.Random(1)
    held = 0
    for _ in range(1000):
        first = [draw.lognormvariate(0, 0.5) for _ in range(here)]
        second = [draw.lognormvariate(0, 0.5) + 2 for _ in range(there)]
        low, high = quick_median_difference_interval(first, second)
        assert (low + high) / 2 == pytest.approx(median(second) - median(first))
        held += low <= 2 <= high
    assert 920 <= held <= 990


def test_constant_samples_have_an_interval_without_width() -> None:
    assert quick_median_difference_interval([1.0] * 5, [3.0] * 9) == (2.0, 2.0)
