"""Statements that take PostgreSQL longer to plan, or Django longer to build, than to run."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import orjson
from django.conf import settings
from django.db import connection
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.postgresql.psycopg_any import get_adapters_template
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format

_LIMIT = re.compile(r"\blimit %\((\w+)\)s", re.IGNORECASE)


def fast_rows(statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Run one hand-written statement with named values; times come in UTC.

    How many rows are wanted is written into it: a plan for any number of them would read whole tables for ten.
    """
    limits = tuple([(name, int(values[name])) for name in _limits_of(statement)])
    with connection.cursor() as cursor:
        if connection.connection.cursor_factory is ServerBindingCursor:
            # As bytes: the driver makes times and numbers of them in half of the time that their texts take.
            cursor.cursor.format = Format.BINARY
        cursor.execute(_limited(statement, limits) if limits else statement, values)
        return list(cursor.fetchall())


@lru_cache(maxsize=512)
def _limits_of(statement: str) -> list[str]:
    return _LIMIT.findall(statement)


@lru_cache(maxsize=512)
def _limited(statement: str, limits: tuple[tuple[str, int], ...]) -> str:
    numbers = dict(limits)
    return _LIMIT.sub(lambda found: f"LIMIT {numbers[found[1]]}", statement)


def written_out(states: Iterable[str]) -> str:
    """Write a model's states into a statement: as values a plan for all can't tell that their index will do."""
    return ", ".join(f"'{state}'" for state in states)


@contextmanager
def planned_once() -> Iterator[None]:
    """Within it a statement that comes again on a connection is run by the plan that PostgreSQL made before.

    For statements of many joins, whose best plan hardly depends on the values: to plan nine tables takes ten times as
    long as to find ten rows in them. Values go beside the statement, so PostgreSQL must be able to tell their types.
    """
    connection.ensure_connection()
    raw = connection.connection
    # Where statements are logged, they are to have their values in them.
    if connection.queries_logged:
        yield
        return
    usual = raw.cursor_factory, raw.prepare_threshold
    # From the first time on: among the many statements of a page psycopg would forget how often this one came.
    raw.cursor_factory, raw.prepare_threshold = ServerBindingCursor, 0
    try:
        yield
    finally:
        raw.cursor_factory, raw.prepare_threshold = usual


def document(value: Any) -> Any:
    """Give PostgreSQL's JSON as objects: one that comes as bytes is read already, others come as text."""
    return orjson.loads(value) if isinstance(value, str) else value


def read_documents_fast() -> None:
    """Have JSON that comes as bytes read by orjson, on every connection that Django makes from now on."""
    # Cached by its arguments: the very object that connections are made with.
    template = get_adapters_template(settings.USE_TZ, connection.timezone)
    template.register_loader("json", _JsonLoader)
    template.register_loader("jsonb", _JsonbLoader)


class _JsonLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Any:
        return orjson.loads(data)


class _JsonbLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Any:
        # The first byte is the format's version, and has always been 1.
        return orjson.loads(data[1:])
