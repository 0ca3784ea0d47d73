"""Statements written by hand go through Django's cursors."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext

from benchweb.common.rows import database_now, fetch, fetch_column, fetch_value

pytestmark = pytest.mark.django_db


def test_rows_come_with_their_types_and_times_in_utc() -> None:
    statement = """
        SELECT %(document)s::jsonb AS document, %(ids)s::bigint[] AS ids,
            '2026-11-21 14:53:14.215038+08'::timestamptz AS at, NULL::jsonb AS nothing
    """
    row: dict[str, Any]
    (row,) = fetch(dict, statement, {"document": '{"mtu": 1500, "name": "tür"}', "ids": [1, 2]})
    assert row == {
        "document": {"mtu": 1500, "name": "tür"},
        "ids": [1, 2],
        "at": datetime(2026, 11, 21, 6, 53, 14, 215038, tzinfo=UTC),
        "nothing": None,
    }


def test_a_parameter_is_a_value_whatever_it_says() -> None:
    text = "1'; DROP TABLE auth_user; --"
    assert fetch(dict, "SELECT %(text)s AS text, 100 %% 7 AS rest", {"text": text}) == [{"text": text, "rest": 2}]


def test_a_statement_that_fails_raises_djangos_error_and_the_connection_lives_on() -> None:
    with pytest.raises(ProgrammingError, match="no_such_table"), transaction.atomic():
        fetch_column("SELECT * FROM no_such_table")
    assert fetch_value("SELECT 1") == 1


def test_statements_are_logged_as_djangos_own() -> None:
    with CaptureQueriesContext(connection) as captured:
        fetch_value("SELECT 3")
    assert [query["sql"] for query in captured] == ["SELECT 3"]


def test_a_column_is_its_values_and_a_value_is_that_of_one_row() -> None:
    assert fetch_column("SELECT n FROM generate_series(1, 3) n") == [1, 2, 3]
    assert fetch_column("SELECT 1 WHERE false") == []
    with pytest.raises(ValueError, match="too many values to unpack"):
        fetch_value("SELECT n FROM generate_series(1, 3) n")


def test_the_databases_time_goes_on_within_a_transaction() -> None:
    assert database_now() < database_now()


@dataclass
class Link:
    mtu: int
    name: str


def test_a_row_is_named_by_its_columns() -> None:
    statement = "SELECT 'eth' || n AS name, 1500 * n AS mtu FROM generate_series(1, 2) n"
    assert fetch(Link, statement) == [Link(1500, "eth1"), Link(3000, "eth2")]
