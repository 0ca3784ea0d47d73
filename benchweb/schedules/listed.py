"""Campaigns as their list shows them: named, with who or what launched each, without a model for each of their rows."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from benchweb.rows import fetch_all

_SQL = """
SELECT c.id, p.name, v.number, c.created_at, c.lower_bound_seconds, coalesce(u.username, ''), w.id, coalesce(w.name, '')
FROM runs_campaign c
JOIN plans_planversion v ON v.id = c.plan_version_id
JOIN plans_plan p ON p.id = v.plan_id
LEFT JOIN auth_user u ON u.id = c.created_by_id
LEFT JOIN schedules_slot s ON s.campaign_id = c.id
LEFT JOIN schedules_schedule w ON w.id = s.schedule_id
WHERE c.id = ANY(%(ids)s::bigint[])
"""


class ListedCampaign(NamedTuple):
    """A campaign as a line of a list; `schedule_id` is None for one that was launched by hand."""

    pk: int
    plan: str
    version: int
    created_at: datetime
    lower_bound_seconds: float | None
    created_by: str
    schedule_id: int | None
    schedule: str


def listed_campaigns(ids: Iterable[int]) -> list[ListedCampaign]:
    """Return campaigns in the order of their ids, without those that are no longer there; one query."""
    wanted = list(ids)
    found = {row[0]: ListedCampaign._make(row) for row in fetch_all(_SQL, {"ids": wanted})}
    return [found[pk] for pk in wanted if pk in found]
