"""The backup of each night: made once a day, kept for some nights, and once a week restored and compared."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import psycopg
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from benchweb.ops.backups.archive import remove_left_drafts
from benchweb.ops.backups.errors import BackupError, told_of
from benchweb.ops.backups.making import backup_make, new_name
from benchweb.ops.backups.programs import is_own_server, session
from benchweb.ops.backups.restoring import backup_test
from benchweb.ops.backups.scratch import leftovers_remove
from benchweb.ops.models import Backup

TEST_EVERY = timedelta(days=7)
PREFIX = "nightly"
# With a try an hour since the last test was a week ago, and some by hand.
_LATEST = 300
_RECORDS_KEPT = timedelta(days=365)
# An arbitrary number of ours for PostgreSQL's advisory locks: of several workers one makes the backup.
_LOCK_KEY = 7_410_741_6
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BackupState:
    """What pages and metrics tell: the last backup that was made, the last that was tested, and what failed since."""

    made: Backup | None
    tested: Backup | None
    # The last one, where none was made.
    failed: Backup | None

    @property
    def is_faulty(self) -> bool:
        """Tell whether there is something to be looked at."""
        return self.failed is not None or bool(self.tested and self.tested.test_fault)


def backup_state() -> BackupState:
    """Return what became of backups; one query."""
    latest = list(Backup.objects.order_by("-begun_at")[:_LATEST])
    made = next((backup for backup in latest if backup.name and not backup.fault), None)
    tested = [backup for backup in latest if backup.tested_at]
    last_tested = max(tested, key=lambda backup: backup.tested_at or backup.begun_at, default=None)
    return BackupState(made, last_tested, latest[0] if latest and latest[0].fault else None)


def is_nightly() -> bool:
    """Tell whether backups are made by themselves."""
    return bool(settings.BACKUP_DIR)


def is_tested() -> bool:
    """Tell whether a backup is restored each week: that takes the room of another database."""
    return settings.BACKUP_TEST == "1" or (not settings.BACKUP_TEST and is_own_server())


def work_is_due() -> bool:
    """Tell whether a backup is to be made or tested now; two queries at most."""
    return is_nightly() and (_is_due(timezone.now()) or _untested(timezone.now()) is not None)


def nightly_work() -> None:
    """Make the night's backup and test one, as far as either is due; one worker at a time."""
    if not is_nightly():
        return
    with _alone() as is_mine:
        if not is_mine:
            return
        if _is_due(timezone.now()):
            _make()
        if backup := _untested(timezone.now()):
            _test(backup)


def recorded_backup(path: Path) -> Backup:
    """Make a backup and record it, also that it failed or was interrupted; raise BackupError then, or what ended it."""
    record = Backup(begun_at=timezone.now())
    try:
        backup_make(path)
        record.name, record.size_bytes = path.name, path.stat().st_size
    except BackupError as error:
        record.fault = str(error)
        raise
    except BaseException as error:
        record.name, record.fault = "", f"No backup was made: it was interrupted ({type(error).__name__})."
        raise
    finally:
        record.ended_at = timezone.now()
        # A database of before has no table for it yet.
        with suppress(DatabaseError), transaction.atomic():
            record.save()
        _let_database_go()
    return record


def _is_due(now: datetime) -> bool:
    """Tell whether none was made since the hour of backups was last."""
    hour = now.replace(hour=settings.BACKUP_HOUR, minute=0, second=0, microsecond=0)
    since = hour if hour <= now else hour - timedelta(days=1)
    return not Backup.objects.filter(begun_at__gte=since, name__startswith=PREFIX, fault="").exists()


def _make() -> None:
    folder = Path(settings.BACKUP_DIR)
    remove_left_drafts(folder, PREFIX)
    leftovers_remove()
    try:
        recorded_backup(folder / new_name(timezone.now(), PREFIX))
    except BackupError as error:
        _log.error("No backup was made: %s", error)
        return
    try:
        _rotate(folder)
    except BackupError as error:
        _log.error("Old backups stay: %s", error)


def _rotate(folder: Path) -> None:
    """Remove the oldest of the nights' backups beyond those to keep: of this database's, another's may be beside."""
    made = Backup.objects.filter(fault="", name__startswith=f"{PREFIX}-").order_by("-begun_at")
    kept = [path for name in made.values_list("name", flat=True) if (path := folder / name).is_file()]
    with told_of(folder):
        for path in kept[settings.BACKUP_KEEP :]:
            path.unlink(missing_ok=True)
    Backup.objects.filter(begun_at__lt=timezone.now() - _RECORDS_KEPT).delete()


def _untested(now: datetime) -> Backup | None:
    """Return the last backup where one is to be tested, none was in the last week, and that one's file is here."""
    if not is_tested() or Backup.objects.filter(tested_at__gt=now - TEST_EVERY).exists():
        return None
    last = Backup.objects.filter(fault="", name__startswith=PREFIX).order_by("-begun_at").first()
    return last if last and (Path(settings.BACKUP_DIR) / last.name).is_file() else None


def _test(backup: Backup) -> None:
    fault = ""
    try:
        backup_test(Path(settings.BACKUP_DIR) / backup.name)
    except BackupError as error:
        fault = str(error)
        _log.error("The backup %s can't be restored: %s", backup.name, error)
    Backup.objects.filter(pk=backup.pk).update(tested_at=timezone.now(), test_fault=fault)


def _let_database_go() -> None:
    """Return the connection to the pool, unless a transaction is open."""
    if not connection.in_atomic_block:
        connection.close()


@contextmanager
def _alone() -> Iterator[bool]:
    with session(str(connection.settings_dict["NAME"]), autocommit=True) as lock:
        row = lock.execute("select pg_try_advisory_lock(%s)", [_LOCK_KEY]).fetchone()
        is_mine = row == (True,)
        try:
            yield is_mine
        finally:
            if is_mine:
                # Behind a pooler the session goes on.
                with suppress(psycopg.Error):
                    lock.execute("select pg_advisory_unlock(%s)", [_LOCK_KEY])
