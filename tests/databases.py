"""The databases of the tests: one is migrated in each run, and every test process works on a copy of it."""

import os
from collections.abc import Sequence
from typing import Any

import psycopg
from django.conf import settings
from django.contrib.auth.management import create_permissions
from django.contrib.contenttypes.management import create_contenttypes
from django.core.management import call_command
from django.db import connection
from django.db.models.signals import post_migrate

# An arbitrary number of ours for PostgreSQL's advisory locks: of several processes one makes the template.
_LOCK_KEY = 7_410_741_2
# Of each run its own: a server that was given may have another run's.
_RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
TEMPLATE = f"test_benchweb_template_{_RUN}"
COPY = f"test_benchweb_{_RUN}_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
# TRUNCATE makes every table and index anew, hundreds of files, where a test leaves a few rows in a few tables. Rows of
# large tables are still truncated: who reads the table next would read the dead ones, too.
_MOST_BYTES_DELETED = 1_000_000
_EMPTYING = """DO $$ DECLARE every regclass[] := %s; each regclass; BEGIN
LOCK TABLE %s IN EXCLUSIVE MODE;
IF (SELECT max(pg_relation_size(name)) FROM unnest(every) name) > %d THEN TRUNCATE %s; RETURN; END IF;
SET LOCAL session_replication_role = replica;
FOREACH each IN ARRAY every LOOP EXECUTE format('DELETE FROM %%s', each); END LOOP; END $$"""


def copy_template() -> None:
    """Make this process's database and let Django use it; who comes first makes the template."""
    with _server() as server:
        server.execute("select pg_advisory_lock(%s)", [_LOCK_KEY])
        if server.execute("select 1 from pg_database where datname = %s", [TEMPLATE]).fetchone() is None:
            _make_template(server)
        server.execute(f'create database "{COPY}" template "{TEMPLATE}"')
    _use(COPY)
    # No page reads Django's own permissions; each emptying of the tables would write them anew.
    post_migrate.disconnect(create_contenttypes)
    post_migrate.disconnect(create_permissions, dispatch_uid="django.contrib.auth.management.create_permissions")
    if _may_leave_out_triggers():
        connection.ops.sql_flush = _emptying_sql  # type: ignore[method-assign]


def drop_copy() -> None:
    """Remove this process's database, and the template: who comes later makes another."""
    connection.close()
    with _server() as server:
        server.execute("select pg_advisory_lock(%s)", [_LOCK_KEY])
        for name in (COPY, TEMPLATE):
            server.execute(f'drop database if exists "{name}" with (force)')


def _make_template(server: "psycopg.Connection[Any]") -> None:
    draft = f"{TEMPLATE}_draft"
    server.execute(f'drop database if exists "{draft}"')
    server.execute(f'create database "{draft}"')
    _use(draft)
    call_command("migrate", verbosity=0, interactive=False)
    with connection.cursor() as cursor:
        # Tests with transactions empty the audit log behind them, which nobody else may.
        cursor.execute("alter table accounts_auditentry disable trigger audit_guard_all")
    connection.close()
    server.execute(f'alter database "{draft}" rename to "{TEMPLATE}"')


def _may_leave_out_triggers() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("select rolsuper from pg_roles where rolname = current_user")
        return bool(cursor.fetchone() == (True,))


def _emptying_sql(
    style: object, tables: Sequence[str], *, reset_sequences: bool = False, allow_cascade: bool = False
) -> list[str]:
    """Return what empties all tables, once those who write to them are done."""
    names = ", ".join(map(connection.ops.quote_name, tables))
    array = "ARRAY[" + ", ".join(f"'{connection.ops.quote_name(table)}'" for table in tables) + "]"
    return [_EMPTYING % (array, names, _MOST_BYTES_DELETED, names)]


def _server() -> "psycopg.Connection[Any]":
    return psycopg.connect(settings.DATABASE_URL, autocommit=True)


def _use(name: str) -> None:
    connection.close()
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = name


def is_somebody_waiting() -> bool:
    """Tell whether another connection to the database waits for a lock; within a transaction too, as it is now."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks AS waiting JOIN pg_locks AS held USING (pid) WHERE NOT waiting.granted"
            " AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
        )
        return bool(cursor.fetchone() == (True,))
