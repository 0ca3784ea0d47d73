"""The one clock of schedules, the database's, and how late a slot may be found."""

from datetime import datetime, timedelta

from django.db import connection

# A slot found later than this, or than its schedule's slip, was missed: the schedule's policy says what then.
GRACE = timedelta(seconds=60)


def database_now() -> datetime:
    """Return the database's time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now
