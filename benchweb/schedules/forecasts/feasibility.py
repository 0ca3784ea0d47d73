"""Say whether what a schedule launches will be done in time, when it is saved; nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, pairwise

from django.utils.translation import gettext as _

from benchweb.common.rows import database_now
from benchweb.hosts.models import Pair
from benchweb.hosts.selectors import SILENT_STATUSES
from benchweb.schedules import targets
from benchweb.schedules.forecasts.collisions import Conflict, Others, first_conflict, others_of
from benchweb.schedules.forecasts.forecast import Forecast, OccupiedResources, forecast
from benchweb.schedules.forecasts.joint import GanttBar, joint_forecast
from benchweb.schedules.forecasts.room import Remedy, Room, Shortage, shortage
from benchweb.schedules.models import Schedule
from benchweb.schedules.selectors import next_slots
from benchweb.schedules.time_texts import duration_text, time_text
from benchweb.schedules.timing.localtime import zone_of
from benchweb.schedules.timing.rules import rule_of
from benchweb.schedules.timing.times import TimingRule, closes_at, occurrences

# How far ahead is looked: far enough for a week's pattern twice, or an hour's for two days.
_SLOTS = 50
_HORIZON = timedelta(days=14)


@dataclass(frozen=True)
class Feasibility:
    """The prospects of a schedule's campaigns; times are those of the slot that says most.

    That is the first slot whose campaign doesn't fit, else the first in conflict, else the next.
    """

    fits: bool
    # Why it doesn't fit, in words; empty when it does.
    reason: str
    # What would make it fit, the smallest change first; empty when it fits.
    smallest_change: str
    runs: int
    host_minutes_needed: float
    # Of its hosts together, until the window closes or the next slot follows; None where neither does.
    host_minutes_available: float | None
    starts_at: datetime | None
    # With the campaigns of other schedules in the way.
    ends_at: datetime | None
    # Alone, and the least that any order could take.
    makespan_seconds: float
    lower_bound_seconds: float
    conflict: Conflict | None
    conflict_text: str
    bars: list[GanttBar]
    # Too many runs to place them one by one: the lower bound is taken for the length.
    is_estimated: bool
    # Other schedules that were not looked at, for there are too many.
    others_left_out: int
    # How many hosts its pairs have, and the names of those whose engine gives no usable answer now.
    hosts: int
    silent_hosts: list[str]


def feasibility(schedule: Schedule, now: datetime | None = None) -> Feasibility:
    """Predict the campaigns of a schedule, saved or not, over the next slots."""
    now = now or database_now()
    rule = rule_of(schedule)
    version = schedule.plan.versions.order_by("-number")[0]
    resources = OccupiedResources()
    pairs = targets.resolved_target(schedule.target).pairs
    own = forecast(version, pairs, resources, schedule.arrangement)
    slots = _slots(schedule, rule, now)
    if schedule.plan.archived_at is not None:
        return _impossible(own, _("Plan {plan} is archived: restore it, or choose another.").format(plan=schedule.plan))
    if not own.jobs or not slots:
        return _impossible(own, _("No pair is left to run on.") if slots else _("It has no time to come."))
    others = others_of(schedule, resources)
    rooms = _rooms(schedule, rule, slots)
    short = _first_shortage(rooms, own, version.maximum_repetitions)
    conflict = first_conflict([room.at for room in rooms], own, others.compared, resources)
    room = short[0] if short else next((room for room in rooms if conflict and room.at == conflict.slot_at), rooms[0])
    return _answer(
        schedule=schedule,
        pairs=pairs,
        own=own,
        room=room,
        short=short[1] if short else None,
        conflict=conflict,
        others=others,
        resources=resources,
    )


def _slots(schedule: Schedule, rule: TimingRule, now: datetime) -> list[datetime]:
    """Return the times to come, one more than is looked at; of a paused schedule those it had, were it resumed."""
    times = next_slots(schedule, _SLOTS + 1, after=now) or list(islice(occurrences(rule, now), _SLOTS + 1))
    return [at for index, at in enumerate(times) if index < 2 or at <= now + _HORIZON]


def _rooms(schedule: Schedule, rule: TimingRule, slots: Sequence[datetime]) -> list[Room]:
    deadline = schedule.deadline_seconds
    following = [*pairwise(slots), *([(slots[-1], None)] if len(slots) <= _SLOTS else [])]
    return [
        Room(
            at=at,
            closes=closes_at(rule, at),
            deadline=at + timedelta(seconds=deadline) if deadline else None,
            next_at=next_at,
            zone=schedule.timezone,
        )
        for at, next_at in following
    ]


def _first_shortage(rooms: Sequence[Room], own: Forecast, repetitions: int) -> tuple[Room, Shortage] | None:
    shortages = ((room, shortage(room, own, repetitions)) for room in rooms)
    return next(((room, short) for room, short in shortages if short), None)


def _answer(
    *,
    schedule: Schedule,
    pairs: Sequence[Pair],
    own: Forecast,
    room: Room,
    short: Shortage | None,
    conflict: Conflict | None,
    others: Others,
    resources: OccupiedResources,
) -> Feasibility:
    expected = joint_forecast(schedule.name, room.at, own, others.compared, resources)
    short = short or _delay_shortage(room, expected.ends, conflict)
    return Feasibility(
        fits=short is None,
        reason=short.reason if short else "",
        smallest_change=_sentence(short) if short else "",
        runs=own.runs,
        host_minutes_needed=own.host_seconds / 60,
        host_minutes_available=None if room.seconds is None else own.hosts * room.seconds / 60,
        starts_at=room.at,
        ends_at=expected.ends,
        makespan_seconds=own.makespan_seconds,
        lower_bound_seconds=own.lower_bound_seconds,
        conflict=conflict,
        conflict_text=_conflict_text(conflict, schedule.timezone) if conflict else "",
        bars=expected.bars,
        is_estimated=own.is_estimated,
        others_left_out=others.left_out,
        hosts=own.hosts,
        silent_hosts=_silent_hosts(pairs),
    )


def _impossible(own: Forecast, reason: str) -> Feasibility:
    return Feasibility(
        fits=False,
        reason=reason,
        smallest_change="",
        runs=own.runs,
        host_minutes_needed=own.host_seconds / 60,
        host_minutes_available=None,
        starts_at=None,
        ends_at=None,
        makespan_seconds=own.makespan_seconds,
        lower_bound_seconds=own.lower_bound_seconds,
        conflict=None,
        conflict_text="",
        bars=[],
        is_estimated=own.is_estimated,
        others_left_out=0,
        hosts=own.hosts,
        silent_hosts=[],
    )


def _silent_hosts(pairs: Sequence[Pair]) -> list[str]:
    """Name the hosts of which an endpoint was unreachable or refused at its last probe; no queries."""
    ends = (end for pair in pairs for end in (pair.source, pair.sink))
    return sorted({end.host.name for end in ends if end.status in SILENT_STATUSES})


def _delay_shortage(room: Room, ends: datetime, conflict: Conflict | None) -> Shortage | None:
    """Say that the campaign fits alone, but not behind another's."""
    limit = min((end for end in (room.closes, room.next_at) if end), default=None)
    if conflict is None or limit is None or ends <= limit + timedelta(milliseconds=1):
        return None
    missing = -((limit - ends) // timedelta(minutes=1))
    what = _("its time closes") if limit == room.closes else _("its next slot follows")
    reason = _(
        "Alone it would fit, but behind schedule {conflict} on {place} it takes until {ends}, and {what} at {limit}."
    ).format(
        conflict=conflict.name,
        place=conflict.place,
        ends=time_text(ends, room.zone),
        what=what,
        limit=time_text(limit, room.zone),
    )
    later = limit + timedelta(minutes=missing)
    return Shortage(
        reason,
        [
            Remedy(
                missing,
                _("give it {missing} min more, until {later}").format(
                    missing=f"{missing:,}", later=time_text(later, room.zone)
                ),
            )
        ],
    )


def _conflict_text(conflict: Conflict, zone: str) -> str:
    day = conflict.at.astimezone(zone_of(zone)).strftime("%Y-%m-%d")
    lasts = duration_text(conflict.until - conflict.at)
    return _(
        "On {day} at {at} schedule {conflict} (its slot of {other_slot_at}) wants {place} too, for {lasts}: "
        "runs wait for each other."
    ).format(
        day=day,
        at=time_text(conflict.at, zone),
        conflict=conflict.name,
        other_slot_at=time_text(conflict.other_slot_at, zone),
        place=conflict.place,
        lasts=lasts,
    )


def _sentence(short: Shortage) -> str:
    text = _(", or ").join(change.text for change in short.changes)
    return f"{text[:1].upper()}{text[1:]}."
