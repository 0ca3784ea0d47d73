"""A night beside the nights before it."""

import pytest

from benchweb.statistics import deviation

CALM = [100.0] * 10


def test_a_first_night_has_nothing_to_be_compared_with() -> None:
    assert deviation(1.0, []) is None


def test_the_noise_is_that_of_the_nights_before_by_their_median_deviation() -> None:
    found = deviation(130.0, [90, 95, 100, 105, 110])
    assert found is not None
    assert (found.baseline, found.noise) == (100, 1.4826 * 5)
    assert found.score == pytest.approx(30 / 7.413)
    assert (found.ratio, found.n_before, found.is_significant) == (0.3, 5, True)


@pytest.mark.parametrize(("latest", "is_significant"), [(103.0, False), (103.1, True), (97.0, False), (96.9, True)])
def test_three_per_cent_of_a_calm_series_is_the_least_that_stands_out(latest: float, is_significant: bool) -> None:
    found = deviation(latest, CALM)
    assert found is not None
    assert found.is_significant is is_significant


def test_one_outlier_among_the_nights_before_hides_nothing() -> None:
    found = deviation(90.0, [*CALM, 1_000.0])
    assert found is not None
    assert (found.baseline, found.is_significant) == (100, True)


@pytest.mark.parametrize(("latest", "is_significant"), [(0.001, False), (0.0011, True)])
def test_what_was_always_zero_stands_out_only_beyond_the_least(latest: float, is_significant: bool) -> None:
    found = deviation(latest, [0.0] * 8, least=0.001)
    assert found is not None
    assert (found.ratio, found.is_significant) == (None, is_significant)


def test_without_any_noise_nothing_stands_out() -> None:
    found = deviation(5.0, [0.0] * 8)
    assert found is not None
    assert (found.score, found.is_significant) == (None, False)


def test_of_four_nights_nothing_is_said() -> None:
    found = deviation(50.0, CALM[:4])
    assert found is not None
    assert (found.is_learning, found.is_significant) == (True, False)
