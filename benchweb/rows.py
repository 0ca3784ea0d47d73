"""Statements that take PostgreSQL longer to plan, or Django longer to build, than to run."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Generic, TypeVar, overload

import orjson
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.postgresql.psycopg_any import get_adapters_template
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators
from psycopg import postgres
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format

from benchweb.prepared import Statement, prepared_rows

_ONE_ID = " IN (%s)"
_LIMIT = re.compile(r"\blimit %\((\w+)\)s", re.IGNORECASE)

Rows = list[tuple[Any, ...]]
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
M = TypeVar("M", bound=Model)


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


def united(first: Reading[A], second: Reading[B], third: Reading[C]) -> "Reading[tuple[A, B, C]]":
    """Ask in one statement for what three small ones ask, whose columns have the same types, each in any order.

    A statement costs a twentieth of a millisecond beside its work. Values of one name are the same in all of them.
    """
    readings: tuple[Reading[Any], ...] = (first, second, third)
    # Statements of ours, whose values go beside them.
    parts = [f"SELECT {place}, part.* FROM ({each.statement}) part" for place, each in enumerate(readings)]  # noqa: S608
    values: dict[str, Any] = {}
    for each in readings:
        values |= each.values
    if any(values[name] != value for each in readings for name, value in each.values.items()):
        raise ValueError("statements that are united have a name for two different values")

    def made(rows: Rows) -> tuple[A, B, C]:
        found: tuple[Rows, Rows, Rows] = ([], [], [])
        for place, *row in rows:
            found[place].append(tuple(row))
        return first.made(found[0]), second.made(found[1]), third.made(found[2])

    return Reading(
        " UNION ALL ".join(parts), values, made, is_planned_once=all(each.is_planned_once for each in readings)
    )


def fast_rows(statement: str, values: Mapping[str, Any]) -> Rows:
    """Run one hand-written statement with named values; times come in UTC.

    How many rows are wanted is written into it: a plan for any number of them would read whole tables for ten.
    """
    statement = _with_limits(statement, values)
    with connection.cursor() as cursor:
        if connection.connection.cursor_factory is ServerBindingCursor:
            cursor.cursor.format = Format.BINARY
        cursor.execute(statement, _with_ids(values))
        return list(cursor.fetchall())


def planned_rows(statement: str, values: Mapping[str, Any]) -> Rows:
    """Run one hand-written statement as `fast_rows` does, by the plan that PostgreSQL made of it before."""
    database = _open()
    if _is_watched(database):
        with planned_once():
            return fast_rows(statement, values)
    with database.wrap_database_errors:
        return prepared_rows(database.connection, [_ready(statement, values)])[0]


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
    """Run statements that don't need each other's rows in one visit to PostgreSQL."""
    return read_all(readings)


def read_all(readings: Sequence[Reading[Any]]) -> tuple[Any, ...]:
    """Run any number of statements as `read_together` does.

    They are sent one after the other without waiting for answers: PostgreSQL runs the first while the next is made.
    """
    database = _open()
    if _is_watched(database) or not all(reading.is_planned_once for reading in readings):
        return tuple([read(reading) for reading in readings])
    with database.wrap_database_errors:
        found = prepared_rows(database.connection, [_ready(each.statement, each.values) for each in readings])
    return tuple([reading.made(rows) for reading, rows in zip(readings, found, strict=True)])


@dataclass
class Ahead:
    """Readings that an earlier visit to PostgreSQL may take along; `found` is what they gave, once they were made."""

    readings: tuple[Reading[Any], ...]
    found: tuple[Any, ...] | None = None

    def take(self) -> tuple[Any, ...]:
        """Give what they gave; they are made now unless they were taken along."""
        if self.found is None:
            self.found = read_all(self.readings)
        return self.found


class ByIds(Generic[M]):
    """Rows by their ids, as instances of models with what belongs to them, whose statement Django builds once.

    To build the joins of seven tables takes Django as long as PostgreSQL and psycopg take to give some rows of them.
    """

    def __init__(self, rows: "Callable[[], QuerySet[M, M]]") -> None:
        self._rows = rows

    def reading(self, ids: Iterable[int]) -> "Reading[list[M]]":
        """Ask for the rows of these ids, in no order; ids that there are none of are left out."""
        return Reading(self._built[0], {"ids": list(ids)}, self._instances)

    @cached_property
    def _built(self) -> tuple[str, Any]:
        compiler = self._rows().filter(pk__in=[0]).order_by().query.get_compiler(DEFAULT_DB_ALIAS)
        statement, values = compiler.as_sql()
        selected = [column for column, *_ in compiler.select]
        if values != (0,) or statement.count(_ONE_ID) != 1 or compiler.get_converters(selected):
            raise TypeError("only plain columns can be read by ids, and nothing else be asked")
        return statement.replace(_ONE_ID, " = ANY(%(ids)s)"), compiler

    def _instances(self, rows: Rows) -> list[M]:
        """Make of rows what Django's ModelIterable makes of them."""
        compiler = self._built[1]
        model, fields = compiler.klass_info["model"], compiler.klass_info["select_fields"]
        first, end = fields[0], fields[-1] + 1
        names = [column.target.attname for column, *_ in compiler.select[first:end]]
        # The stubs are a version of Django's ahead.
        parts = get_related_populators(  # type: ignore[call-arg]
            compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS
        )
        found = []
        for row in rows:
            made = model.from_db(DEFAULT_DB_ALIAS, names, row[first:end])
            for part in parts:
                part.populate(row, made)
            found.append(made)
        return found


def _open() -> Any:
    """Give this thread's database, connected: each look at `connection` takes a dozen calls."""
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    database.validate_no_broken_transaction()
    return database


def _is_watched(database: Any) -> bool:
    """Tell whether statements are logged or counted, which only Django's own cursors do."""
    return bool(database.queries_logged or database.execute_wrappers)


def _ready(statement: str, values: Mapping[str, Any]) -> Statement:
    """Give a statement as it is sent past Django's cursors, whose wrappers take as long as a small statement."""
    return _with_limits(statement, values), _with_ids(values)


class _Ids(list[int]):
    """Whole numbers of any size as one type of array: each type would have a plan of its own.

    psycopg finds out what a list has in it, and writes it, in Python: half of what it takes to send a small statement.
    """


class _IdsDumper(Dumper):
    oid = postgres.types["int8"].array_oid

    def dump(self, obj: _Ids) -> bytes:
        return b"{%b}" % ",".join(map(str, obj)).encode()


def _with_ids(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _Ids(value) if type(value) is list and {*map(type, value)} == {int} else value
        for name, value in values.items()
    }


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


def adapt_fast() -> None:
    """Have JSON that comes as bytes read by orjson, and lists of ids written here, on every connection from now on."""
    # Cached by its arguments: the very object that connections are made with.
    template = get_adapters_template(settings.USE_TZ, connection.timezone)
    template.register_loader("json", _JsonLoader)
    template.register_loader("jsonb", _JsonbLoader)
    template.register_dumper(_Ids, _IdsDumper)


class _JsonLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Any:
        return orjson.loads(data)


class _JsonbLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Any:
        # The first byte is the format's version, and has always been 1.
        return orjson.loads(data[1:])
