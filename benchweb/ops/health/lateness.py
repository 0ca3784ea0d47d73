"""For how long schedules' next slots have been due without being claimed."""

from decimal import Decimal
from typing import NamedTuple

from benchweb.common.rows import fetch

_LATENESS_SQL = """
    select id, name, greatest(0, extract(epoch from statement_timestamp() - next_at)) as seconds
    from schedules_schedule
    where next_at is not null and paused_at is null and archived_at is null order by id
"""


class ScheduleLateness(NamedTuple):
    """For how long a schedule's next slot is due; 0 in time."""

    id: int
    name: str
    seconds: Decimal


def schedule_lateness() -> list[ScheduleLateness]:
    """Return it of each schedule that runs; one query."""
    return fetch(ScheduleLateness, _LATENESS_SQL)
