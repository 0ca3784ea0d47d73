"""Restore a backup in place of the database in use: everything that can go wrong does so before anything is changed."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from benchweb.ops.backups.archive import Manifest, check_dump, is_of_known_key, read_manifest
from benchweb.ops.backups.errors import BackupError, told_of_restoring
from benchweb.ops.backups.programs import database_name, is_own_server, session
from benchweb.ops.backups.scratch import drop_database, restored_database, server_session

# Beside what the restored database takes: the log of its writing, and room to go on.
_SPARE_BYTES = 256 << 20
# Others that come back between their end and the renaming.
_SWAP_TRIES = 10
_PAUSE_SECONDS = 0.5
_UNCHANGED = "Nothing was changed."
_IN_USE = ("benchweb web", "benchweb worker")
# Any of these has a row in an installation that somebody uses.
_USED_BY = ("auth_user", "hosts_host", "runs_run")

Teller = Callable[[str], None]


@told_of_restoring()
def backup_restore(path: Path, *, over: bool, tell: Teller) -> Manifest:
    """Restore a backup as a copy that is quiet; `over` says that what is there may go. Raise BackupError."""
    manifest = read_manifest(path)
    _check_schema(manifest)
    _check_key(manifest)
    with server_session() as server:
        _check_free(server, over=over)
        _check_room(manifest)
        tell(f"Reading {path}: {manifest.dump_bytes / 1e6:,.1f} MB of {manifest.made_at:%Y-%m-%d %H:%M} UTC…")
        check_dump(path, manifest)
        tell("Restoring into a database of its own…")
        with restored_database(server, path, manifest) as scratch:
            tell(f"All {len(manifest.tables)} tables are as they were backed up. Bringing them to this version…")
            _brought_up(scratch, manifest)
            # That took its time.
            _check_free(server, over=over)
            _swap(server, scratch)
    return manifest


@told_of_restoring()
def backup_go_back(path: Path) -> None:
    """Restore a backup of this very installation after an upgrade that failed: as the original, of the old schema."""
    manifest = read_manifest(path)
    check_dump(path, manifest)
    with server_session() as server, restored_database(server, path, manifest) as scratch:
        _swap(server, scratch)


@told_of_restoring()
def backup_test(path: Path) -> Manifest:
    """Restore a backup into a database of its own, prove it, and drop it; raise BackupError."""
    manifest = read_manifest(path)
    check_dump(path, manifest)
    with server_session() as server:
        _check_room(manifest)
        with restored_database(server, path, manifest):
            return manifest


def _check_schema(manifest: Manifest) -> None:
    loader = MigrationLoader(None)
    known = {*loader.disk_migrations, *(key for each in loader.disk_migrations.values() for key in each.replaces)}
    apps = {app for app, _ in known}
    newer = [
        f"{app}.{name}"
        for app, names in manifest.migrations.items()
        for name in names
        if app in apps and (app, name) not in known
    ]
    if newer:
        raise BackupError(
            f"The backup is of a newer schema than this version of benchweb knows ({', '.join(newer[:3])}; it was made "
            f"by {manifest.benchweb or 'another version'}): upgrade benchweb first. {_UNCHANGED}"
        )


def _check_key(manifest: Manifest) -> None:
    if is_of_known_key(manifest):
        return
    file = settings.BENCHWEB_HOME / "secret-key"
    raise BackupError(
        f"The backup is of another secret key, without which engines' tokens can't be read. {_UNCHANGED} Give the key "
        f"of {manifest.of} (its fingerprint is {manifest.secret_key}) as BENCHWEB_SECRET_KEY, or with `up` as the file "
        f"{file}; to keep this installation's key, as BENCHWEB_SECRET_KEY_FALLBACKS."
    )


def _check_free(server: "psycopg.Connection[Any]", *, over: bool) -> None:
    """Refuse to replace a database in which somebody works, or that has data unless that may go."""
    _check_nobody_works(server)
    if not over and (number := _rows_in_use()):
        raise BackupError(
            f"This installation has data already ({number}). {_UNCHANGED} Give --over to have the backup in its "
            "place; make a backup of it first."
        )


def _check_nobody_works(server: "psycopg.Connection[Any]") -> None:
    names = "select application_name, count(*) from pg_stat_activity where datname = %s and application_name = any(%s)"
    others = server.execute(f"{names} group by 1 order by 1", [database_name(), list(_IN_USE)]).fetchall()
    if others:
        who = ", ".join(f"{count} of {name}" for name, count in others)
        raise BackupError(
            f"Web servers or workers use the database ({who} sessions). {_UNCHANGED} Stop them first, with Compose: "
            "docker compose stop web worker beat"
        )


def _rows_in_use() -> str:
    with session(database_name(), autocommit=True) as reader:
        counts = {}
        for table in _USED_BY:
            if reader.execute("select to_regclass(%s)", [table]).fetchone() != (None,):
                row = reader.execute(sql.SQL("select count(*) from {}").format(sql.Identifier(table))).fetchone()
                counts[table.partition("_")[2] + "s"] = row[0] if row else 0
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _check_room(manifest: Manifest) -> None:
    """Refuse what can't fit on the disk of the embedded database; of another server's disk nothing is known."""
    if not is_own_server():
        return
    free = shutil.disk_usage(settings.BENCHWEB_HOME / "postgres").free
    needed = manifest.database_bytes + _SPARE_BYTES
    if free < needed:
        raise BackupError(
            f"Restoring takes {needed / 1e6:,.0f} MB beside what is there, and {settings.BENCHWEB_HOME} has "
            f"{free / 1e6:,.0f} MB left. {_UNCHANGED} Make room there first."
        )


def _brought_up(scratch: str, manifest: Manifest) -> None:
    """Bring a restored database to this version's schema, and make it a copy."""
    _manage(scratch, "migrate", "--noinput", "--verbosity", "0")
    _manage(scratch, "make_copy", "--of", manifest.of, "--made-at", manifest.made_at.isoformat())


def _manage(scratch: str, *words: str) -> None:
    """Run a command on a restored database, in a process of its own, which knows no other."""
    parts = urlsplit(settings.DATABASE_URL)
    environment = {
        **os.environ,
        "BENCHWEB_DATABASE_URL": parts._replace(path=f"/{quote(scratch)}").geturl(),
        "DJANGO_SETTINGS_MODULE": "benchweb.settings",
        "PYTHONPATH": str(settings.BASE_DIR),
    }
    command = [sys.executable, "-m", "django", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BackupError(f"The backup can't be brought to this version. {_UNCHANGED} {done.stderr.strip()[-2_000:]}")


def _swap(server: "psycopg.Connection[Any]", scratch: str) -> None:
    """Put a restored database in the place of the one in use, in one transaction, and drop the former one."""
    name = database_name()
    former = f"{scratch}_former"
    connection.close()
    _close_pool()
    for left in reversed(range(_SWAP_TRIES)):
        server.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = any(%s) and pid <> pg_backend_pid()",
            [[name, scratch]],
        )
        try:
            with server.transaction():
                _rename(server, name, former)
                _rename(server, scratch, name)
            break
        except psycopg.errors.ObjectInUse as error:
            if not left:
                text = (
                    f"Somebody uses the database again and again. {_UNCHANGED} Stop everything that does, then again."
                )
                raise BackupError(text) from error
            time.sleep(_PAUSE_SECONDS)
        except psycopg.Error as error:
            raise BackupError(f"The databases can't be renamed: {error}. {_UNCHANGED}") from error
    with suppress(psycopg.Error):
        drop_database(server, former)


def _rename(server: "psycopg.Connection[Any]", name: str, new_name: str) -> None:
    server.execute(sql.SQL("alter database {} rename to {}").format(sql.Identifier(name), sql.Identifier(new_name)))


def _close_pool() -> None:
    """Let go of the sessions that wait for their next use."""
    if "pool" in connection.settings_dict["OPTIONS"]:
        connection.close_pool()  # type: ignore[attr-defined]
