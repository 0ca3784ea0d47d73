"""What can't be stored is taken out at the boundary, and nothing else is touched."""

import math

import pytest

from benchweb.common.storable import MAXIMUM_NUMBER, TooDeepError, is_figure, storable, storable_text


def test_what_can_be_stored_stays_as_it_is() -> None:
    document = {"a": [1, 2.5, True, None, "ü 中 😀"], "b": {"c": -MAXIMUM_NUMBER}, "data": "A" * 50_000}
    assert storable(document) == document


def test_numbers_beyond_a_bigint_and_those_that_are_none_become_null() -> None:
    assert storable([math.nan, math.inf, -math.inf, 2**63, 1e19, -(10**4000)]) == [None] * 6
    assert [is_figure(each) for each in (1, 0.5, True, "1", math.nan)] == [True, True, False, False, False]


def test_nul_and_half_pairs_become_a_mark_in_names_and_values() -> None:
    assert storable({"a\0": "\ud800b"}) == {"a\ufffd": "\ufffdb"}
    assert storable({"data": "a\0"}) == {"data": "a\ufffd"}


def test_long_texts_are_cut_with_an_ellipsis() -> None:
    assert storable_text("x" * 50, most=10) == "x" * 9 + "…"
    assert len(storable(["x" * 1_000_000])[0]) == 10_000


def test_a_document_that_is_too_deep_is_refused() -> None:
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(TooDeepError, match="32 deep"):
        storable(deep)
