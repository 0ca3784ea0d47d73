"""`manage.py migrate`: Django's own, which waits for a lock only briefly at a time, and says who holds it."""

import threading
import time
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from psycopg import errors

from benchweb.common.rows import fetch, fetch_value

# Who comes after a migration that waits, waits too: a page no longer than this.
LOCK_SECONDS = 2
# Between two tries all others go on.
PAUSE_SECONDS = 2
GIVE_UP_SECONDS = 300
_LOOK_SECONDS = 0.5
_QUERY_CHARACTERS = 100
_IN_BETWEEN = (
    "This database is of a state before the first release that can't be upgraded from here; nothing was changed. "
    "Migrate it by a checkout of commit ffde48d5 first, as docs/how-to/maintain.md says."
)
_HOLDERS_SQL = """
    select pid, application_name as name, coalesce(usename, '') as role, coalesce(host(client_addr), '') as address,
        coalesce(xact_start, backend_start) as since, coalesce(state, '') as state, query
    from pg_stat_activity where pid = any(pg_blocking_pids(%(pid)s)) order by since
"""


class _Holder(NamedTuple):
    """A session that holds a lock."""

    pid: int
    name: str
    role: str
    address: str
    since: datetime
    state: str
    query: str

    def __str__(self) -> str:
        who = ", ".join(word for word in (self.name, f"user {self.role}", self.address) if word)
        query = " ".join(self.query.split())[:_QUERY_CHARACTERS]
        return f"process {self.pid} ({who}) since {self.since:%Y-%m-%d %H:%M:%S} UTC, {self.state}: {query}"


class Command(migrate.Command):
    """Try again what a lock kept out, for a bounded time; a migration is done whole or not at all."""

    _migration = "The migration"

    def add_arguments(self, parser: CommandParser) -> None:
        """Add how long to try."""
        super().add_arguments(parser)
        what = f"give up when a lock isn't free after so many seconds ({GIVE_UP_SECONDS})"
        parser.add_argument("--lock-wait", type=int, default=GIVE_UP_SECONDS, metavar="SECONDS", help=what)

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate."""
        _require_last_state()
        give_up_at = time.monotonic() + options["lock_wait"]
        _wait_briefly()
        try:
            while not self._tried(give_up_at, *args, **options):
                time.sleep(PAUSE_SECONDS)
        finally:
            with suppress(DatabaseError), connection.cursor() as cursor:
                cursor.execute("reset lock_timeout")

    def _tried(self, give_up_at: float, *args: Any, **options: Any) -> bool:
        """Migrate; false when a lock was in the way, and there is time to try again."""
        with _Lookout() as lookout:
            try:
                super().handle(*args, **options)
            except OperationalError as error:
                if not isinstance(error.__cause__, errors.LockNotAvailable | errors.DeadlockDetected):
                    raise
                _begin_anew()
            else:
                return True
        self._tell(lookout.holders, give_up_at - time.monotonic())
        return False

    def _tell(self, holders: list[_Holder], seconds_left: float) -> None:
        who = "; ".join(map(str, holders)) or "a session that has ended meanwhile"
        if seconds_left > 0:
            text = f"{self._migration} waits for a lock, trying for another {seconds_left:.0f} s. It is held by {who}"
            if self.verbosity >= 1:
                # The line is begun: "Applying runs.0002…".
                self.stdout.write(" not yet")
            self.stderr.write(text)
            return
        ends = " ".join(f"select pg_terminate_backend({holder.pid});" for holder in holders)
        raise CommandError(
            f"{self._migration} got no lock and has changed nothing. It is held by {who}\n"
            f"Wait until that session is over, or end it ({ends}), then start again."
        )

    def migration_progress_callback(self, action: str, migration: Any = None, fake: bool = False) -> None:
        """Remember the migration under way."""
        if migration is not None:
            self._migration = f"Migration {migration}"
        super().migration_progress_callback(action, migration, fake)


def _require_last_state() -> None:
    """Refuse a database that has some of the migrations that another replaces, which Django would leave out."""
    done = set(MigrationRecorder(connection).applied_migrations())
    for migration in MigrationLoader(None).replacements.values():
        if not done.isdisjoint(migration.replaces) and not done.issuperset(migration.replaces):
            raise CommandError(_IN_BETWEEN)


def _wait_briefly() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"set lock_timeout = '{LOCK_SECONDS}s'")


def _begin_anew() -> None:
    """Leave the transaction of a try: Django keeps it open where a statement fails that it put off to the end."""
    connection.close()
    connection.connect()
    _wait_briefly()


class _Lookout:
    """Looks, from a connection of its own, at who holds what this thread's connection waits for."""

    def __init__(self) -> None:
        self.holders: list[_Holder] = []
        self._pid: int = fetch_value("select pg_backend_pid()")
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="lock-lookout", daemon=True)

    def __enter__(self) -> "_Lookout":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        try:
            while not self._is_over.wait(_LOOK_SECONDS):
                self.holders = fetch(_Holder, _HOLDERS_SQL, {"pid": self._pid}) or self.holders
        except DatabaseError:
            # Without names then.
            return
        finally:
            connection.close()
