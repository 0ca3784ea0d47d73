"""Statements written by hand: one plan for all values, and how many rows are wanted written into them."""

import pytest

from benchweb.rows import fast_rows, planned_once

pytestmark = pytest.mark.django_db

_NUMBERS = "SELECT n FROM generate_series(1, %(last)s::bigint) AS n ORDER BY n DESC LIMIT %(most)s"
_PREPARED = "SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE %(like)s"


def test_a_statement_is_planned_once_for_all_values_but_its_limit() -> None:
    with planned_once():
        found = [fast_rows(_NUMBERS, {"last": last, "most": 2}) for last in (1, 5, 3)]
        plans = fast_rows(_PREPARED, {"like": "SELECT n FROM generate_series%"})
    assert found == [[(1,)], [(5,), (4,)], [(3,), (2,)]]
    assert plans == [(_NUMBERS.replace("%(last)s", "$1").replace("%(most)s", "2"), 3, 0)]


def test_a_limit_is_a_whole_number_whatever_is_given() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        fast_rows(_NUMBERS, {"last": 3, "most": "1; DROP TABLE auth_user"})
