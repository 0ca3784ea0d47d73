"""Read schedules and their slots."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, dropwhile, islice, takewhile

from django.db.models import Count, Min, Q, QuerySet
from django.utils import timezone

from benchweb.runs.models import OPEN_STATES, State
from benchweb.schedules.claiming import slots_left
from benchweb.schedules.clock import database_now
from benchweb.schedules.models import SKIPPED, Schedule, Slot
from benchweb.schedules.rules import rule_of
from benchweb.schedules.timing import Rule, occurrences

# The success rate is that of so many days.
RATE_DAYS = 30
_MOST_SHOWN = 1_000


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


def next_slots(what: Schedule | Rule, n: int = 10, after: datetime | None = None) -> list[datetime]:
    """Return the next times, in UTC; fewer when the schedule ends or is paused, at most as `max_runs` allows."""
    if isinstance(what, Rule):
        return list(islice(occurrences(what, after or database_now()), n))
    return list(islice(_times(what, after), n))


def times_between(schedule: Schedule, first: datetime, last: datetime) -> list[datetime]:
    """Return the schedule's times to come after `first` and up to `last`, for a calendar; at most a thousand."""
    return list(islice(takewhile(lambda at: at <= last, _times(schedule, first)), _MOST_SHOWN))


def seconds_until_due(within_seconds: float) -> float | None:
    """Return the seconds until the first slot within so many to come, None without one; what is due does not count."""
    now = database_now()
    active = Schedule.objects.filter(paused_at=None, archived_at=None)
    coming = active.filter(next_at__gt=now, next_at__lte=now + timedelta(seconds=within_seconds))
    first = coming.aggregate(first=Min("next_at"))["first"]
    return (first - now).total_seconds() if first else None


def slots_of(schedule: Schedule) -> QuerySet[Slot]:
    """Return a schedule's slots, newest first, with their campaigns."""
    return schedule.slots.select_related("campaign").order_by("-at")


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
