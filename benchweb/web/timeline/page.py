"""Show what ran and what is to come, as lanes by host and as a week's calendar."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from django.db.models import Q
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from benchweb.catalog.translation import reason_text
from benchweb.common.formatting import duration
from benchweb.common.names import name_key
from benchweb.hosts.models import Endpoint, Pair
from benchweb.runs.lists import RunLine, listed_runs
from benchweb.runs.models import Run, State
from benchweb.runs.summaries import campaign_summaries
from benchweb.schedules import selectors
from benchweb.schedules.models import Schedule, Slot
from benchweb.state_words import state_word
from benchweb.web.shared.archiving import counted
from benchweb.web.timeline.lanes import Bar, Lane

# A night of 10,000 runs would be a page of many megabytes: the newest are drawn, and the page says so.
MOST_RUNS = 3_000
MOST_SCHEDULES = 200
# What a slot is drawn as long as until its schedule's campaigns have told.
_UNKNOWN_SECONDS = 60.0
_PLANNED = "planned"


@dataclass(frozen=True)
class Coming:
    """A time of a schedule that is no slot yet, with how long its campaign is expected to take; None: not known yet."""

    schedule: Schedule
    at: datetime
    seconds: float | None


@dataclass(frozen=True)
class CalendarEntry:
    """One schedule on one day of the calendar: its slots, or how many when they are many."""

    schedule: Schedule
    state: str
    text: str
    reason: str
    url: str
    # Whether the state is that of some of the campaign's runs alone.
    is_mixed: bool = False


@dataclass(frozen=True)
class Day:
    day: date
    is_today: bool
    entries: list[CalendarEntry]


def active_schedules() -> list[Schedule]:
    """Return the schedules that will come due; one query."""
    rows = Schedule.objects.filter(archived_at=None, paused_at=None).exclude(next_at=None)
    return list(rows.select_related("plan").order_by("name", "pk")[:MOST_SCHEDULES])


def coming(schedules: Sequence[Schedule], begin: datetime, end: datetime) -> list[Coming]:
    """Return the times to come between two moments, with what each schedule's last campaign was planned to take."""
    latest = Slot.objects.filter(schedule__in=schedules, campaign__isnull=False).order_by("schedule_id", "-at")
    planned = dict(latest.distinct("schedule_id").values_list("schedule_id", "campaign__planned_seconds"))
    return [
        Coming(schedule, at, planned.get(schedule.pk))
        for schedule in schedules
        for at in selectors.times_between(schedule, begin, end)
        # What begins at the end is in the next look: its lanes would be empty here.
        if at < end
    ]


def runs_between(begin: datetime, end: datetime, *, campaign: int | None = None) -> list[RunLine]:
    """Return the runs that were under way between two moments, the newest first."""
    # One that never began stands where it was given up.
    was_there = Q(started_at__lt=end) | Q(started_at=None, finished_at__lt=end)
    runs = Run.objects.filter(was_there).filter(Q(finished_at__gt=begin) | Q(finished_at=None))
    if campaign is not None:
        runs = runs.filter(campaign=campaign)
    newest = runs.order_by(Coalesce("started_at", "finished_at").desc())
    return listed_runs(list(newest.values_list("pk", flat=True)[:MOST_RUNS]))


def waiting_runs(*, campaign: int | None = None) -> int:
    """Count the runs that wait for their turn; one query."""
    waiting = Run.objects.filter(state=State.PENDING)
    return (waiting if campaign is None else waiting.filter(campaign=campaign)).count()


def host_lanes(runs: Sequence[RunLine], planned: Sequence[Coming], now: datetime, text: str = "") -> list[Lane]:
    """Return a lane for each host that ran or will run something, the former first; `text` filters by name."""
    bars: dict[tuple[str, int], list[Bar]] = defaultdict(list)
    for run in runs:
        bar = _run_bar(run, now)
        for host in {(run.source_host, run.source_host_id), (run.sink_host, run.sink_host_id)}:
            bars[host].append(bar)
    hosts_of = _hosts_of([upcoming.schedule for upcoming in planned])
    for upcoming in planned:
        bar = _coming_bar(upcoming)
        for name, pk in hosts_of[upcoming.schedule.pk]:
            bars[name, pk].append(bar)
    # Where something ran comes before what is only planned: a night of a thousand hosts would hide it.
    ordered = sorted(bars, key=lambda host: (all(bar.state == _PLANNED for bar in bars[host]), host))
    return [
        Lane(name, bars[name, pk], reverse("web:host", args=[pk]))
        for name, pk in ordered
        if name_key(text) in name_key(name)
    ]


def schedule_lanes(schedules: Sequence[Schedule], slots: Sequence[Slot], planned: Sequence[Coming]) -> list[Lane]:
    """Return a lane for each schedule with its slots, past and to come."""
    bars: dict[int, list[Bar]] = defaultdict(list)
    rows = {schedule.pk: schedule for schedule in schedules} | {slot.schedule_id: slot.schedule for slot in slots}
    for slot in slots:
        bars[slot.schedule_id].append(_slot_bar(slot))
    for upcoming in planned:
        bars[upcoming.schedule.pk].append(_coming_bar(upcoming))
    ordered = sorted(rows.values(), key=lambda schedule: (schedule.name, schedule.pk))
    return [Lane(row.name, bars[row.pk], reverse("web:schedule", args=[row.pk])) for row in ordered if bars[row.pk]]


def slots_between(begin: datetime, end: datetime) -> list[Slot]:
    """Return the slots between two moments, the newest first; one query."""
    return list(selectors.slots_between(begin, end).order_by("-at")[:MOST_RUNS])


def week_days(first: date, today: date, slots: Sequence[Slot], planned: Sequence[Coming], zone: tzinfo) -> list[Day]:
    """Return seven days with their slots; many of one schedule on a day are one entry."""
    entries_of: dict[tuple[date, int], list[Slot | Coming]] = defaultdict(list)
    for slot in reversed(slots):
        entries_of[slot.at.astimezone(zone).date(), slot.schedule_id].append(slot)
    for upcoming in planned:
        entries_of[upcoming.at.astimezone(zone).date(), upcoming.schedule.pk].append(upcoming)
    days = [first + timedelta(days=number) for number in range(7)]
    summaries = campaign_summaries([slot.campaign_id for slot in slots if slot.campaign_id is not None])
    mixed = {pk for pk, summary in summaries.items() if summary.is_mixed}
    return [Day(day, day == today, _entries(entries_of, day, zone, mixed)) for day in days]


def _entries(
    entries_of: dict[tuple[date, int], list[Slot | Coming]], day: date, zone: tzinfo, mixed: Collection[int]
) -> list[CalendarEntry]:
    times = [times for (on, _), times in entries_of.items() if on == day]
    entries = [entry for slots_of_day in times for entry in _schedule_entries(slots_of_day, zone, mixed)]
    return sorted(entries, key=lambda entry: (entry.text, entry.schedule.name))


def _schedule_entries(times: Sequence[Slot | Coming], zone: tzinfo, mixed: Collection[int]) -> Iterator[CalendarEntry]:
    if len(times) <= _SINGLY:
        yield from (_entry(entry, f"{entry.at.astimezone(zone):%H:%M}", mixed) for entry in times)
        return
    slots = [entry for entry in times if isinstance(entry, Slot)]
    worst = next((slot for slot in slots if slot.state not in (State.FINISHED, State.PENDING, State.RUNNING)), None)
    without = sum(slot.state not in (State.FINISHED, State.PENDING, State.RUNNING) for slot in slots)
    first, last = (f"{entry.at.astimezone(zone):%H:%M}" for entry in (times[0], times[-1]))
    text = f"{first}–{last}, {counted(len(times), 'slot')}"
    text += _(", {without} incomplete").format(without=without) if without else ""
    yield _entry(worst or times[0], text, mixed)


# More slots of one schedule on a day than these are told by their count.
_SINGLY = 4


def _entry(entry: Slot | Coming, text: str, mixed: Collection[int]) -> CalendarEntry:
    if isinstance(entry, Coming):
        return CalendarEntry(
            entry.schedule, "planned", text, _("scheduled"), reverse("web:schedule", args=[entry.schedule.pk])
        )
    return CalendarEntry(entry.schedule, entry.state, text, entry.why, _slot_url(entry), entry.campaign_id in mixed)


def _slot_url(slot: Slot) -> str:
    if slot.campaign_id is not None:
        return reverse("web:campaign", args=[slot.campaign_id])
    return reverse("web:schedule", args=[slot.schedule_id])


def _run_bar(run: RunLine, now: datetime) -> Bar:
    end = run.finished_at or now
    begin = run.started_at or end
    state = state_word(run.state)
    if run.started_at:
        state += pgettext("between parts of a sentence", ", ") + duration((end - begin).total_seconds())
    reason = f": {reason_text(run.why)}" if run.reason else ""
    label = _("Run {run} · {plan} · {pair} · {state}{reason}").format(
        run=run.pk, plan=run.plan, pair=run.pair, state=state, reason=reason
    )
    return Bar(begin, end, run.state, label, reverse("web:run", args=[run.pk]))


def _slot_bar(slot: Slot) -> Bar:
    seconds = (slot.campaign.planned_seconds if slot.campaign else None) or _UNKNOWN_SECONDS
    reason = f": {reason_text(slot.why)}" if slot.reason else ""
    label = f"{slot.schedule.name} · {state_word(slot.state)}{reason}"
    return Bar(slot.at, slot.at + timedelta(seconds=seconds), slot.state, label, _slot_url(slot))


def _coming_bar(upcoming: Coming) -> Bar:
    if upcoming.seconds is None:
        label = _("{schedule} · scheduled · duration not known yet").format(schedule=upcoming.schedule.name)
    else:
        label = _("{schedule} · scheduled · about {length}").format(
            schedule=upcoming.schedule.name, length=duration(upcoming.seconds)
        )
    url = reverse("web:schedule", args=[upcoming.schedule.pk])
    seconds = _UNKNOWN_SECONDS if upcoming.seconds is None else upcoming.seconds
    return Bar(upcoming.at, upcoming.at + timedelta(seconds=seconds), _PLANNED, label, url)


def _hosts_of(schedules: Sequence[Schedule]) -> dict[int, set[tuple[str, int]]]:
    """Return each schedule's hosts as names and ids; two queries whatever their number."""
    targets = {schedule.pk: schedule.target for schedule in schedules}
    if not targets:
        return {}
    endpoints = Endpoint.objects.filter(archived_at=None, host__archived_at=None).select_related("host")
    known = {endpoint.pk: endpoint for endpoint in endpoints}
    named = {pk for target in targets.values() for pk in target.get("pairs", [])}
    inside = {_environment(target) for target in targets.values()} - {None}
    chosen = Pair.objects.filter(Q(pk__in=named) | Q(environment__in=inside), archived_at=None)
    pairs = list(chosen.only("environment_id", "source_id", "sink_id"))
    return {
        pk: {(known[end].host.name, known[end].host_id) for end in _ends(target, known, pairs) if end in known}
        for pk, target in targets.items()
    }


def _environment(target: dict[str, object]) -> object:
    mesh = target.get("mesh")
    return target.get("environment") or (mesh.get("environment") if isinstance(mesh, dict) else None)


def _ends(target: dict, known: dict[int, Endpoint], pairs: Sequence[Pair]) -> set[int]:  # type: ignore[type-arg]
    """Return the ids of the endpoints that a target means."""
    if "label" in target:
        return {pk for pk, endpoint in known.items() if target["label"] in endpoint.host.labels}
    mesh = target.get("mesh", {})
    if "endpoints" in mesh:
        return set(mesh["endpoints"])
    named = set(target.get("pairs", []))
    environment = _environment(target)
    meant = [pair for pair in pairs if pair.pk in named or pair.environment_id == environment]
    ends = {end for pair in meant for end in (pair.source_id, pair.sink_id)}
    modes = {*mesh.get("source_modes", []), *mesh.get("sink_modes", [])}
    return {end for end in ends if not modes or (end in known and known[end].network_mode in modes)}
