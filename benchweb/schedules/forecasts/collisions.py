"""Other schedules that want the same hosts at the same time."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile

from benchweb.plans.selectors import latest_versions
from benchweb.schedules import targets
from benchweb.schedules.forecasts.forecast import Forecast, OccupiedResources, Span, forecast
from benchweb.schedules.models import Schedule
from benchweb.schedules.timing.rules import rule_of
from benchweb.schedules.timing.times import TimingRule, occurrences

# Of so many others, and so many runs of theirs in all, the campaigns are predicted; what comes after is only counted.
MOST_OTHERS = 50
MOST_RUNS = 10_000
# Campaigns of one other schedule that may lie within one of ours.
_MOST_WITHIN = 100
# Spans that meet don't overlap, whatever the last bits of their sums say.
_ROUNDING_SECONDS = 1e-3
_JUST_BEFORE = timedelta(microseconds=1)


@dataclass(frozen=True)
class Other:
    """Another active schedule with what its campaigns are expected to occupy."""

    schedule: Schedule
    rule: TimingRule
    expected: Forecast

    def campaigns(self, begins: datetime, ends: datetime) -> list[datetime]:
        """Return the starts of its campaigns that are under way between two times."""
        after = begins - timedelta(seconds=self.expected.makespan_seconds)
        # Its `next_at` is the first that is no slot yet.
        next_at = self.schedule.next_at
        if next_at is not None:
            after = max(after, next_at - _JUST_BEFORE)
        within = takewhile(lambda at: at < ends, occurrences(self.rule, after))
        return list(islice(within, _MOST_WITHIN))


@dataclass(frozen=True)
class Conflict:
    """A resource that campaigns of two schedules, each alone, would have at the same time."""

    schedule: int
    name: str
    place: str
    # When our campaign and the other's begin.
    slot_at: datetime
    other_slot_at: datetime
    at: datetime
    until: datetime


@dataclass(frozen=True)
class Others:
    """The others that were compared, and how many were not."""

    compared: list[Other]
    left_out: int


def others_of(schedule: Schedule, resources: OccupiedResources) -> Others:
    """Predict the campaigns of other active schedules that share a resource with it; those due first come first."""
    active = Schedule.objects.filter(paused_at=None, archived_at=None, next_at__isnull=False).exclude(pk=schedule.pk)
    rows = list(active.select_related("plan").order_by("next_at", "pk"))
    versions = latest_versions(plans=[row.plan for row in rows])
    wanted = set(resources.names)
    others: list[Other] = []
    # Schedules often differ in their times alone.
    known: dict[str, Forecast] = {}
    for number, row in enumerate(rows):
        if number >= MOST_OTHERS or sum(len(campaign.jobs) for campaign in known.values()) >= MOST_RUNS:
            return Others(others, len(rows) - number)
        what = json.dumps([row.plan_id, row.target, row.arrangement], sort_keys=True)
        if what not in known:
            pairs = targets.resolved_target(row.target).pairs
            known[what] = forecast(versions[row.plan_id], pairs, resources, row.arrangement)
        expected = known[what]
        if not expected.is_background and wanted & expected.spans.keys():
            others.append(Other(row, rule_of(row), expected))
    return Others(others, 0)


def first_conflict(
    slots: Sequence[datetime], own: Forecast, others: Sequence[Other], resources: OccupiedResources
) -> Conflict | None:
    """Return the first time at which a campaign of one of these slots and another schedule's exclude each other."""
    for slot in slots:
        conflicts = list(_conflicts(slot, own, others, resources))
        if conflicts:
            return min(conflicts, key=lambda conflict: conflict.at)
    return None


def _conflicts(
    slot: datetime, own: Forecast, others: Sequence[Other], resources: OccupiedResources
) -> Iterator[Conflict]:
    for other in others:
        if not (own.is_exclusive or other.expected.is_exclusive):
            continue
        for at in other.campaigns(slot, slot + timedelta(seconds=own.makespan_seconds)):
            overlap = _first_overlap(own.spans, other.expected.spans, (at - slot).total_seconds())
            if overlap is None:
                continue
            resource, begins, ends = overlap
            yield Conflict(
                schedule=other.schedule.pk,
                name=other.schedule.name,
                place=resources.names[resource],
                slot_at=slot,
                other_slot_at=at,
                at=slot + timedelta(seconds=begins),
                until=slot + timedelta(seconds=ends),
            )
            break


def _first_overlap(
    own: Mapping[int, Sequence[Span]], other: Mapping[int, Sequence[Span]], later_seconds: float
) -> tuple[int, float, float] | None:
    """Return the resource and span of the earliest overlap, the other's spans being moved by so many seconds."""
    overlaps = [
        (overlap, resource)
        for resource in own.keys() & other.keys()
        if (overlap := _overlap(own[resource], other[resource], later_seconds))
    ]
    if not overlaps:
        return None
    (begins, ends), resource = min(overlaps)
    return resource, begins, ends


def _overlap(own: Sequence[Span], other: Sequence[Span], later_seconds: float) -> Span | None:
    index, other_index = 0, 0
    while index < len(own) and other_index < len(other):
        begins = max(own[index][0], other[other_index][0] + later_seconds)
        ends = min(own[index][1], other[other_index][1] + later_seconds)
        if begins < ends - _ROUNDING_SECONDS:
            return begins, ends
        if own[index][1] < other[other_index][1] + later_seconds:
            index += 1
        else:
            other_index += 1
    return None
