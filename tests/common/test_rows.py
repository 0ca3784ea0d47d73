"""Statements written by hand go through Django's cursors."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from django.db import ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext

from benchweb.common.rows import fetch, fetch_all

pytestmark = pytest.mark.django_db


def test_rows_come_with_their_types_and_times_in_utc() -> None:
    statement = """
        SELECT %(document)s::jsonb, %(ids)s::bigint[], '2026-11-21 14:53:14.215038+08'::timestamptz, NULL::jsonb
    """
    ((document, ids, at, nothing),) = fetch_all(statement, {"document": '{"mtu": 1500, "name": "tür"}', "ids": [1, 2]})
    assert document == {"mtu": 1500, "name": "tür"}
    assert ids == [1, 2]
    assert at == datetime(2026, 11, 21, 6, 53, 14, 215038, tzinfo=UTC)
    assert nothing is None


def test_a_parameter_is_a_value_whatever_it_says() -> None:
    text = "1'; DROP TABLE auth_user; --"
    assert fetch_all("SELECT %(text)s, 100 %% 7", {"text": text}) == [(text, 2)]


def test_a_statement_that_fails_raises_djangos_error_and_the_connection_lives_on() -> None:
    with pytest.raises(ProgrammingError, match="no_such_table"), transaction.atomic():
        fetch_all("SELECT * FROM no_such_table")
    assert fetch_all("SELECT 1") == [(1,)]


def test_statements_are_logged_as_djangos_own() -> None:
    with CaptureQueriesContext(connection) as captured:
        fetch_all("SELECT 3")
    assert [query["sql"] for query in captured] == ["SELECT 3"]


@dataclass
class Link:
    mtu: int
    name: str


def test_a_row_is_named_by_its_columns() -> None:
    statement = "SELECT 'eth' || n AS name, 1500 * n AS mtu FROM generate_series(1, 2) n"
    assert fetch(Link, statement) == [Link(1500, "eth1"), Link(3000, "eth2")]
