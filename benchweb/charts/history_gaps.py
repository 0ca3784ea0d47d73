"""Where a line must break: runs that gave nothing, slots that were missed, and silences longer than usual."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median, quantiles
from typing import Any

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext as _

from benchweb.charts.history_points import PointRow
from benchweb.charts.history_series import HistoryLine
from benchweb.charts.plan_keys import keys_of_versions
from benchweb.hosts.models import Pair
from benchweb.plans.models import PlanVersion
from benchweb.runs.models import Run, State
from benchweb.schedules.models import Slot

# Of what is measured regularly, a silence of nearly two intervals is a measurement that is missing.
_LONGER_THAN_USUAL = 1.75
# Half of the intervals within this share of their median is regular; nobody knows when the rest would be due.
_REGULAR_WITHIN = 0.3
_MUCH_LONGER_THAN_MOST = 4
_FEWEST_TO_KNOW = 3
_MOST_EVENTS = 1_000
_WITHOUT_RESULT = (State.FAILED, State.NONSTART, State.MISSED, State.CANCELLED)


@dataclass(frozen=True)
class Event:
    """A run or a slot that gave no result; `keys` are the kinds and identities that it should have measured."""

    at: datetime
    pair: int
    run: int | None
    keys: frozenset[tuple[str, str]]
    reason: str
    href: str


@dataclass(frozen=True)
class Break:
    """A place where nothing was measured, and why."""

    at: datetime
    reason: str
    href: str = ""


def events_between(lines: Sequence[HistoryLine], shown: tuple[datetime, datetime], plan: int | None) -> list[Event]:
    """Give what gave no result on these lines' pairs; two queries, and one for plan versions new to this process."""
    pairs = {line.pair.pk: line.pair for line in lines}
    if not pairs:
        return []
    runs = list(_runs(pairs, shown, plan))
    slots = list(_slots(shown, plan))
    wanted = {row["plan_version_id"] for row in runs} | {slot.version for slot in slots}  # type: ignore[attr-defined]
    keys = keys_of_versions(pk for pk in wanted if pk)
    none: frozenset[tuple[str, str]] = frozenset()
    events = [
        Event(
            at=row["at"],
            pair=row["pair_id"],
            run=row["pk"],
            keys=keys.get(row["plan_version_id"], none),
            reason=_run_words(row),
            href=reverse("web:run", args=[row["pk"]]),
        )
        for row in runs
    ]
    events += [
        Event(slot.at, pair.pk, None, keys.get(slot.version, none), _slot_words(slot), "")  # type: ignore[attr-defined]
        for slot in slots
        for pair in pairs.values()
        if targets(slot.schedule.target, pair)
    ]
    return sorted(events, key=lambda event: event.at)


def breaks(points: Sequence[PointRow], events: Iterable[Event], covered: timedelta) -> list[Break]:
    """Give the places between and around a line's points where it must break; events are in order of time."""
    measured = {point.run for point in points}
    spans = [(point.at, point.at + covered) for point in points]
    starts = [point.at for point in points]
    found = []
    for event in events:
        place = bisect_right(starts, event.at) - 1
        is_covered = place >= 0 and event.at <= spans[place][1]
        if not is_covered and event.run not in measured:
            found.append(Break(event.at, event.reason, event.href))
    usual = _longest_usual(points, covered)
    for (_begin, before), (after, _end) in pairwise(spans):
        if usual is None or after - before <= usual:
            continue
        if not any(before < each.at < after for each in found):
            found.append(Break(before + (after - before) / 2, _("nothing was measured in this time")))
    return sorted(found, key=lambda each: each.at)


def targets(target: Mapping[str, Any], pair: Pair) -> bool:
    """Tell whether a schedule's target takes in a pair, by what is at hand of the pair; no query."""
    ((form, value),) = target.items()
    hosts = (pair.source.host, pair.sink.host)
    if form == "pairs":
        return pair.pk in value
    if form == "environment":
        return bool(pair.environment_id == value)
    if form == "label":
        return all(value in host.labels for host in hosts)
    if value.get("environment", pair.environment_id) != pair.environment_id:
        return False
    if "endpoints" in value:
        return {pair.source_id, pair.sink_id} <= set(value["endpoints"])
    return pair.source.network_mode in value["source_modes"] and pair.sink.network_mode in value["sink_modes"]


def _runs(pairs: Mapping[int, Pair], shown: tuple[datetime, datetime], plan: int | None) -> Iterable[Any]:
    rows = Run.objects.filter(pair__in=pairs, state__in=_WITHOUT_RESULT, created_at__range=shown)
    if plan is not None:
        rows = rows.filter(plan_version__plan=plan)
    at = Coalesce("started_at", "planned_at", "created_at")
    return (
        rows.annotate(at=at)
        .order_by("-pk")
        .values("pk", "pair_id", "plan_version_id", "state", "reason", "at")[:_MOST_EVENTS]
    )


def _slots(shown: tuple[datetime, datetime], plan: int | None) -> Iterable[Slot]:
    """Give the slots that never had a campaign, with their schedule and its plan's latest version."""
    rows = Slot.objects.filter(campaign=None, state__in=_WITHOUT_RESULT, at__range=shown)
    if plan is not None:
        rows = rows.filter(schedule__plan=plan)
    latest = PlanVersion.objects.filter(plan=OuterRef("schedule__plan")).order_by("-number")
    return (
        rows.select_related("schedule")
        .annotate(version=Subquery(latest.values("pk")[:1]))
        .order_by("-at")[:_MOST_EVENTS]
    )


def _run_words(row: dict[str, Any]) -> str:
    words = _("run %(run)s %(state)s") % {"run": row["pk"], "state": row["state"]}
    return f"{words}: {row['reason']}" if row["reason"] else words


def _slot_words(slot: Slot) -> str:
    words = _("slot %(state)s") % {"state": slot.state}
    return f"{words}: {slot.reason}" if slot.reason else words


def _longest_usual(points: Sequence[PointRow], covered: timedelta) -> timedelta | None:
    """Give the time without a measurement from which on one is missing; None for too few points to know."""
    if len(points) < _FEWEST_TO_KNOW:
        return None
    seconds = [(after.at - before.at).total_seconds() for before, after in pairwise(points)]
    middle = median(seconds)
    regular = sum(abs(each - middle) <= middle * _REGULAR_WITHIN for each in seconds)
    if regular * 2 >= len(seconds):
        longest = timedelta(seconds=middle * _LONGER_THAN_USUAL)
    else:
        upper = quantiles(seconds, n=4, method="inclusive")[2]
        longest = timedelta(seconds=upper * _MUCH_LONGER_THAN_MOST)
    # Between points that stand for days, the day itself is no silence.
    return longest - covered
