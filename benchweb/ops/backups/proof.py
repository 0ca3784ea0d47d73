"""What proves a restored database: the rows of each table, counted and hashed."""

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

# Rows as texts have to be the same in every session that proves.
_SETTINGS = """
    set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = '60s';
    set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set intervalstyle = 'iso_8601'; set bytea_output = 'hex';
    set extra_float_digits = 1
"""
_TABLES = """
    select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and not exists (
        select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by 1, 2
"""
# The sum of the rows' hashes: in whichever order they are read. Not hash_record, which another version may change.
_PROOF = """
    select count(*), coalesce(sum(('x' || left(md5(t::text), 16))::bit(64)::bigint::numeric), 0)::text from only {} t
"""


@dataclass(frozen=True)
class TableProof:
    """How many rows a table has, and the sum of their hashes."""

    rows: int
    hash: str


def prepare_session(session: "psycopg.Connection[Any]") -> None:
    """Let a session read everything as every proof does, for as long as it takes."""
    session.execute(_SETTINGS)


def table_proofs(session: "psycopg.Connection[Any]") -> dict[str, TableProof]:
    """Read every table in the session's transaction; return a proof of each by its name. Views and extensions' not."""
    proofs = {}
    for schema, name in session.execute(_TABLES).fetchall():
        (row,) = session.execute(sql.SQL(_PROOF).format(sql.Identifier(schema, name))).fetchall()
        proofs[name if schema == "public" else f"{schema}.{name}"] = TableProof(*row)
    return proofs


def differing_tables(first: dict[str, TableProof], second: dict[str, TableProof]) -> list[str]:
    """Return the tables that aren't the same in both, each with its rows."""
    names = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    return [f"{name} ({_rows(first.get(name))} rows, restored {_rows(second.get(name))})" for name in names]


def _rows(proof: TableProof | None) -> str:
    return "no" if proof is None else f"{proof.rows:,}"
