"""Judge an environment's runs one after the other: what has one cause must find the other's alert."""

from collections.abc import Iterable

from django.db import connection

# An arbitrary number of ours for PostgreSQL's advisory locks; the second is the environment's id.
_LOCK = 7_410_047


def lock_environments(environment_ids: Iterable[int]) -> None:
    """Lock environments until the transaction ends, always in the same order."""
    with connection.cursor() as cursor:
        for environment_id in sorted(set(environment_ids)):
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK, environment_id % 2**31])
