"""Rows of hand-written SQL for pages that draw thousands of points."""

import json
from collections.abc import Mapping
from typing import Any

from django.db import connection
from psycopg.types.datetime import TimestamptzLoader


def fast_rows(statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Run one statement with named values; times come in UTC.

    Django decodes each time in Python, which takes longer than all else of a row; psycopg's own way is in C.
    """
    with connection.cursor() as cursor:
        cursor.cursor.adapters.register_loader("timestamptz", TimestamptzLoader)
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def document(value: Any) -> Any:
    """Give PostgreSQL's JSON as objects: a cursor gives it as text or as objects, by how the connection was made."""
    return json.loads(value) if isinstance(value, str) else value
