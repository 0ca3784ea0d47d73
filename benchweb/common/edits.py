"""One edit of a thing at a time: what is read before it still holds when it is written."""

from django.db import connection

# An arbitrary number of ours for PostgreSQL's advisory locks.
_LOCKS = 7_410_032


def lock_edit(thing: str) -> None:
    """Wait for whoever edits a thing, such as plans/7, and keep it to this transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))", [thing, _LOCKS])
