"""Make a backup while everything goes on: the dump and its proof are of one snapshot."""

import subprocess
import tempfile
from datetime import datetime
from pathlib import Path
from typing import IO, Any, cast

import psycopg
from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from benchweb.ops.backups.archive import FORMAT, ArchiveDraft, Manifest, key_fingerprint, new_archive
from benchweb.ops.backups.errors import BackupError
from benchweb.ops.backups.programs import database_name, program, program_environment, session
from benchweb.ops.backups.proof import prepare_session, table_proofs
from benchweb.ops.versions import benchweb_version
from benchweb.site.installation import own_name

# Behind a migration it waits for so long.
_LOCK_WAIT = "60s"
# Figures are a third smaller than by the default, at half the time.
_COMPRESSION = "gzip:3"


def new_name(now: datetime, prefix: str = "benchweb") -> str:
    """Return the name of a backup that is made at a moment."""
    return f"{prefix}-{now:%Y%m%dT%H%M%SZ}.zip"


def backup_make(path: Path) -> Manifest:
    """Write a backup of the database in use to a new file; raise BackupError, and leave no file then."""
    if not path.parent.is_dir():
        raise BackupError(f"There is no folder {path.parent}: make it, or name another one.")
    if path.exists():
        raise BackupError(f"{path} is there already: name another file, or a folder.")
    try:
        with new_archive(path) as draft, session(database_name()) as reader:
            return _written(draft, reader)
    except psycopg.Error as error:
        raise BackupError(f"No backup was made: {str(error).strip().splitlines()[0]}") from error


def _written(draft: ArchiveDraft, reader: "psycopg.Connection[Any]") -> Manifest:
    dump = program("pg_dump", reader.info.server_version)
    prepare_session(reader)
    reader.commit()
    reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    reader.read_only = True
    with reader.transaction():
        ((snapshot, database_bytes, version),) = reader.execute(
            "select pg_export_snapshot(), pg_database_size(current_database()), current_setting('server_version')"
        ).fetchall()
        made_at = timezone.now()
        migrations = reader.execute("select app, name from django_migrations order by app, name").fetchall()
        dump_bytes, digest = _dumped(draft, dump, snapshot)
        manifest = Manifest(
            format=FORMAT,
            made_at=made_at,
            of=own_name(),
            benchweb=benchweb_version(),
            postgresql=version,
            migrations=_by_app(migrations),
            secret_key=key_fingerprint(settings.SECRET_KEY),
            database_bytes=database_bytes,
            dump_bytes=dump_bytes,
            dump_sha256=digest,
            tables=table_proofs(reader),
        )
    draft.add_manifest(manifest)
    return manifest


def _dumped(draft: ArchiveDraft, dump: Path, snapshot: str) -> tuple[int, str]:
    words: list[str | Path] = [dump, "--format=custom", f"--compress={_COMPRESSION}", f"--snapshot={snapshot}"]
    words += ["--no-owner", "--no-privileges", f"--lock-wait-timeout={_LOCK_WAIT}", "--no-password"]
    environment = program_environment(database_name())
    with tempfile.TemporaryFile() as faults:
        process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=faults)
        output = cast(IO[bytes], process.stdout)
        try:
            written = draft.add_dump(output)
        except BaseException:
            process.kill()
            raise
        finally:
            output.close()
            status = process.wait()
        faults.seek(0)
        fault = faults.read().decode(errors="replace").strip()
    if status != 0:
        raise BackupError(f"No backup was made: pg_dump ended with status {status}: {fault[:2_000]}")
    return written


def _by_app(rows: list[tuple[str, str]]) -> dict[str, list[str]]:
    apps: dict[str, list[str]] = {}
    for app, name in rows:
        apps.setdefault(app, []).append(name)
    return apps


def migrations_done() -> dict[str, list[str]]:
    """Return the migrations of the database in use, by app."""
    return _by_app(sorted(MigrationRecorder(connection).applied_migrations()))
