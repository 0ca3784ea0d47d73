"""Values of several strata on one level: within each the ratio stays, and what sets them apart is gone."""

import pytest

from benchweb.statistics import difference
from benchweb.statistics.alignment import aligned


def test_one_stratum_is_left_as_it_was_measured() -> None:
    assert aligned({7: [1.0, 2.0]}, {7: [3.0]}) == ([1.0, 2.0], [3.0])


def test_a_change_within_pairs_shows_through_their_different_speeds() -> None:
    fast = [100.0, 100.2, 99.8, 100.1, 99.9]
    before = {1: fast, 2: [value / 10 for value in fast]}
    after = {pair: [value * 0.9 for value in values] for pair, values in before.items()}
    pooled = difference([*before[1], *before[2]], [*after[1], *after[2]])
    found = difference(*aligned(before, after))
    assert pooled.p_value > 0.05
    assert found.p_value < 0.001
    assert found.ratio == pytest.approx(-0.1, abs=0.003)


def test_only_strata_of_both_count_where_there_are_any() -> None:
    assert aligned({1: [1.0], 2: [50.0]}, {1: [2.0], 3: [60.0]}) == ([1.0], [2.0])


def test_without_common_strata_nothing_can_be_compared() -> None:
    with pytest.raises(ValueError, match="no stratum in common"):
        aligned({1: [1.0]}, {2: [2.0, 3.0]})


def test_a_level_of_nothing_is_not_scaled() -> None:
    first, second = {1: [0.0, 0.0], 2: [0.5]}, {1: [0.0], 2: [0.25]}
    assert aligned(first, second) == ([0.0, 0.0, 0.5], [0.0, 0.25])
