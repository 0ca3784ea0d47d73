"""Statements written by hand: one plan for all values, and how many rows are wanted written into them."""

from datetime import UTC, datetime

import pytest
from django.db import ProgrammingError, connection, transaction
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from benchweb import rows
from benchweb.plans.models import PlanVersion
from benchweb.rows import ByIds, Reading, fast_rows, planned_once, planned_rows, read, read_together, united
from benchweb.runs.selectors import lines_reading, run_lines
from tests.factories import make_pair, make_run

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


def test_values_are_the_same_whether_they_come_as_text_or_as_bytes() -> None:
    document = '{"kernel": "6.1", "mtu": 1500, "load": [0.5, null], "name": "tür"}'
    statement = """
        SELECT %(document)s::jsonb AS b, %(document)s::json AS j, ARRAY[1.5, 0.1]::float8[], ARRAY['x', NULL]::text[],
          '2026-11-21 14:53:14.215038+08'::timestamptz, 9007199254740993::bigint, 0.1::float8, NULL::jsonb
    """
    ((b, j, *as_text),) = fast_rows(statement, {"document": document})
    with planned_once():
        ((b_bytes, j_bytes, *as_bytes),) = fast_rows(statement, {"document": document})
    expected = {"kernel": "6.1", "mtu": 1500, "load": [0.5, None], "name": "tür"}
    assert [rows.document(each) for each in (b, j, b_bytes, j_bytes)] == [expected] * 4
    assert as_text == as_bytes
    assert as_bytes[2] == datetime(2026, 11, 21, 6, 53, 14, 215038, tzinfo=UTC)
    assert as_bytes[2].tzinfo is UTC


def test_statements_sent_together_are_planned_once_each_and_give_what_is_made_of_their_rows() -> None:
    for last in (1, 5, 3):
        numbers, words = read_together(
            Reading(_NUMBERS, {"last": last, "most": 2}, lambda rows: [n for (n,) in rows]),
            Reading("SELECT upper(%(word)s::text)", {"word": "mtu"}, lambda rows: rows[0][0]),
        )
        assert (numbers, words) == ([last, last - 1][: min(last, 2)], "MTU")
    plans = planned_rows(_PREPARED, {"like": "SELECT n FROM generate_series%"})
    assert [counts for _statement, *counts in plans] == [[3, 0]]


def test_united_statements_are_one_and_each_makes_something_of_its_own_rows(django_assert_num_queries) -> None:
    def numbers(count: str, values: dict[str, int]) -> Reading[list[int]]:
        statement = f"SELECT n, NULL::text FROM generate_series(1, %({count})s) AS n ORDER BY n DESC LIMIT %(most)s"
        return Reading(statement, values | {"most": 2}, lambda rows: sorted(n for n, _text in rows))

    words = Reading("SELECT NULL::integer, upper(%(word)s)", {"word": "mtu"}, lambda rows: rows[0][1])
    with django_assert_num_queries(1):
        found = read(united(numbers("few", {"few": 1}), words, numbers("many", {"many": 9})))
    assert found == ([1], "MTU", [8, 9])
    assert read(united(numbers("few", {"few": 0}), words, numbers("many", {"many": 3}))) == ([], "MTU", [2, 3])


def test_statements_with_one_name_for_two_values_are_not_united() -> None:
    ours, theirs = (Reading("SELECT %(n)s", {"n": n}, list) for n in (1, 2))
    with pytest.raises(ValueError, match="two different values"):
        united(ours, ours, theirs)


def test_ids_of_any_size_have_one_plan_and_other_lists_stay_what_they_are() -> None:
    statement = "SELECT n FROM generate_series(1, 3) AS n WHERE n = ANY(%(ids)s)"
    for ids, found in (([1, 3], [1, 3]), ([2, 40_000, 9_007_199_254_740_993], [2]), ([-1], [])):
        assert [n for (n,) in planned_rows(statement, {"ids": ids})] == found
        assert [n for (n,) in fast_rows(statement, {"ids": ids})] == found
    plans = planned_rows(_PREPARED, {"like": "SELECT n FROM generate_series(1, 3)%"})
    assert [counts for _statement, *counts in plans] == [[3, 0]]
    lists = {"none": [], "words": ["a", "{b}"], "halves": [1.5, 0.5], "truths": [True]}
    statement = "SELECT %(none)s::bigint[], %(words)s::text[], %(halves)s::float8[], %(truths)s::boolean[]"
    assert planned_rows(statement, lists) == fast_rows(statement, lists) == [tuple(lists.values())]


def test_what_depends_on_its_values_is_planned_for_them_among_others_too() -> None:
    number, word = read_together(
        Reading(_NUMBERS, {"last": 7, "most": 1}, lambda rows: rows[0][0], is_planned_once=False),
        Reading("SELECT upper(%(word)s::text)", {"word": "mtu"}, lambda rows: rows[0][0]),
    )
    assert (number, word) == (7, "MTU")
    assert planned_rows(_PREPARED, {"like": "SELECT n FROM generate_series%"}) == []


def test_a_statement_that_fails_among_others_is_said_as_django_says_it_and_the_connection_lives_on() -> None:
    good = Reading("SELECT 1", {}, lambda rows: rows[0][0])
    with pytest.raises(ProgrammingError, match="no_such_table"), transaction.atomic():
        read_together(good, Reading("SELECT * FROM no_such_table", {}, list), good)
    assert read_together(good, good) == (1, 1)


def test_statements_are_counted_as_django_counts_them() -> None:
    with CaptureQueriesContext(connection) as asked:
        read_together(Reading("SELECT 1", {}, list), Reading("SELECT 2", {}, list))
        planned_rows("SELECT 3", {})
    assert [query["sql"] for query in asked] == ["SELECT 1", "SELECT 2", "SELECT 3"]


def test_rows_by_ids_are_what_django_gives_and_need_no_query_more(django_assert_num_queries) -> None:
    pair = make_pair()
    runs = [make_run(pair=pair), make_run(pair=pair, name="other")]
    expected = list(run_lines().filter(pk__in=[run.pk for run in runs]).order_by("pk"))
    with django_assert_num_queries(1):
        found = sorted(read(lines_reading([runs[1].pk, 0, runs[0].pk])), key=lambda run: run.pk)
        named = [(str(run.pair), str(run.plan_version), run.pair.environment.name) for run in found]
    assert named == [(str(run.pair), str(run.plan_version), run.pair.environment.name) for run in expected]
    assert list(map(_values, found)) == list(map(_values, expected))
    assert [run.get_deferred_fields() for run in found] == [run.get_deferred_fields() for run in expected]
    assert read(lines_reading([])) == []


def _values(row: Model) -> dict[str, object]:
    return {name: value for name, value in vars(row).items() if name != "_state"}


def test_rows_whose_values_django_would_change_are_not_read_by_ids() -> None:
    with pytest.raises(TypeError, match="only plain columns"):
        ByIds(PlanVersion.objects.all).reading([1])
    with pytest.raises(TypeError, match="nothing else be asked"):
        ByIds(lambda: run_lines().filter(state="finished")).reading([1])
