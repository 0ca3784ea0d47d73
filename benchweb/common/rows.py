"""Statements written by hand for what Django's ORM can't express, the database's time, and rows' ids as texts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import orjson
import psycopg
from django.db import connection
from psycopg.pq import Format
from psycopg.rows import class_row, scalar_row
from psycopg.types.json import set_json_loads

R = TypeVar("R")
_TIMES = psycopg.adapters.types["timestamptz"].oid
# psycopg's own, in C: Django's, in Python, takes milliseconds for a chart of 1,000 points.
_LOADER_OF_TIMES = psycopg.adapters.get_loader(_TIMES, Format.TEXT)


def fetch(row_type: Callable[..., R], statement: str, parameters: Mapping[str, Any] | None = None) -> list[R]:
    """Run a statement and return each row as a `row_type`, which takes the statement's columns by their names.

    Times come in UTC, JSON as Python's objects.
    """
    with _cursor() as cursor:
        cursor.cursor.row_factory = class_row(row_type)  # type: ignore[arg-type]
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def fetch_column(statement: str, parameters: Mapping[str, Any] | None = None) -> list[Any]:
    """Run a statement of one column and return the value of each row."""
    with _cursor() as cursor:
        cursor.cursor.row_factory = scalar_row
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def fetch_value(statement: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """Run a statement of one row and one column and return its value."""
    (value,) = fetch_column(statement, parameters)
    return value


def database_now() -> datetime:
    """Return the database's time, which is the clock of schedules and of probes."""
    now: datetime = fetch_value("SELECT clock_timestamp()")
    return now


@contextmanager
def _cursor() -> Iterator[Any]:
    with connection.cursor() as cursor:
        if _LOADER_OF_TIMES:
            cursor.adapters.register_loader(_TIMES, _LOADER_OF_TIMES)
        set_json_loads(orjson.loads, cursor.cursor)
        yield cursor


def literals(states: Iterable[str]) -> str:
    """Return a model's states as SQL literals: the planner chooses a partial index only for values that it sees."""
    return ", ".join(f"'{state}'" for state in states)


# PostgreSQL's bigint has 19 digits; a row's id of 19 would need a billion rows a second for thirty years.
_MOST_DIGITS = 18


def row_id(text: str) -> int | None:
    """Return the id that the text is, or None; Python itself refuses to read numbers of over 4,300 digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None


def row_ids(texts: Iterable[str]) -> list[int]:
    """Return the ids among some texts, in their order; what is none is left out."""
    return [pk for text in texts if (pk := row_id(text)) is not None]
