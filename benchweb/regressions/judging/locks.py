"""Judge an environment's runs one after the other: what has one cause must find the other's alert."""

from collections.abc import Iterable

from django.db import connection

# An arbitrary number of ours for PostgreSQL's advisory locks; the second is the environment's id.
_LOCK = 7_410_047
# The same for a schedule's time for re-runs, which runs of several environments may spend.
_BUDGET_LOCK = 7_410_049


def lock_environments(environment_ids: Iterable[int]) -> None:
    """Lock environments until the transaction ends, always in the same order."""
    with connection.cursor() as cursor:
        for environment_id in sorted(set(environment_ids)):
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK, environment_id % 2**31])


def lock_budget(schedule_id: int) -> None:
    """Lock a schedule's time for re-runs until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_BUDGET_LOCK, schedule_id % 2**31])
