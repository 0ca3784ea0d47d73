"""Rows: their ids as texts, and statements written by hand for what Django's ORM can't express."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
import psycopg
from django.db import connection
from psycopg.pq import Format

Rows = list[tuple[Any, ...]]
_TIMES = psycopg.adapters.types["timestamptz"].oid
# psycopg's own, in C: Django's, in Python, takes 5 ms for a chart of 1,000 points.
_LOADER_OF_TIMES = psycopg.adapters.get_loader(_TIMES, Format.TEXT)


def fetch_all(statement: str, parameters: Mapping[str, Any] | None = None) -> Rows:
    """Run a statement with named parameters and return its rows; times come in UTC, JSON as text."""
    with connection.cursor() as cursor:
        if _LOADER_OF_TIMES:
            cursor.adapters.register_loader(_TIMES, _LOADER_OF_TIMES)
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def literals(states: Iterable[str]) -> str:
    """Return a model's states as SQL literals: the planner chooses a partial index only for values that it sees."""
    return ", ".join(f"'{state}'" for state in states)


def from_json(value: str | None) -> Any:
    """Return the objects of a JSON column of a hand-written statement; None for NULL."""
    return None if value is None else orjson.loads(value)


# PostgreSQL's bigint has 19 digits; a row's id of 19 would need a billion rows a second for thirty years.
_MOST_DIGITS = 18


def row_id(text: str) -> int | None:
    """Return the id that the text is, or None; Python itself refuses to read numbers of over 4,300 digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
