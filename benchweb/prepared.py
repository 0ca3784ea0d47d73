"""Hand-written statements, prepared once for a connection and sent together, by psycopg's layers below its cursors.

A cursor takes 0.1 ms of Python for each statement, as long as PostgreSQL takes for a small one. Here too it is psycopg
that writes values, knows what is prepared, waits, and makes rows; a statement costs a dozen calls instead of a hundred.
"""

import re
from collections.abc import Generator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from psycopg import Connection, errors, pq
from psycopg._preparing import Prepare
from psycopg.abc import Transformer
from psycopg.adapt import PyFormat
from psycopg.adapt import Transformer as new_transformer
from psycopg.generators import fetch_many, send

from benchweb.kept import keep

# A statement that goes to PostgreSQL, and its named values.
Statement = tuple[str, Mapping[str, Any]]
Found = list[list[tuple[Any, ...]]]

_PLACE = re.compile(r"%(?:\((\w+)\)s|%)")
_BINARY, _IDLE, _OK = pq.Format.BINARY, pq.TransactionStatus.IDLE, pq.ConnStatus.OK
_TUPLES, _IS_PREPARED = pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK
# What writes a connection's values, and by a prepared statement's name what loads its rows: with the connection, whose
# end is theirs.
_DUMPER, _LOADERS = "benchweb_dumper", "benchweb_loaders"
_MOST_LOADERS = 200


class _Query(NamedTuple):
    """What psycopg knows a prepared statement by."""

    query: bytes
    types: tuple[int, ...]


class _Written(NamedTuple):
    """A statement with its values as they go to PostgreSQL."""

    query: _Query
    values: Sequence[Any]
    formats: Any


class _Asked(NamedTuple):
    """A statement that was sent: `key` is None unless it is prepared for the first time."""

    key: Any
    prepare: Prepare
    name: bytes


def prepared_rows(raw: "Connection[Any]", statements: Sequence[Statement]) -> Found:
    """Run statements that don't need each other's rows in one visit to PostgreSQL; give the rows of each.

    PostgreSQL runs the first while the next is written. Raises psycopg's error of the first that fails.
    """
    if not raw.autocommit and raw.pgconn.transaction_status == _IDLE:
        # psycopg begins a transaction with its first statement, whatever that is.
        raw.execute(b"")
    # All of it before anything is sent: what can't be written leaves the connection as it was.
    written = [_written(raw, *each) for each in statements]
    manager = raw._prepared
    usual, manager.prepare_threshold = manager.prepare_threshold, 0
    try:
        with raw.lock:
            return raw.wait(_visit(raw, written))
    finally:
        manager.prepare_threshold = usual


def _visit(raw: "Connection[Any]", written: Sequence[_Written]) -> Generator[Any, Any, Found]:
    pgconn, manager = raw.pgconn, raw._prepared
    pgconn.enter_pipeline_mode()
    found: Found = []
    failed = None
    try:
        sent = [_sent(raw, each) for each in written]
        pgconn.pipeline_sync()
        yield from send(pgconn)
        for asked in sent:
            if asked.prepare is Prepare.SHOULD:
                (result,) = yield from fetch_many(pgconn)
                failed = failed or (result if result.status != _IS_PREPARED else None)
            results = yield from fetch_many(pgconn)
            if asked.key is not None:
                manager.validate(asked.key, asked.prepare, asked.name, results)
            if results[0].status == _TUPLES:
                found.append(_rows(raw, asked.name, results[0]))
            else:
                failed = failed or results[0]
        # What ends the pipeline.
        yield from fetch_many(pgconn)
    finally:
        if pgconn.status == _OK:
            pgconn.exit_pipeline_mode()
    if failed is not None:
        raise errors.error_from_result(failed)
    yield from manager.maintain_gen(raw)
    return found


def _written(raw: "Connection[Any]", statement: str, values: Mapping[str, Any]) -> _Written:
    text, names, formats = _converted(statement)
    dumper: Transformer | None = raw.__dict__.get(_DUMPER)
    if dumper is None:
        dumper = raw.__dict__[_DUMPER] = new_transformer.from_context(raw)
    dumped = dumper.dump_sequence([values[name] for name in names], formats)
    return _Written(_Query(text, dumper.types or ()), dumped, dumper.formats)


def _sent(raw: "Connection[Any]", written: _Written) -> _Asked:
    """Send one statement, and before it what prepares it, where that wasn't done."""
    query: Any = written.query
    prepare, name = raw._prepared.get(query, True)
    key = raw._prepared.maybe_add_to_cache(query, prepare, name)
    if prepare is Prepare.SHOULD:
        raw.pgconn.send_prepare(name, written.query.query, written.query.types)
    raw.pgconn.send_query_prepared(name, written.values, written.formats, result_format=_BINARY)
    return _Asked(key, prepare, name)


def _rows(raw: "Connection[Any]", name: bytes, result: Any) -> list[tuple[Any, ...]]:
    """Load rows; a prepared statement's columns never change their types, so their loaders are looked up once."""
    kept: dict[bytes, Transformer] = raw.__dict__.setdefault(_LOADERS, {})
    loader = kept.get(name)
    is_new = loader is None
    if loader is None:
        loader = keep(kept, name, new_transformer.from_context(raw), most=_MOST_LOADERS)
    loader.set_pgresult(result, set_loaders=is_new)
    return loader.load_rows(0, result.ntuples, tuple)


@lru_cache(maxsize=512)
def _converted(statement: str) -> tuple[bytes, list[str], list[PyFormat]]:
    """Give a statement with PostgreSQL's places for values, the values' names in their order, and their formats."""
    names: dict[str, int] = {}

    def place(found: "re.Match[str]") -> str:
        name = found[1]
        return f"${names.setdefault(name, len(names) + 1)}" if name else "%"

    text = _PLACE.sub(place, statement)
    return text.encode(), list(names), [PyFormat.AUTO] * len(names)
