"""Read schedules and their slots."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, dropwhile, islice, takewhile
from typing import Any, NamedTuple

from django.db.models import Count, Min, Q, QuerySet
from django.utils import timezone

from benchweb.catalog.reasons import reason_of
from benchweb.common.rows import database_now, fetch
from benchweb.runs.models import FAULTY_STATES, OPEN_STATES, State
from benchweb.schedules.models import SKIPPED, Schedule, Slot
from benchweb.schedules.targets import environments_of_target
from benchweb.schedules.timing.rules import rule_of
from benchweb.schedules.timing.times import TimingRule, occurrences

# The success rate is that of so many days.
RATE_DAYS = 30
_MOST_DISPLAYED = 1_000


@dataclass(frozen=True)
class SuccessRate:
    """Of the slots that came to an end by themselves, how many finished with every run finished.

    Those skipped because the campaign before them had not ended are counted apart.
    """

    finished: int
    total: int
    skipped: int = 0

    @property
    def ratio(self) -> float | None:
        return self.finished / self.total if self.total else None


def next_slots(what: Schedule | TimingRule, n: int = 10, after: datetime | None = None) -> list[datetime]:
    """Return the next times, in UTC; fewer when the schedule ends or is paused, at most as `max_runs` allows."""
    if isinstance(what, TimingRule):
        return list(islice(occurrences(what, after or database_now()), n))
    return list(islice(_times(what, after), n))


def times_between(schedule: Schedule, first: datetime, last: datetime) -> list[datetime]:
    """Return the schedule's times to come after `first` and up to `last`, for a calendar; at most a thousand."""
    return list(islice(takewhile(lambda at: at <= last, _times(schedule, first)), _MOST_DISPLAYED))


def seconds_until_due(within_seconds: float) -> float | None:
    """Return the seconds until the first slot within so many to come, None without one; what is due does not count."""
    now = database_now()
    active = Schedule.objects.filter(paused_at=None, archived_at=None)
    coming = active.filter(next_at__gt=now, next_at__lte=now + timedelta(seconds=within_seconds))
    first = coming.aggregate(first=Min("next_at"))["first"]
    return (first - now).total_seconds() if first else None


def slots_between(first: datetime, last: datetime) -> QuerySet[Slot]:
    """Return all schedules' slots from `first` until before `last`, with what names them, by time."""
    named = Slot.objects.select_related("schedule__plan", "campaign")
    return named.filter(at__gte=first, at__lt=last).order_by("at", "pk")


def success_rates(schedules: Iterable[Schedule], since: datetime) -> dict[int, SuccessRate]:
    """Return each schedule's rate over its slots since then; open and cancelled ones don't count. One query."""
    ended = Slot.objects.filter(schedule__in=[schedule.pk for schedule in schedules], at__gte=since)
    ended = ended.exclude(state__in=[*OPEN_STATES, State.CANCELLED])
    grouped = ended.order_by().values_list("schedule")
    skipped = Q(state=SKIPPED)
    counted = grouped.annotate(
        finished=Count("pk", filter=Q(state=State.FINISHED)),
        total=Count("pk", filter=~skipped),
        skipped=Count("pk", filter=skipped),
    )
    return {schedule_id: SuccessRate(*counts) for schedule_id, *counts in counted}


def slots_left(schedule: Schedule) -> int | None:
    """Return how many slots `max_runs` still allows, None for any number; "run now" doesn't count, missed ones do."""
    if schedule.max_runs is None or schedule.pk is None:
        return schedule.max_runs
    return max(0, schedule.max_runs - schedule.slots.filter(is_extra=False).count())


def rates_since() -> datetime:
    """Return since when slots count for the success rate."""
    return timezone.now() - timedelta(days=RATE_DAYS)


def _times(schedule: Schedule, after: datetime | None) -> Iterator[datetime]:
    """Return the times that are no slots yet: `next_at` and those that follow it."""
    if schedule.paused_at is not None or schedule.archived_at is not None or schedule.next_at is None:
        return iter(())
    times: Iterator[datetime] = chain([schedule.next_at], occurrences(rule_of(schedule), schedule.next_at))
    left = slots_left(schedule)
    if left is not None:
        times = islice(times, left)
    return times if after is None else dropwhile(lambda at: at <= after, times)


_COMING = """
SELECT s.id AS pk, s.name, s.next_at, s.timezone, p.name AS plan
FROM schedules_schedule s JOIN plans_plan p ON p.id = s.plan_id
WHERE s.archived_at IS NULL AND s.paused_at IS NULL AND s.next_at IS NOT NULL ORDER BY s.next_at, s.id LIMIT %(most)s
"""
_WITHOUT_RESULT = """
SELECT s.at, s.state, s.reason, s.reason_data, s.campaign_id, s.schedule_id, c.name AS schedule
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
    reason_data: dict[str, Any] | None
    campaign_id: int | None
    schedule_id: int
    schedule: str

    @property
    def why(self) -> str:
        return reason_of(self.reason, self.reason_data)


def coming_schedules(*, most: int) -> list[ComingSchedule]:
    """Return the schedules that come due next, the first one first."""
    return fetch(ComingSchedule, _COMING, {"most": most})


def faulty_slots(*, since: datetime, most: int) -> list[FaultySlot]:
    """Return the latest slots that gave no whole result, the latest first."""
    values = {"since": since, "states": [state.value for state in FAULTY_STATES], "most": most}
    return fetch(FaultySlot, _WITHOUT_RESULT, values)


_SQL = """
SELECT c.id AS pk, p.name AS plan, v.number AS version, c.created_at, c.lower_bound_seconds,
  coalesce(u.username, '') AS created_by, w.id AS schedule_id, coalesce(w.name, '') AS schedule
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
    by_id = {row.pk: row for row in fetch(ListedCampaign, _SQL, {"ids": wanted})}
    return [by_id[pk] for pk in wanted if pk in by_id]


def environments_of_schedule(*, schedule_id: int, **_: object) -> Iterable[int | None]:
    """Return the environments of the schedule that an address names, read when it matters."""
    for target in Schedule.objects.filter(pk=schedule_id).values_list("target", flat=True):
        yield from environments_of_target(target)
