"""One campaign among those of other schedules: who has which resource when, by the rule of the queues."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product

from benchweb.runs.queueing.simulation import Queued, played
from benchweb.schedules.forecasts.collisions import Other
from benchweb.schedules.forecasts.forecast import Forecast, OccupiedResources, Span, joined_spans

# With more runs than this it is taken that nobody waits for anybody: saving a schedule has to be quick.
_MOST_RUNS = 4_000
# Shorter gaps than this part of the whole are not drawn.
_DRAWN_PART = 0.01


@dataclass(frozen=True)
class GanttBar:
    """A resource that a schedule's campaign has for a time; `is_own` for the one in question."""

    who: str
    resource: str
    begins: datetime
    ends: datetime
    is_own: bool


@dataclass(frozen=True)
class JointForecast:
    """The end of the own campaign, and the bars of all that occupies its resources meanwhile."""

    ends: datetime
    bars: list[GanttBar]


@dataclass(frozen=True)
class _Campaign:
    who: str
    at: datetime
    expected: Forecast


def joint_forecast(
    name: str, slot: datetime, own: Forecast, others: Sequence[Other], resources: OccupiedResources
) -> JointForecast:
    """Play one of our campaigns through, with those of others that are under way in its time."""
    ends = slot + timedelta(seconds=own.makespan_seconds)
    campaigns = [_Campaign(name, slot, own)]
    for other in others:
        for at in other.campaigns(slot, ends):
            campaigns.append(_Campaign(other.schedule.name, at, other.expected))
    # Alone it goes as it is planned.
    spans = _played_spans(campaigns, slot) if len(campaigns) > 1 else None
    if spans is None:
        spans = {
            (number, resource): [
                (begins + _seconds_after(slot, campaign), until + _seconds_after(slot, campaign))
                for begins, until in spans_of_resource
            ]
            for number, campaign in enumerate(campaigns)
            for resource, spans_of_resource in campaign.expected.spans.items()
        }
    last = max((span[-1][1] for (number, _), span in spans.items() if number == 0), default=own.makespan_seconds)
    return JointForecast(slot + timedelta(seconds=last), _bars(campaigns, spans, slot, last, resources))


def _played_spans(campaigns: Sequence[_Campaign], slot: datetime) -> dict[tuple[int, int], list[Span]] | None:
    """Return the spans by campaign and resource; None when they are too many to be played through."""
    if sum(len(campaign.expected.jobs) * campaign.expected.rounds for campaign in campaigns) > _MOST_RUNS:
        return None
    queue: list[Queued] = []
    whose: list[int] = []
    for number, campaign in enumerate(campaigns):
        launched = _seconds_after(slot, campaign)
        seconds, exclusive = campaign.expected.turn_seconds, campaign.expected.is_exclusive
        for turn, expected in product(range(campaign.expected.rounds), campaign.expected.placed):
            resources = campaign.expected.jobs[expected.key].resources
            planned = launched + turn * campaign.expected.round_seconds + expected.start_seconds
            queue.append(Queued(len(queue), resources, planned, seconds, seconds, exclusive, launched))
            whose.append(number)
    spans_of: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for run in played(queue):
        for resource in queue[run.key].resources:
            spans_of[whose[run.key], resource].append((run.from_seconds, run.until_seconds))
    return {key: joined_spans(spans) for key, spans in spans_of.items()}


def _bars(
    campaigns: Sequence[_Campaign],
    spans: dict[tuple[int, int], list[Span]],
    slot: datetime,
    last: float,
    resources: OccupiedResources,
) -> list[GanttBar]:
    """Draw what is on the resources of the own campaign until it ends: the own campaign first, resources by name."""
    own = {resource for number, resource in spans if number == 0}
    drawn = [(number, resources.names[resource], span) for (number, resource), span in spans.items() if resource in own]
    return [
        GanttBar(
            who=campaigns[number].who,
            resource=name,
            begins=slot + timedelta(seconds=begins),
            ends=slot + timedelta(seconds=ends),
            is_own=number == 0,
        )
        for number, name, own_spans in sorted(drawn, key=lambda bar: (bar[0], bar[1]))
        for begins, ends in joined_spans(own_spans, _DRAWN_PART * last)
        if ends > 0 and begins < last
    ]


def _seconds_after(slot: datetime, campaign: _Campaign) -> float:
    return (campaign.at - slot).total_seconds()
