"""Where a line must break: runs that gave nothing, slots that were missed, and silences longer than usual."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from operator import attrgetter, sub
from statistics import median, quantiles
from typing import Any, NamedTuple

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from benchweb.catalog.reasons import reason_of
from benchweb.charts.history.lines import HistoryLine, LinePair, keys_of_versions
from benchweb.charts.history.points import Step
from benchweb.common.addresses import site_path
from benchweb.common.rows import fetch, literals
from benchweb.documents.charts import Measured
from benchweb.documents.references import Label, reason_label, run_ref, worded
from benchweb.runs.models import FAULTY_STATES
from benchweb.state_words import state_word

# Of what is measured regularly, a silence of nearly two intervals is a measurement that is missing.
_LONGER_THAN_USUAL = 1.75
# Half of the intervals within this share of their median is regular; nobody knows when the rest would be due.
_REGULAR_WITHIN = 0.3
_MUCH_LONGER_THAN_MOST = 4
_LEAST_WITHOUT_RHYTHM = timedelta(days=1)
_FEWEST_TO_KNOW = 5
_MOST_EVENTS = 1_000

# Runs by pair at the time of their turn, which they may wait for long; then the slots that never had a campaign, with
# their schedule's target and its plan's latest version.
_SQL = """
(SELECT coalesce(r.started_at, r.planned_at, r.created_at) AS at, r.id AS run, r.pair_id AS pair,
  r.plan_version_id AS version, r.state, r.reason, r.reason_data, NULL::bigint AS schedule, NULL::jsonb AS target
FROM runs_run r {joined}
WHERE r.pair_id = ANY(%(pairs)s) AND r.state IN ({states})
  AND r.created_at >= %(first)s - interval '7 days' AND r.created_at <= %(last)s
  AND coalesce(r.started_at, r.planned_at, r.created_at) BETWEEN %(first)s AND %(last)s {of_runs}
ORDER BY r.id DESC LIMIT %(most_events)s)
UNION ALL
(SELECT s.at, NULL, NULL,
  (SELECT v.id FROM plans_planversion v WHERE v.plan_id = c.plan_id ORDER BY v.number DESC LIMIT 1),
  s.state, s.reason, s.reason_data, c.id, c.target
FROM schedules_slot s JOIN schedules_schedule c ON c.id = s.schedule_id
WHERE s.campaign_id IS NULL AND s.state IN ({states}) AND s.at >= %(first)s AND s.at <= %(last)s {of_slots}
ORDER BY s.at DESC LIMIT %(most_events)s)
"""


class _Row(NamedTuple):
    """A run of a pair, or a slot of a schedule with its target, that gave no result."""

    at: datetime
    run: int | None
    pair: int | None
    version: int | None
    state: str
    reason: str
    reason_data: dict[str, Any] | None
    schedule: int | None
    target: dict[str, Any] | None


# Tuples, which take a third of the time to make: a year has hundreds.
class Event(NamedTuple):
    """A run or a slot that gave no result; `keys` are the kinds and identities that it should have measured."""

    at: datetime
    pair: int
    run: int | None
    keys: frozenset[tuple[str, str]]
    state: str
    cause: str


# The part where a run's number goes; PostgreSQL stores no such character.
_RUN = "\0"


@lru_cache(maxsize=1_024)
def _reason(state: str, cause: str, is_slot: bool, _language: str | None) -> Label:
    """Return why a line breaks; cached, for a year's runs give nothing for the same few reasons."""
    if is_slot:
        words = worded(_("slot %(state)s"), state=state_word(state))
    else:
        words = worded(_("run %(run)s %(state)s"), run=_RUN, state=state_word(state))
    return worded(_("{state}: {reason}"), state=words, reason=reason_label(cause)) if cause else words


class Break(NamedTuple):
    """A place where nothing was measured, and why."""

    at: datetime
    reason: str
    href: str = ""


def events_between(lines: Sequence[HistoryLine], period: tuple[datetime, datetime], plan: int | None) -> list[Event]:
    """Return what gave no result on these lines' pairs; plan versions new to this process cost a query more."""
    pairs = {line.pair.pk: line.pair for line in lines}
    statement = _SQL.format(
        states=literals(FAULTY_STATES),
        joined="" if plan is None else "JOIN plans_planversion v ON v.id = r.plan_version_id",
        of_runs="" if plan is None else "AND v.plan_id = %(plan)s",
        of_slots="" if plan is None else "AND c.plan_id = %(plan)s",
    )
    values = {
        "pairs": sorted(pairs),
        "first": period[0],
        "last": period[1],
        "plan": plan,
        "most_events": _MOST_EVENTS,
    }
    rows = fetch(_Row, statement, values)
    keys = keys_of_versions({row.version for row in rows if row.version})
    target_of = {row.schedule: row.target for row in rows if row.target}
    pairs_of = {
        schedule: [pk for pk, pair in pairs.items() if targets(target, pair)] for schedule, target in target_of.items()
    }
    events = [
        Event(row.at, pair, row.run, keys.get(row.version or 0, frozenset()), row.state, reason)
        for row in rows
        for reason in [reason_of(row.reason, row.reason_data)]
        for pair in ([row.pair] if row.pair is not None else pairs_of.get(row.schedule, ()))
    ]
    return sorted(events, key=attrgetter("at"))


def break_of(event: Event) -> Break:
    """Return the break of an event, which says why in the active language."""
    words = _reason(event.state, event.cause, event.run is None, get_language())
    if event.run is None:
        return Break(event.at, words)
    named = Label(*(run_ref(event.run) if part == _RUN else part for part in words.parts))
    return Break(event.at, named, site_path(f"/runs/{event.run}"))


def breaks(points: Sequence[Measured], events: Iterable[Event], step: Step) -> list[Break]:
    """Return the places between and around a line's points where it must break; events are in order of time.

    What gave nothing within the step of a point is no break: that step has its median.
    """
    starts, measured = [point.at for point in points], {point.run for point in points}
    gaps = []
    for event in events:
        if event.run not in measured and not _is_covered(event.at, starts, step):
            gaps.append(break_of(event))
    known = [gap.at for gap in gaps]
    for start, after in _silences(starts, step):
        before = start + step.covered
        index = bisect_right(known, before)
        if index == len(known) or known[index] >= after:
            gaps.append(Break(before + (after - before) / 2, _("nothing measured in this time range")))
    return sorted(gaps, key=attrgetter("at"))


def _is_covered(at: datetime, starts: Sequence[datetime], step: Step) -> bool:
    """Tell whether a point stands for a time; of single runs one at that very time."""
    index = bisect_right(starts, at)
    if not step.covered:
        return index > 0 and starts[index - 1] == at
    # A point stands at its step's first run: others may have failed before it.
    return any(step.is_one(at, start) for start in starts[max(0, index - 1) : index + 1])


def targets(target: Mapping[str, Any], pair: LinePair) -> bool:
    """Tell whether a schedule's target takes in a pair, by what is at hand of the pair; no query."""
    ((form, value),) = target.items()
    if form == "pairs":
        return pair.pk in value
    if form == "environment":
        return bool(pair.environment_id == value)
    if form == "label":
        return all(value in end.labels for end in pair.ends)
    if value.get("environment", pair.environment_id) != pair.environment_id:
        return False
    if "endpoints" in value:
        return {end.pk for end in pair.ends} <= set(value["endpoints"])
    return pair.source.network_mode in value["source_modes"] and pair.sink.network_mode in value["sink_modes"]


def _silences(starts: Sequence[datetime], step: Step) -> list[tuple[datetime, datetime]]:
    """Return the ends of each time in which a measurement is missing; none of too few points to know what is usual.

    Of points that stand for days these are the days' beginnings: what is usual between them has the day in it.
    """
    if len(starts) < _FEWEST_TO_KNOW:
        return []
    times = [*map(datetime.timestamp, starts)]
    seconds = [*map(sub, times[1:], times)]
    longest = longest_usual(seconds).total_seconds()
    # Of a thousand one or two are longer; their steps' beginnings tell whether a step lies between them at all.
    gaps = [
        (step.begin(starts[index]), step.begin(starts[index + 1]))
        for index, apart in enumerate(seconds)
        if apart > longest
    ]
    return [(start, after) for start, after in gaps if (after - start).total_seconds() > longest]


def longest_usual(seconds: Sequence[float]) -> timedelta:
    """Return the time without a measurement from which on one is missing, from the times between all of them."""
    ordered = sorted(seconds)
    middle = median(ordered)
    near = middle * _REGULAR_WITHIN
    regular = bisect_right(ordered, middle + near) - bisect_left(ordered, middle - near)
    if regular * 2 >= len(ordered):
        return timedelta(seconds=middle * _LONGER_THAN_USUAL)
    # Between runs that people launch as they need them a pause of some hours is no gap.
    upper = quantiles(ordered, n=4, method="inclusive")[2]
    return max(timedelta(seconds=upper * _MUCH_LONGER_THAN_MOST), _LEAST_WITHOUT_RHYTHM)
