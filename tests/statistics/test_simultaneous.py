"""Sources measured at once: the window that all share, and what each gave in it."""

import pytest

from benchweb.statistics.simultaneous import (
    Counted,
    Slice,
    Window,
    common_window,
    counted_within,
    fairness,
    rate_within,
)


def course(begin: float, *rates: float) -> list[Slice]:
    """Return slices of a second; the interface counts a packet of 100 bytes for each unit of rate."""
    return [
        Slice(Window(begin + n, begin + n + 1), rate, ("eth0", Counted(100 * rate, rate)))
        for n, rate in enumerate(rates)
    ]


def test_the_common_window_is_from_the_last_begin_to_the_first_end() -> None:
    assert common_window([course(10.0, 1, 1, 1), course(10.5, 1, 1, 1), course(10.25, 1, 1)]) == Window(10.5, 12.25)


@pytest.mark.parametrize("other", [[], course(1, 1), course(9, 1)])
def test_sources_that_were_never_measured_at_once_have_none(other: list[Slice]) -> None:
    assert common_window([course(0, 1), other]) is None
    assert common_window([]) is None


def test_a_slice_counts_by_its_part_that_lies_in_the_window() -> None:
    window = Window(10.5, 12.0)
    assert rate_within(course(10.0, 8, 2, 100), window) == pytest.approx((0.5 * 8 + 1 * 2) / 1.5)
    assert counted_within(course(10.0, 8, 2, 100), window) == {"eth0": Counted(600.0, 6.0)}


def test_what_was_not_counted_is_not_told() -> None:
    whole = course(0, 1, 1)
    assert counted_within([whole[0], Slice(whole[1].window, 1.0)], Window(0, 2)) == {}
    assert rate_within([Slice(Window(0, 1), None)], Window(0, 1)) is None


def test_fairness_is_one_for_equals_and_a_share_of_the_sources_for_one_that_has_all() -> None:
    assert fairness([5.0, 5.0, 5.0]) == pytest.approx(1)
    assert fairness([9.0, 0.0, 0.0]) == pytest.approx(1 / 3)
    assert fairness([4.0, 8.0]) == pytest.approx(0.9)
    assert fairness([0.0, 0.0]) is None
    assert fairness([]) is None
