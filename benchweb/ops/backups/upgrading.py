"""Migrate a database that somebody uses: behind a backup, to which a migration that fails goes back by itself."""

from contextlib import suppress
from pathlib import Path

from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from benchweb.ops.backups.archive import remove_left_drafts
from benchweb.ops.backups.errors import BackupError, told_of
from benchweb.ops.backups.making import backup_make, migrations_done, new_name
from benchweb.ops.backups.restoring import backup_go_back
from benchweb.ops.backups.scratch import leftovers_remove

PREFIX = "before-upgrade"
_KEPT = 3


def migrate_behind_backup(folder: Path) -> None:
    """Migrate; with migrations to do on a filled database a backup in the folder goes before. Raise CommandError."""
    if not _is_upgrade():
        call_command("migrate", interactive=False, verbosity=0)
        return
    path = _backup(folder)
    before = migrations_done()
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except Exception as error:
        connection.close()
        if migrations_done() == before:
            raise
        raise CommandError(f"{_back(path)}\nThe upgrade failed: {error}") from error
    _rotate(folder)


def _is_upgrade() -> bool:
    """Tell whether migrations are to be done on a database in which somebody has an account."""
    if "auth_user" not in connection.introspection.table_names():
        return False
    executor = MigrationExecutor(connection)
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return False
    # No column is asked for, so that the table may be of any version.
    return User.objects.exists()


def _backup(folder: Path) -> Path:
    path = folder / new_name(timezone.now(), PREFIX)
    try:
        with told_of(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_left_drafts(folder, PREFIX)
        leftovers_remove()
        backup_make(path)
    except BackupError as error:
        raise CommandError(
            f"Before an upgrade a backup is made, and that failed; nothing was changed. {error} Or start with "
            "--no-backup, where you have one."
        ) from error
    return path


def _rotate(folder: Path) -> None:
    """Remove the oldest beyond those to keep: after an upgrade that worked, not with each try of one that fails."""
    for old in sorted(folder.glob(f"{PREFIX}-*.zip"), reverse=True)[_KEPT:]:
        with suppress(OSError):
            old.unlink(missing_ok=True)


def _back(path: Path) -> str:
    try:
        backup_go_back(path)
    except BackupError as error:
        return f"The database is half upgraded, and {path} could not be restored by itself: {error}"
    return (
        f"The database is again as it was before the upgrade (from {path}). Go back to the former version of benchweb, "
        "which it works with, or try again."
    )
