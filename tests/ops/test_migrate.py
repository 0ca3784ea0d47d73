"""A migration waits for a lock two seconds at a time; others go on meanwhile, and who is in the way is told."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from tests.processes import begun, said_by, stopped

pytestmark = pytest.mark.begun_first

PATIENCE_SECONDS = 120
HOLDING = "lock table locked_thing in access share mode"
Database = dict[str, str]


@pytest.fixture
def database(environment_of_test: Database) -> Iterator[Database]:
    """Return the environment of a database that the first migration of the app `locked` was done in."""
    environment = environment_of_test | {"DJANGO_SETTINGS_MODULE": "tests.ops.locked.settings"}
    migrated(environment, "0001")
    yield environment
    migrated(environment, "zero")


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "django", "migrate", "locked", *words, "--no-color"]


def migrated(environment: Database, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command(*words), env=environment, capture_output=True, text=True, check=False, timeout=300)


@contextmanager
def session(environment: Database, name: str) -> Iterator["psycopg.Connection[tuple[int]]"]:
    url = environment["BENCHWEB_DATABASE_URL"]
    with psycopg.connect(url, application_name=name, options="-c statement_timeout=10s") as connection:
        yield connection


def columns(environment: Database) -> set[str]:
    sql = "select table_name || '.' || column_name from information_schema.columns where table_name like 'locked_%'"
    with session(environment, "columns") as connection:
        return {name for (name,) in connection.execute(sql)}  # type: ignore[misc]


def until(condition: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert process.poll() is None, said_by(process)
        assert time.monotonic() < give_up_at, said_by(process)
        time.sleep(0.05)


def test_a_migration_waits_beside_its_readers_names_who_is_in_the_way_and_ends_once_it_may(database: Database) -> None:
    with session(database, "night report") as holder:
        holder.execute(HOLDING)
        pid = holder.info.backend_pid
        process = begun(command("0002"), database, ready=b"waits for a lock")()
        read = reads(database, process, tries=3)
        said = said_by(process)
        holder.commit()
    assert process.wait(PATIENCE_SECONDS) == 0
    assert said_by(process).rstrip().endswith("Applying locked.0002_size... OK")
    stopped(process)
    # None waited for longer than one try, and some came between two.
    assert len(read) > 10
    assert max(read) < 10
    told = "Migration locked.0002_size waits for a lock, trying for another 2"
    assert told in said
    assert f"It is held by process {pid} (night report, user benchweb) since 20" in said
    assert f"UTC, idle in transaction: {HOLDING}" in said
    assert columns(database) >= {"locked_thing.size", "locked_other.size"}


def test_a_migration_whose_last_statement_waits_is_tried_again_too(database: Database) -> None:
    """A foreign key is added when all else is done: then the transaction of the first try is still open."""
    migrated(database, "0002")
    with session(database, "night report") as holder:
        holder.execute("insert into locked_thing default values")
        process = begun(command(), database, ready=b"waits for a lock")()
        reads(database, process, tries=2)
        holder.rollback()
    assert process.wait(PATIENCE_SECONDS) == 0, said_by(process)
    said = said_by(process)
    stopped(process)
    assert "Migration locked.0003_note waits for a lock" in said
    assert columns(database) >= {"locked_note.thing_id"}


def reads(environment: Database, process: "subprocess.Popen[bytes]", *, tries: int) -> list[float]:
    """Read both tables all the time, as pages do, until so many tries have failed; return how long each took."""
    seconds = []
    with session(environment, "reader") as reader:
        reader.autocommit = True
        while said_by(process).count("waits for a lock") < tries:
            begun_at = time.monotonic()
            reader.execute("select count(*) from locked_thing")
            reader.execute("select count(*) from locked_other")
            seconds.append(time.monotonic() - begun_at)
            assert process.poll() is None, said_by(process)
            time.sleep(0.05)
    return seconds


def test_a_migration_that_gets_no_lock_gives_up_by_name_and_leaves_all_as_it_was(database: Database) -> None:
    with session(database, "night report") as holder:
        holder.execute(HOLDING)
        done = migrated(database, "0002", "--lock-wait", "1")
        pid = holder.info.backend_pid
    assert done.returncode == 1
    assert (
        f"CommandError: Migration locked.0002_size got no lock and has changed nothing. It is held by process {pid} "
        "(night report, user benchweb) since "
    ) in done.stderr
    assert f"or end it (select pg_terminate_backend({pid});), then start again." in done.stderr
    assert columns(database) == {"locked_thing.id", "locked_other.id"}


def test_a_worker_does_not_wait_without_end_for_a_lock(database: Database) -> None:
    program = "import workers.app; from django.db import connection as c\n"
    program += "with c.cursor() as cursor: cursor.execute('truncate locked_thing')"
    with session(database, "night report") as holder:
        holder.execute(HOLDING)
        worker = [sys.executable, "-c", program]
        done = subprocess.run(worker, env=database, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert "canceling statement due to lock timeout" in done.stderr


def test_a_session_says_which_process_it_is(database: Database) -> None:
    programs = {"benchweb.asgi": "benchweb web", "workers.app": "benchweb worker", "django": "benchweb"}
    for module, name in programs.items():
        program = f"import django; django.setup(); import {module}; from django.db import connection as c\n"
        program += (
            "with c.cursor() as cursor:\n    cursor.execute('show application_name')\n    print(cursor.fetchone())"
        )
        words = [sys.executable, "-c", program]
        done = subprocess.run(words, env=database, capture_output=True, text=True, check=True, timeout=300)
        assert done.stdout == f"('{name}',)\n"


@pytest.fixture
def old_database(db: None) -> MigrationRecorder:
    """Return what is written of migrations in a database of before the first release, at its last state."""
    recorder = MigrationRecorder(connection)
    for key, migration in MigrationLoader(connection).replacements.items():
        recorder.record_unapplied(*key)
        for name in migration.replaces:
            recorder.record_applied(*name)
    return recorder


def test_a_database_of_before_the_first_release_is_taken_over_as_it_is(old_database: MigrationRecorder) -> None:
    out = StringIO()
    call_command("migrate", stdout=out, no_color=True)
    assert "No migrations to apply." in out.getvalue()
    assert ("runs", "0001_tables") in old_database.applied_migrations()


def test_a_database_in_between_is_refused_with_what_to_do(old_database: MigrationRecorder) -> None:
    old_database.record_unapplied("runs", "0017_together")
    with pytest.raises(CommandError, match="Migrate it by a checkout of commit ffde48d5 first"):
        call_command("migrate")
    assert ("runs", "0001_tables") not in old_database.applied_migrations()
