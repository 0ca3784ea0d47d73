"""Whether the database can store something: it may be read-only, or its disk full."""

import threading
import time
from typing import Any

import psycopg

# Somebody who asks all the time must not make the database write all the time.
_KEPT_SECONDS = 2.0
# A file of its own, so that no room left in another one hides a full disk; its end is written to the database's log.
# Its 128 rows fill 32 pages; each is as long as one can be that isn't compressed.
_WRITE_SQL = (
    "CREATE TEMPORARY TABLE benchweb_write_check (filler text) ON COMMIT DROP",
    "INSERT INTO benchweb_write_check SELECT repeat(md5(n::text), 60) FROM generate_series(1, 128) AS n",
)
_lock = threading.Lock()
_last: dict[str, tuple[float, str]] = {}


def write_fault(connection: "psycopg.Connection[Any]") -> str:
    """Return why the database can't be written, empty when it can; raises psycopg.Error when it can't be asked."""
    if connection.execute("SHOW transaction_read_only").fetchone() == ("on",):
        return "the database can't be written: it is read-only"
    connection.rollback()
    with _lock:
        until, fault = _last.get(connection.info.dsn, (0.0, ""))
        if time.monotonic() >= until:
            fault = _found_by_writing(connection)
            _last[connection.info.dsn] = (time.monotonic() + _KEPT_SECONDS, fault)
        return fault


def _found_by_writing(connection: "psycopg.Connection[Any]") -> str:
    try:
        with connection.transaction():
            for statement in _WRITE_SQL:
                connection.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        # A role that may not make temporary tables: nothing is known then, and nothing is wrong.
        return ""
    except psycopg.OperationalError as error:
        return f"the database can't be written: {str(error).strip().splitlines()[0]}"
    return ""
