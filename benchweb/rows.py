"""Statements that take PostgreSQL longer to plan, or Django longer to build, than to run."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar, overload

import orjson
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.postgresql.psycopg_any import get_adapters_template
from psycopg import Cursor
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format

_LIMIT = re.compile(r"\blimit %\((\w+)\)s", re.IGNORECASE)

Rows = list[tuple[Any, ...]]
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")


@dataclass(frozen=True)
class Reading(Generic[A]):
    """A hand-written statement with its named values, and what is to be made of its rows."""

    statement: str
    values: Mapping[str, Any]
    made: Callable[[Rows], A]
    # False: its best plan depends on its values.
    is_planned_once: bool = True

    def then(self, made: Callable[[A], B]) -> "Reading[B]":
        """Give the reading whose result has something more done to it."""
        return Reading(self.statement, self.values, lambda rows: made(self.made(rows)), self.is_planned_once)


def fast_rows(statement: str, values: Mapping[str, Any]) -> Rows:
    """Run one hand-written statement with named values; times come in UTC.

    How many rows are wanted is written into it: a plan for any number of them would read whole tables for ten.
    """
    statement = _with_limits(statement, values)
    with connection.cursor() as cursor:
        if connection.connection.cursor_factory is ServerBindingCursor:
            cursor.cursor.format = Format.BINARY
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def planned_rows(statement: str, values: Mapping[str, Any]) -> Rows:
    """Run one hand-written statement as `fast_rows` does, by the plan that PostgreSQL made of it before."""
    database = _open()
    if _is_watched(database):
        with planned_once():
            return fast_rows(statement, values)
    with database.wrap_database_errors, _Prepared(database.connection):
        return _sent(database, statement, values).fetchall()


def read(reading: Reading[A]) -> A:
    """Run one statement, and make of its rows what it is for."""
    rows = (planned_rows if reading.is_planned_once else fast_rows)(reading.statement, reading.values)
    return reading.made(rows)


@overload
def read_together(first: Reading[A], second: Reading[B], /) -> tuple[A, B]: ...
@overload
def read_together(first: Reading[A], second: Reading[B], third: Reading[C], /) -> tuple[A, B, C]: ...
@overload
def read_together(
    first: Reading[A], second: Reading[B], third: Reading[C], fourth: Reading[D], /
) -> tuple[A, B, C, D]: ...
def read_together(*readings: Reading[Any]) -> tuple[Any, ...]:
    """Run statements that don't need each other's rows in one visit to PostgreSQL.

    They are sent one after the other without waiting for answers: PostgreSQL runs the first while the next is made.
    """
    database = _open()
    if _is_watched(database) or not all(reading.is_planned_once for reading in readings):
        return tuple([read(reading) for reading in readings])
    with database.wrap_database_errors:
        with _Prepared(database.connection), database.connection.pipeline():
            cursors = [_sent(database, reading.statement, reading.values) for reading in readings]
        found = [cursor.fetchall() for cursor in cursors]
    return tuple([reading.made(rows) for reading, rows in zip(readings, found, strict=True)])


def _open() -> Any:
    """Give this thread's database, connected: each look at `connection` takes a dozen calls."""
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    database.validate_no_broken_transaction()
    return database


def _is_watched(database: Any) -> bool:
    """Tell whether statements are logged or counted, which only Django's own cursors do."""
    return bool(database.queries_logged or database.execute_wrappers)


def _sent(database: Any, statement: str, values: Mapping[str, Any]) -> "Cursor[tuple[Any, ...]]":
    """Send a statement past Django's cursors, whose wrappers take as long as a small statement.

    Its rows come as bytes: the driver makes times and numbers of them in half of the time that their texts take.
    """
    cursor: Cursor[tuple[Any, ...]] = Cursor(database.connection)
    return cursor.execute(_with_limits(statement, values), values, binary=True)


def _with_limits(statement: str, values: Mapping[str, Any]) -> str:
    names = _limits_of(statement)
    return _limited(statement, tuple([(name, int(values[name])) for name in names])) if names else statement


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
    usual = raw.cursor_factory
    raw.cursor_factory = ServerBindingCursor
    try:
        with _Prepared(raw):
            yield
    finally:
        raw.cursor_factory = usual


class _Prepared:
    """Within it statements are prepared from the first time on: psycopg would forget how often each of a page's came.

    Only within: else it would keep the text of every statement of Django's, whole documents in it.
    """

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __enter__(self) -> None:
        self._usual, self._raw.prepare_threshold = self._raw.prepare_threshold, 0

    def __exit__(self, *_: object) -> None:
        self._raw.prepare_threshold = self._usual


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
