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
from psycopg.pq import DiagnosticField

from benchweb.kept import keep

# A statement that goes to PostgreSQL, and its named values.
Statement = tuple[str, Mapping[str, Any]]
Found = list[list[tuple[Any, ...]]]

_PLACE = re.compile(r"%(?:\((\w+)\)s|.?)", re.DOTALL)
_BINARY, _IDLE = pq.Format.BINARY, pq.TransactionStatus.IDLE
_TUPLES, _IS_PREPARED = pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK
# A statement that is prepared no longer, and one whose tables have changed: all are prepared anew the next time.
_NO_LONGER_HOLDS = (b"26000", b"0A000")
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
    # All of it before anything is sent: what can't be written leaves the connection as it was.
    written = [_written(raw, *each) for each in statements]
    if not raw.autocommit and raw.pgconn.transaction_status == _IDLE:
        # psycopg begins a transaction with its first statement, whatever that is.
        raw.execute(b"")
    manager = raw._prepared
    usual, manager.prepare_threshold = manager.prepare_threshold, 0
    try:
        with raw.lock:
            results = raw.wait(_visit(raw, written))
    finally:
        manager.prepare_threshold = usual
    return [_rows(raw, name, result) for name, result in results]


def _visit(raw: "Connection[Any]", written: Sequence[_Written]) -> Generator[Any, Any, list[tuple[bytes, Any]]]:
    """Send all, and give each statement's name and result; what ends in between ends the connection."""
    pgconn, manager = raw.pgconn, raw._prepared
    found: list[tuple[bytes, Any]] = []
    failed = None
    pgconn.enter_pipeline_mode()
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
            failed = failed or (results[0] if results[0].status != _TUPLES else None)
            found.append((asked.name, results[0]))
        # What ends the pipeline.
        yield from fetch_many(pgconn)
        pgconn.exit_pipeline_mode()
    except BaseException:
        # Answers that nobody takes would be taken for the next statement's.
        pgconn.finish()
        raise
    if failed is not None:
        if failed.error_field(DiagnosticField.SQLSTATE) in _NO_LONGER_HOLDS:
            manager.clear()
            if pgconn.transaction_status == _IDLE:
                yield from manager.maintain_gen(raw)
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
    if loader is None:
        loader = new_transformer.from_context(raw)
        loader.set_pgresult(result)
        keep(kept, name, loader, most=_MOST_LOADERS)
    else:
        loader.set_pgresult(result, set_loaders=False)
    try:
        return loader.load_rows(0, result.ntuples, tuple)
    finally:
        # Loaders stay with the connection, what they have loaded doesn't.
        loader.set_pgresult(None, set_loaders=False)


@lru_cache(maxsize=512)
def _converted(statement: str) -> tuple[bytes, list[str], list[PyFormat]]:
    """Give a statement with PostgreSQL's places for values, the values' names in their order, and their formats."""
    names: dict[str, int] = {}

    def place(found: "re.Match[str]") -> str:
        name = found[1]
        if not name and found[0] != "%%":
            # As psycopg's cursors would, which the same statements go through where they are logged.
            raise errors.ProgrammingError(f"a statement has {found[0]!r}, which is neither %(name)s nor %%")
        return f"${names.setdefault(name, len(names) + 1)}" if name else "%"

    text = _PLACE.sub(place, statement)
    return text.encode(), list(names), [PyFormat.AUTO] * len(names)
