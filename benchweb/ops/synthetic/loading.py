"""Load many rows by COPY: from a thread of its own, and with the tables' indexes set aside where that is cheaper."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

from django.db import connection
from django.db.models import Model

from benchweb.common.rows import fetch, fetch_value

# Building an index anew sorts; with the 32 MB that a small server has, in many more passes.
_MAINTENANCE_MEMORY, _SORT_MEMORY = "512MB", "128MB"
_LOCK_PATIENCE = "30s"
# Chunks that wait for the database: more would only take memory.
_MOST_WAITING = 4

_CONSTRAINTS_SQL = """
    select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where conrelid = any(%(tables)s::regclass[]) and contype in ('f', 'u')
    order by contype desc, conname
"""
# Those that no constraint owns: dropping the constraint takes its own with it.
_INDEXES_SQL = """
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid = any(%(tables)s::regclass[])
        and not exists (select from pg_constraint where conindid = indexrelid and conrelid = indrelid)
"""


class _Constraint(NamedTuple):
    table: str
    name: str
    definition: str


class _Index(NamedTuple):
    name: str
    definition: str


class Loader:
    """Copies chunks of text, each into its table, in the order given; the caller goes on meanwhile."""

    def __init__(self) -> None:
        # A thread has a Django connection of its own: this one shares the transaction of the caller's.
        connection.ensure_connection()
        self._connection = connection.connection
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._waiting: list[Future[None]] = []

    def copy(self, model: type[Model], fields: Sequence[str], text: str) -> None:
        """Copy rows of PostgreSQL's text format; `fields` are the model's, all without a default in the database."""
        by_name = {field.name: str(field.column) for field in model._meta.concrete_fields}
        columns = ", ".join(f'"{by_name[name]}"' for name in fields)
        statement = f'COPY "{model._meta.db_table}" ({columns}) FROM STDIN'
        self._waiting.append(self._thread.submit(self._copy, statement, text))
        if len(self._waiting) > _MOST_WAITING:
            self._waiting.pop(0).result()

    def finish(self) -> None:
        """Wait for all; raises what went wrong."""
        for future in self._waiting:
            future.result()
        self._thread.shutdown()

    def _copy(self, statement: str, text: str) -> None:
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            copy.write(text)


@contextmanager
def indexes_set_aside(models: Sequence[type[Model]]) -> Iterator[None]:
    """Drop the tables' foreign keys, unique constraints and indexes, and make them again: within one transaction.

    Made again they are checked, so that nothing comes in that they would have refused. Nobody else can use the tables
    until the transaction ends, and if it fails nothing has changed. Primary keys stay: others refer to them.
    """
    tables = [model._meta.db_table for model in models]
    with connection.cursor() as cursor:
        cursor.execute(f"set local lock_timeout = '{_LOCK_PATIENCE}'")
        cursor.execute(f"set local maintenance_work_mem = '{_MAINTENANCE_MEMORY}'")
        cursor.execute(f"set local work_mem = '{_SORT_MEMORY}'")
        cursor.execute(f"lock table {', '.join(tables)} in access exclusive mode")
        # What was written in this transaction is checked now: a table can't be altered while checks of it wait.
        cursor.execute("set constraints all immediate")
        constraints = fetch(_Constraint, _CONSTRAINTS_SQL, {"tables": tables})
        indexes = fetch(_Index, _INDEXES_SQL, {"tables": tables})
        for constraint in constraints:
            cursor.execute(f'alter table {constraint.table} drop constraint "{constraint.name}"')
        for index in indexes:
            cursor.execute(f"drop index {index.name}")
    yield
    with connection.cursor() as cursor:
        for index in indexes:
            cursor.execute(index.definition)
        # Unique ones first: a foreign key may refer to one.
        for constraint in constraints:
            cursor.execute(f'alter table {constraint.table} add constraint "{constraint.name}" {constraint.definition}')
        cursor.execute("set constraints all deferred")


def is_cheaper_set_aside(model: type[Model], coming: int) -> bool:
    """Tell whether so many rows are more than the table has, by the planner's own guess."""
    known = fetch_value(
        "select greatest(reltuples, 0) from pg_class where oid = %(table)s::regclass", {"table": model._meta.db_table}
    )
    return bool(coming > known)
