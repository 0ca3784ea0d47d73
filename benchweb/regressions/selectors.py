"""Read alerts, the changes of a series, and what a night gave."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Abs, Coalesce, JSONObject

from benchweb.accounts.models import Team
from benchweb.catalog.reasons import reason_of
from benchweb.common.rows import fetch
from benchweb.regressions.handling.snoozes import is_snoozed
from benchweb.regressions.judging.findings import changes_of
from benchweb.regressions.judging.histories import History, RunValue, histories
from benchweb.regressions.models import LIVE_STATES, Alert, AlertSeries, of_sample
from benchweb.regressions.outliers import NightOutlier, night_outliers
from benchweb.results.models import RunFigure, Series
from benchweb.runs.models import Run, State
from benchweb.runs.outcomes import IN_NIGHT, RunCounts
from benchweb.schedules.models import SKIPPED, Slot
from benchweb.schedules.timing.localtime import zone_of
from benchweb.statistics.changes import Change, smallest_detectable_change
from benchweb.statistics.deciding import LEAST_RUNS

# What a night rests on is told of at most so many series.
_MOST_SERIES = 500
# Of one host, the worst.
_MOST_OF_HOST = 50
# One has a cause of its own: a night of more is a night without a network.
MOST_ALERTS = 500
# No result is older; a day before the calendar's first has no beginning.
FIRST_NIGHT = date(2000, 1, 1)
# What nobody has dealt with: it is measured again, or went by itself.
_DAY = timedelta(days=1)
# What belongs to no environment is told in each: a slot that came to no run.
_COUNTED = f"""
SELECT false AS is_slot, state, runs AS number, NULL AS reason, NULL::jsonb AS reason_data FROM ({IN_NIGHT}) of_runs
UNION ALL
SELECT true, slot.state, count(*), (array_agg(slot.reason ORDER BY slot.at DESC))[1],
  (array_agg(slot.reason_data ORDER BY slot.at DESC))[1]
FROM schedules_slot slot
WHERE slot.at >= %(begins)s AND slot.at < %(ends)s AND (
  slot.campaign_id IS NULL OR EXISTS (
    SELECT FROM runs_run run JOIN hosts_pair pair ON pair.id = run.pair_id
      JOIN hosts_environment environment ON environment.id = pair.environment_id
    WHERE run.campaign_id = slot.campaign_id AND CASE WHEN %(environments)s::bigint[] IS NULL
      THEN NOT environment.is_synthetic ELSE environment.id = ANY(%(environments)s::bigint[]) END
  )
)
GROUP BY slot.state
"""  # noqa: S608  (statements of our own)
_SUSPECT_STATES = (Alert.State.SUSPECT, Alert.State.CONFIRMING)
_UNTOUCHED = (*_SUSPECT_STATES, Alert.State.RECOVERED)


@dataclass(frozen=True)
class AlertFilters:
    """The alerts that a list shows; without states those that are live."""

    states: tuple[str, ...] = LIVE_STATES
    environment: int | None = None
    host: int | None = None
    kind: str = ""
    night: date | None = None
    severity: str = ""
    plan: int | None = None
    # None: whether they are snoozed or not.
    snoozed: bool | None = None


@dataclass(frozen=True)
class SeriesChanges:
    """A series' changes within its window, each with the run that it begins with."""

    runs: int
    is_learning: bool
    changes: list[tuple[Change, RunValue]]
    smallest_detectable_change_ratio: float | None


@dataclass(frozen=True)
class NightFindings:
    """A night's alerts, and what "all quiet" rests on."""

    night: date
    begins: datetime
    ends: datetime
    begun: list[Alert]
    # Open ones of the nights before, that nobody has dealt with.
    still_open: list[Alert]
    recovered: list[Alert]
    # Suspects: not measured again yet, or to no end.
    unconfirmed: list[Alert]
    # Figures of environments that stand out, where no alert of the environment tells of it.
    outliers: list[NightOutlier]
    slots: int
    complete_slots: int
    # With the reason of the last of them.
    skipped_slots: int
    skip_reason: str
    runs: RunCounts
    # The median over the series measured, None where none has enough runs.
    smallest_detectable_change_ratio: float | None


@dataclass(frozen=True)
class NightZone:
    """The zone whose noons cut a night, and whether it is that of the night's schedules."""

    zone: ZoneInfo
    is_schedules: bool


def named_alerts() -> "QuerySet[Alert, Alert]":
    """Return alerts with all that names them."""
    pairs = ("pair__source__host", "pair__sink__host")
    return Alert.objects.select_related("environment", "host", "endpoint__host", "plan", "schedule", "assignee", *pairs)


def open_count() -> int:
    """Return how many alerts are open and not snoozed; of no sample."""
    measured = Alert.objects.alias(is_sample=of_sample()).filter(is_sample=False)
    return measured.filter(~is_snoozed(), state=Alert.State.OPEN).count()


def alerts() -> "QuerySet[Alert, Alert]":
    """Return alerts with all that names them, and how many series each has."""
    return named_alerts().annotate(series_count=Count("series"))


def alerts_of_host(host_id: int) -> list[Alert]:
    """Return the worst live alert of a measure that concerns a host, then those that began in the same night."""
    concerned = Q(host=host_id) | Q(series__series__pair__source__host=host_id)
    concerned |= Q(series__series__pair__sink__host=host_id)
    rows = named_alerts().filter(state__in=LIVE_STATES, pk__in=Alert.objects.filter(concerned).values("pk"))
    live = list(rows.exclude(kind=Alert.Kind.ABSENCE).order_by("-rank", "-pk")[:_MOST_OF_HOST])
    return [alert for alert in live if alert.night == live[0].night]


def alerts_matching(filters: AlertFilters) -> "QuerySet[Alert, Alert]":
    """Return the alerts that match; the caller orders and slices."""
    matching = alerts().filter(state__in=filters.states)
    named = {name: getattr(filters, name) for name in ("environment", "kind", "night", "severity", "plan")}
    matching = matching.filter(**{name: value for name, value in named.items() if value not in (None, "")})
    if filters.snoozed is not None:
        matching = matching.filter(is_snoozed() if filters.snoozed else ~is_snoozed())
    if filters.host is not None:
        of_pair = Q(pair__source__host=filters.host) | Q(pair__sink__host=filters.host)
        matching = matching.filter(Q(host=filters.host) | Q(endpoint__host=filters.host) | of_pair)
    return matching


def parts_named_first(alert: Alert) -> "QuerySet[AlertSeries, AlertSeries]":
    """Return an alert's series: those of the metric that names it first, the most changed first among each."""
    is_named = Q(series__kind=alert.params.get("kind", ""), series__metric=alert.params.get("metric", ""))
    ends = ("series__pair__source__host", "series__pair__sink__host")
    return alert.series.select_related(*ends).order_by(
        Case(When(is_named, then=Value(0)), default=Value(1)), Abs(F("difference_ratio")).desc(nulls_last=True), "pk"
    )


def series_changes(series_id: int) -> SeriesChanges | None:
    """Return a series' changes; None of a series that is not judged. One query."""
    history = next(iter(histories([series_id])), None)
    if history is None:
        return None
    changes = changes_of(history)
    since = changes[-1].index if changes else 0
    return SeriesChanges(
        runs=len(history.runs),
        is_learning=len(history.runs) < LEAST_RUNS,
        changes=[(change, history.runs[change.index]) for change in changes],
        smallest_detectable_change_ratio=_detectable_ratio(history, since),
    )


def night_environments(environment_id: int | None, team: Team | None) -> set[int] | None:
    """Return the environments that both leave, None for all: the one, and those in which the team has roles."""
    of_team = team.environment_ids() if team else None
    if environment_id is None:
        return of_team
    return {environment_id} if of_team is None else {environment_id} & of_team


def night_zone(night: date, environments: Collection[int] | None, *, otherwise: ZoneInfo) -> NightZone:
    """Return the zone that cuts a night: that of the schedules with slots around it, where it is one, else another.

    A schedule in UTC names no place where it is night. One query.
    """
    slots = _slots_around(night)
    if environments is not None:
        slots = slots.filter(_is_slot_within(environments))
    names = slots.values_list("schedule__timezone", flat=True).distinct()[:2]
    return _only_zone(list(names), otherwise)


def night_zones(night: date, environments: Collection[int], *, otherwise: ZoneInfo) -> dict[int, NightZone]:
    """Return the zone that cuts each environment's own night; one query for all of them."""
    slots = _slots_around(night).filter(Q(campaign=None) | Q(campaign__runs__pair__environment__in=environments))
    names: dict[int | None, set[str]] = defaultdict(set)
    for environment, name in slots.values_list("campaign__runs__pair__environment", "schedule__timezone").distinct():
        names[environment].add(name)
    return {pk: _only_zone(names[pk] | names[None], otherwise) for pk in environments}


def _slots_around(night: date) -> "QuerySet[Slot, Slot]":
    around = datetime.combine(night, time(12), UTC)
    slots = Slot.objects.filter(at__gte=around - 2 * _DAY, at__lt=around + _DAY).exclude(schedule__timezone="UTC")
    return slots.order_by()


def _only_zone(names: Collection[str], otherwise: ZoneInfo) -> NightZone:
    return NightZone(zone_of(next(iter(names))), True) if len(names) == 1 else NightZone(otherwise, False)


def _is_slot_within(environments: Collection[int]) -> Q:
    within = Run.objects.filter(campaign=OuterRef("campaign"), pair__environment__in=environments)
    return Q(campaign=None) | Q(Exists(within))


def night_of_date(night: date, environments: Collection[int] | None = None, zone: tzinfo = UTC) -> NightFindings:
    """Return what a night gave, in these environments or in all but samples: noon to noon in a zone, named by its end.

    What belongs to no environment is told in each: an alert of a host, a slot that came to no run.
    """
    # By its clocks: a night in which they are changed has an hour more, or less.
    begins, ends = (datetime.combine(day, time(12), zone).astimezone(UTC) for day in (night - _DAY, night))
    in_night = {"at__gte": begins, "at__lt": ends}
    figures = RunFigure.objects.filter(**in_night)
    matching_alerts = alerts()
    if environments is None:
        figures = figures.filter(series__pair__environment__is_synthetic=False)
        matching_alerts = matching_alerts.alias(is_sample=of_sample()).filter(is_sample=False)
    else:
        figures = figures.filter(series__pair__environment__in=environments)
        matching_alerts = matching_alerts.alias(of=Coalesce("environment_id", "pair__environment_id"))
        matching_alerts = matching_alerts.filter(Q(of=None) | Q(of__in=environments))
    ratios = _present_ratios(figures)
    counted = _counted(begins, ends, environments)
    is_begun = Q(begun_at__gte=begins, begun_at__lt=ends)
    still_open = Q(~is_snoozed(), begun_at__lt=begins, state=Alert.State.OPEN)
    is_back = Q(state=Alert.State.RECOVERED, ended_at__gte=begins, ended_at__lt=ends)
    # What later runs confirmed is told as an alert, what somebody took is known, and what went by itself is over.
    is_suspect = Q(is_begun, opened_at=None, state__in=_UNTOUCHED) & (
        Q(state__in=_SUSPECT_STATES) | ~Q(unconfirmed_code="")
    )
    is_told = Q(is_begun | still_open | is_back, opened_at__isnull=False)
    # Those of this night first: of a night of more the rest is cut off.
    is_earlier = Case(When(is_begun, then=Value(0)), default=Value(1))
    listed = matching_alerts.filter(is_told | is_suspect).order_by(is_earlier, "-size_ratio", "pk")
    told: list[Alert] = list(listed[: 2 * MOST_ALERTS])
    opened = [alert for alert in told if alert.opened_at is not None]
    back = [alert for alert in opened if alert.ended_at and begins <= alert.ended_at < ends]
    return NightFindings(
        night=night,
        begins=begins,
        ends=ends,
        begun=[alert for alert in opened if alert.begun_at >= begins][:MOST_ALERTS],
        still_open=[alert for alert in opened if alert.begun_at < begins and alert.ended_at is None][:MOST_ALERTS],
        recovered=[alert for alert in back if alert.state == Alert.State.RECOVERED][:MOST_ALERTS],
        unconfirmed=[alert for alert in told if alert.opened_at is None][:MOST_ALERTS],
        outliers=_outliers(night, environments, opened),
        slots=sum(row.number for row in counted if row.is_slot),
        complete_slots=sum(row.number for row in counted if row.is_slot and row.state == State.FINISHED),
        skipped_slots=skipped.number if (skipped := _skipped(counted)) else 0,
        skip_reason=reason_of(skipped.reason or "", skipped.reason_data) if skipped else "",
        runs=RunCounts({row.state: row.number for row in counted if not row.is_slot}),
        smallest_detectable_change_ratio=median(ratios) if ratios else None,
    )


def _outliers(night: date, environments: Collection[int] | None, opened: Iterable[Alert]) -> list[NightOutlier]:
    figures = [alert for alert in opened if alert.code != "slot"]
    is_told = {alert.environment_id or (alert.pair.environment_id if alert.pair else None) for alert in figures}
    return [each for each in night_outliers(night, environments) if each.environment_id not in is_told]


class _Counted(NamedTuple):
    """A night's slots or runs in one state, of slots with the reason of the last."""

    is_slot: bool
    state: str
    number: int
    reason: str | None
    reason_data: dict[str, Any] | None


def _counted(begins: datetime, ends: datetime, environments: Collection[int] | None) -> list[_Counted]:
    """Count a night's slots and runs by state; one query."""
    values = {"begins": begins, "ends": ends, "environments": None if environments is None else list(environments)}
    return fetch(_Counted, _COUNTED, values)


def _skipped(counted: Iterable[_Counted]) -> _Counted | None:
    return next((row for row in counted if row.is_slot and row.state == SKIPPED), None)


def _present_ratios(figures: "QuerySet[RunFigure, RunFigure]") -> list[float]:
    """Return what the series with these figures can show now: by the noise of the latest level long enough to tell it.

    Levels are those that alerts know: to look for changes again would take a page of many series a second.
    """
    parts = AlertSeries.objects.filter(series=OuterRef("pk"), threshold=None)
    bounds = ArraySubquery(parts.values(runs=JSONObject(bad="first_bad_run", recovered="recovered_run")))
    measured = Series.objects.filter(pk__in=figures.order_by().values("series").distinct()[:_MOST_SERIES])
    boundaries = dict(measured.order_by().annotate(bounds=bounds).values_list("pk", "bounds"))
    ratios = (
        _present_ratio(history, {run or 0 for part in boundaries[history.series_id] for run in part.values()})
        for history in histories(boundaries, has_canaries=False)
    )
    return [ratio for ratio in ratios if ratio is not None]


def _present_ratio(history: History, boundaries: Collection[int]) -> float | None:
    places = {history.places[run_id] for run_id in boundaries if run_id in history.places}
    ends = [0, *sorted(places - {0}), len(history.runs)]
    ratios = (
        smallest_detectable_change(history.values[start:end], floor=history.floor_ratio)
        for start, end in reversed(list(pairwise(ends)))
    )
    return next((ratio for ratio in ratios if ratio is not None), None)


def _detectable_ratio(history: History, since: int) -> float | None:
    return smallest_detectable_change(history.values, floor=history.floor_ratio, since=since)


def environments_of_alert(*, alert_id: int, **_: object) -> Iterable[int | None]:
    """Return the environment of the alert that an address names, read when it matters; None of several."""
    return environments_of_alerts([alert_id])


def environments_of_alerts(alert_ids: Collection[int]) -> Iterable[int | None]:
    """Return the environments of alerts, read when it matters; None of those about several."""
    environment = Coalesce("environment_id", "pair__environment_id")
    return Alert.objects.filter(pk__in=alert_ids).values_list(environment, flat=True).distinct()
