"""What the overview names of schedules and slots: rows of hand-written statements."""

from datetime import datetime
from typing import NamedTuple

from benchweb.rows import fetch_all
from benchweb.runs.models import FAULTY_STATES

_COMING = """
SELECT s.id, s.name, s.next_at, s.timezone, p.name FROM schedules_schedule s JOIN plans_plan p ON p.id = s.plan_id
WHERE s.archived_at IS NULL AND s.paused_at IS NULL AND s.next_at IS NOT NULL ORDER BY s.next_at, s.id LIMIT %(most)s
"""
_WITHOUT_RESULT = """
SELECT s.at, s.state, s.reason, s.campaign_id, s.schedule_id, c.name
FROM schedules_slot s JOIN schedules_schedule c ON c.id = s.schedule_id
WHERE s.at >= %(since)s AND s.state = ANY(%(states)s) ORDER BY s.at DESC, s.id DESC LIMIT %(most)s
"""


class ComingSchedule(NamedTuple):
    """A schedule that comes due, and its plan by name."""

    pk: int
    name: str
    next_at: datetime
    timezone: str
    plan: str


class FaultySlot(NamedTuple):
    """A slot that gave no whole result; without a campaign it never began."""

    at: datetime
    state: str
    reason: str
    campaign_id: int | None
    schedule_id: int
    schedule: str


def coming_schedules(*, most: int) -> list[ComingSchedule]:
    """Return the schedules that come due next, the first one first."""
    return [ComingSchedule(*row) for row in fetch_all(_COMING, {"most": most})]


def faulty_slots(*, since: datetime, most: int) -> list[FaultySlot]:
    """Return the latest slots that gave no whole result, the latest first."""
    values = {"since": since, "states": [state.value for state in FAULTY_STATES], "most": most}
    return [FaultySlot(*row) for row in fetch_all(_WITHOUT_RESULT, values)]
