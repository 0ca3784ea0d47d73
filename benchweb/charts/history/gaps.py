"""Where a line must break: runs that gave nothing, slots that were missed, and silences longer than usual."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from operator import attrgetter, itemgetter, sub
from statistics import median, quantiles
from typing import Any, NamedTuple

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from benchweb.catalog.reasons import reason_of
from benchweb.catalog.translation import reason_text
from benchweb.charts.history.lines import HistoryLine, LinePair, keys_of_versions
from benchweb.charts.history.points import Step
from benchweb.charts.spec import Measured
from benchweb.common.rows import fetch_all, literals
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
# Of a point as it was measured: each a column of hundreds of rows.
_STARTED_AT, _OF_RUN = itemgetter(0), itemgetter(-1)

# Runs by pair at the time of their turn, which they may wait for long; then the slots that never had a campaign, with
# their schedule's target and its plan's latest version.
_SQL = """
(SELECT coalesce(r.started_at, r.planned_at, r.created_at), r.id, r.pair_id, r.plan_version_id,
  r.state, r.reason, r.reason_data, NULL::jsonb
FROM runs_run r {joined}
WHERE r.pair_id = ANY(%(pairs)s) AND r.state IN ({states})
  AND r.created_at >= %(first)s - interval '7 days' AND r.created_at <= %(last)s
  AND coalesce(r.started_at, r.planned_at, r.created_at) BETWEEN %(first)s AND %(last)s {of_runs}
ORDER BY r.id DESC LIMIT %(most_events)s)
UNION ALL
(SELECT s.at, NULL, c.id,
  (SELECT v.id FROM plans_planversion v WHERE v.plan_id = c.plan_id ORDER BY v.number DESC LIMIT 1),
  s.state, s.reason, s.reason_data, c.target
FROM schedules_slot s JOIN schedules_schedule c ON c.id = s.schedule_id
WHERE s.campaign_id IS NULL AND s.state IN ({states}) AND s.at >= %(first)s AND s.at <= %(last)s {of_slots}
ORDER BY s.at DESC LIMIT %(most_events)s)
"""


# Tuples, which take a third of the time to make: a year has hundreds.
class Event(NamedTuple):
    """A run or a slot that gave no result; `keys` are the kinds and identities that it should have measured."""

    at: datetime
    pair: int
    run: int | None
    keys: frozenset[tuple[str, str]]
    state: str
    cause: str


_event = partial(tuple.__new__, Event)

# Where a run's number goes; PostgreSQL stores no such character.
_RUN = "\0"


@lru_cache(maxsize=1_024)
def _reason(state: str, cause: str, is_slot: bool, _language: str | None) -> str:
    """Keep what was said: a year's runs give nothing for the same few reasons."""
    if is_slot:
        words = _("slot %(state)s") % {"state": state_word(state)}
    else:
        words = _("run %(run)s %(state)s") % {"run": _RUN, "state": state_word(state)}
    return _("{state}: {reason}").format(state=words, reason=reason_text(cause)) if cause else words


class Break(NamedTuple):
    """A place where nothing was measured, and why."""

    at: datetime
    reason: str
    href: str = ""


_broken = partial(tuple.__new__, Break)


def _break(at: datetime, run: int | None, state: str, cause: str, language: str | None) -> Break:
    """Say what came of an event and why, only when it breaks a line, which most don't; in the language at work."""
    words = _reason(state, cause, run is None, language)
    return _broken((at, words, "") if run is None else (at, words.replace(_RUN, str(run)), f"/runs/{run}"))


def events_between(lines: Sequence[HistoryLine], shown: tuple[datetime, datetime], plan: int | None) -> list[Event]:
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
        "first": shown[0],
        "last": shown[1],
        "plan": plan,
        "most_events": _MOST_EVENTS,
    }
    found = fetch_all(statement, values)
    keys = keys_of_versions({row[3] for row in found if row[3]})
    none: frozenset[tuple[str, str]] = frozenset()
    events = []
    meant: dict[int, list[int]] = {}
    for at, run, pair_or_schedule, version, state, text, data, target in found:
        reason = reason_of(text, data)
        known = keys.get(version or 0, none)
        if run is not None:
            events.append(_event((at, pair_or_schedule, run, known, state, reason)))
            continue
        if pair_or_schedule not in meant:
            told = target
            meant[pair_or_schedule] = [pk for pk, pair in pairs.items() if targets(told, pair)]
        events += [_event((at, pk, None, known, state, reason)) for pk in meant[pair_or_schedule]]
    return sorted(events, key=itemgetter(0))


def break_of(event: Event) -> Break:
    """Say what came of an event and why, in the language at work."""
    return _break(event.at, event.run, event.state, event.cause, get_language())


def breaks(points: Sequence[Measured], events: Iterable[Event], step: Step) -> list[Break]:
    """Return the places between and around a line's points where it must break; events are in order of time.

    What gave nothing within the step of a point is no break: that step has its median.
    """
    starts, measured = [*map(_STARTED_AT, points)], {*map(_OF_RUN, points)}
    language = get_language()
    found = []
    for at, _pair, run, _keys, state, cause in events:
        if run not in measured and not _is_covered(at, starts, step):
            found.append(_break(at, run, state, cause, language))
    said_at = [each.at for each in found]
    for start, after in _silences(starts, step):
        before = start + step.covered
        index = bisect_right(said_at, before)
        if index == len(said_at) or said_at[index] >= after:
            found.append(Break(before + (after - before) / 2, _("nothing measured in this time range")))
    return sorted(found, key=attrgetter("at"))


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
    found = [
        (step.begin(starts[index]), step.begin(starts[index + 1]))
        for index, apart in enumerate(seconds)
        if apart > longest
    ]
    return [(start, after) for start, after in found if (after - start).total_seconds() > longest]


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
