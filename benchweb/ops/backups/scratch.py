"""A database beside the one in use, in which a backup is restored and proved before anything is changed."""

import hashlib
import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

import psycopg
from psycopg import sql

from benchweb.ops.backups.archive import Manifest, pass_dump
from benchweb.ops.backups.errors import BackupError
from benchweb.ops.backups.programs import database_name, program, program_environment, session
from benchweb.ops.backups.proof import differing_tables, prepare_session, table_proofs

# An arbitrary number of ours for PostgreSQL's advisory locks: one restores at a time, and clears what others left.
_LOCK_KEY = 7_410_741_5
_NO_ROOM = "No space left on device"
_UNCHANGED = "Nothing was changed."


@contextmanager
def server_session() -> Iterator["psycopg.Connection[Any]"]:
    """Open a session that may make databases, alone on this server, without what was left; raise BackupError."""
    with session(autocommit=True) as server:
        row = server.execute("select rolsuper or rolcreatedb from pg_roles where rolname = current_user").fetchone()
        if row != (True,):
            raise BackupError(
                f"The database's user {server.info.user} may not make databases, and a backup is restored into one of "
                f"its own first: ALTER ROLE {server.info.user} CREATEDB. {_UNCHANGED}"
            )
        lock = "select pg_try_advisory_lock(%s, hashtext(%s))"
        if server.execute(lock, [_LOCK_KEY, database_name()]).fetchone() != (True,):
            raise BackupError(f"A backup is being restored or tested already: wait for its end. {_UNCHANGED}")
        _remove_leftovers(server)
        yield server


def leftovers_remove() -> None:
    """Remove databases that killed restores left; not while one is under way, nor for a role that may make none."""
    with suppress(BackupError, psycopg.Error), server_session():
        pass


@contextmanager
def restored_database(server: "psycopg.Connection[Any]", path: Path, manifest: Manifest) -> Iterator[str]:
    """Restore a backup into a database of its own and prove it; return its name. It is gone afterwards, unless renamed.

    Raise BackupError where it can't be restored, or isn't what the manifest says.
    """
    restore = program("pg_restore", server.info.server_version)
    name = f"{name_prefix()}{secrets.token_hex(4)}"
    _make(server, name)
    try:
        _fill(restore, path, name)
        _prove(name, manifest)
        yield name
    finally:
        with suppress(psycopg.Error):
            drop_database(server, name)


def name_prefix() -> str:
    """Return how the names of databases begin that are made beside the one in use: PostgreSQL's are 63 long at most."""
    return f"benchweb_restored_{hashlib.sha256(database_name().encode()).hexdigest()[:8]}_"


def drop_database(server: "psycopg.Connection[Any]", name: str) -> None:
    """Drop a database, whoever is still in it."""
    server.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))


def _remove_leftovers(server: "psycopg.Connection[Any]") -> None:
    """Remove what restores that were killed left: the lock is ours, so that nobody else's is under way."""
    leftovers = server.execute("select datname from pg_database where starts_with(datname, %s)", [name_prefix()])
    for (name,) in leftovers.fetchall():
        drop_database(server, name)


def _make(server: "psycopg.Connection[Any]", name: str) -> None:
    try:
        server.execute(sql.SQL("create database {} template template0").format(sql.Identifier(name)))
    except psycopg.Error as error:
        raise _fault(str(error)) from error


def _fill(restore: Path, path: Path, name: str) -> None:
    words: list[str | Path] = [
        restore,
        "--exit-on-error",
        "--no-owner",
        "--no-privileges",
        "--no-comments",
        "--no-password",
        f"--dbname={name}",
    ]
    with tempfile.TemporaryFile() as faults:
        process = subprocess.Popen(
            words, env=program_environment(name), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=faults
        )
        taker = cast(IO[bytes], process.stdin)
        try:
            # Where pg_restore has ended it says itself why.
            with suppress(BrokenPipeError):
                pass_dump(path, taker.write)
                taker.close()
        except BaseException:
            process.kill()
            raise
        finally:
            with suppress(BrokenPipeError):
                taker.close()
            status = process.wait()
        faults.seek(0)
        fault = faults.read().decode(errors="replace").strip()
    if status != 0:
        raise _fault(f"pg_restore ended with status {status}: {fault[:2_000]}")


def _fault(text: str) -> BackupError:
    if _NO_ROOM in text:
        return BackupError(
            f"The database's disk has no room to restore into. {_UNCHANGED} Make room there, then again."
        )
    return BackupError(f"The backup can't be restored. {_UNCHANGED} {text.strip()}")


def _prove(name: str, manifest: Manifest) -> None:
    try:
        with session(name, autocommit=True) as reader:
            prepare_session(reader)
            reader.execute("analyze")
            proofs = table_proofs(reader)
    except psycopg.Error as error:
        raise _fault(str(error)) from error
    if differing := differing_tables(manifest.tables, proofs):
        tables = ", ".join(differing[:10])
        raise BackupError(f"What was restored isn't what was backed up: {tables}. {_UNCHANGED} Take another backup.")
