"""Rows of hand-written SQL, for pages whose statement takes longer to be built from models than to run."""

import json
from collections.abc import Mapping
from typing import Any

from django.db import connection


def fast_rows(statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Run one statement with named values; times come in UTC."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def document(value: Any) -> Any:
    """Give PostgreSQL's JSON as objects: a cursor gives it as text or as objects, by how the connection was made."""
    return json.loads(value) if isinstance(value, str) else value
