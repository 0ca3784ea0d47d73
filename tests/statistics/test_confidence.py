"""The interval of a mean: netperf's figure, against printed tables and netperf's own arithmetic."""

from math import isclose, sqrt

import pytest

from benchweb.statistics.confidence import mean_interval, student_p_value, student_t


@pytest.mark.parametrize(
    ("level", "freedom", "printed"),
    [
        (0.95, 1, 12.706),
        (0.95, 2, 4.303),
        (0.95, 9, 2.262),
        (0.95, 30, 2.042),
        (0.99, 1, 63.657),
        (0.99, 2, 9.925),
        (0.99, 3, 5.841),
        (0.99, 29, 2.756),
        (0.90, 5, 2.015),
        (0.999, 10, 4.587),
    ],
)
def test_quantiles_are_those_of_the_printed_tables(level: float, freedom: int, printed: float) -> None:
    assert abs(student_t(level, freedom) - printed) < 6e-4


@pytest.mark.parametrize(("t", "freedom", "p"), [(12.706, 1, 0.05), (-2.042, 30, 0.05), (4.587, 10, 0.001), (0, 5, 1)])
def test_p_values_are_those_of_the_printed_tables(t: float, freedom: int, p: float) -> None:
    assert abs(student_p_value(t, freedom) - p) < 5e-5


def test_the_width_is_the_one_that_netperf_computes() -> None:
    values = [941.2, 938.7, 940.1, 935.9]
    mean = sum(values) / 4
    netperf_variance = sum(value * value for value in values) / 4 - mean * mean
    netperf = 2 * 5.841 * sqrt(netperf_variance / 3) / mean
    interval = mean_interval(values, 0.99)
    assert interval is not None and interval.n == 4
    assert interval.width_ratio is not None and abs(interval.width_ratio - netperf) < 1e-6


def test_one_value_has_no_interval() -> None:
    assert mean_interval([1.0], 0.95) is None


def test_equal_values_have_an_interval_of_no_width_and_values_around_zero_none_to_tell() -> None:
    equal, around_zero = mean_interval([0.0, 0.0], 0.95), mean_interval([-1.0, 1.0], 0.95)
    assert equal is not None and equal.width_ratio == 0
    assert around_zero is not None and around_zero.width_ratio is None
    assert isclose(around_zero.half_width, student_t(0.95, 1))
