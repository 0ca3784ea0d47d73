"""Schedules that give no complete results, or are late."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Max, Q, QuerySet

from benchweb.common.rows import database_now, fetch
from benchweb.hosts.models import Endpoint, Pair
from benchweb.regressions.absence.alerts import LOOK_BACK_DAYS, MOST_REASON, end_where, live_alerts, open_once
from benchweb.regressions.absence.endpoints import open_unreachable
from benchweb.regressions.deciding import LATEST_SLOTS, SKIPPED_SLOTS, UNBEGUN_AFTER, UNCLAIMED_AFTER
from benchweb.regressions.judging.causes import common_causes, common_host
from benchweb.regressions.judging.grouping import have_same_hosts
from benchweb.regressions.judging.slots import pairs_by_cause
from benchweb.regressions.models import Alert
from benchweb.runs.models import OPEN_STATES, Run, State
from benchweb.schedules.models import SKIPPED, Schedule, Slot
from benchweb.schedules.targets import resolved_target

# How runs end that give no complete result.
_INCOMPLETE = (State.FAILED, State.NONSTART, State.CANCELLED)

# Each schedule's slots without complete results since its last complete one.
_STRETCHES = """
    SELECT slot.schedule_id, count(*) AS slots, min(slot.at) AS first_at, max(complete.at) AS complete_at,
      (array_agg(slot.id ORDER BY slot.at))[1] AS first_slot_id,
      (array_agg(slot.id ORDER BY slot.at DESC))[1] AS last_slot_id, max(slot.at) AS last_at,
      (array_agg(slot.reason ORDER BY slot.at DESC))[1] AS reason
    FROM schedules_slot slot
    JOIN schedules_schedule schedule ON schedule.id = slot.schedule_id AND schedule.archived_at IS NULL
    LEFT JOIN LATERAL (
      SELECT max(at) AS at FROM schedules_slot WHERE schedule_id = slot.schedule_id AND state = 'finished'
    ) complete ON true
    WHERE slot.state IN ('failed', 'nonstart', 'missed') AND slot.at > %(since)s
      AND slot.at > coalesce(complete.at, '-infinity')
    GROUP BY slot.schedule_id
"""
# How many of each schedule's latest slots were skipped, and why the last of them was.
_SKIPPED = """
    SELECT schedule_id, count(*) AS slots, count(*) FILTER (WHERE state = 'skipped') AS skipped,
      min(at) FILTER (WHERE state = 'skipped') AS first_at,
      coalesce((array_agg(reason ORDER BY at DESC) FILTER (WHERE state = 'skipped'))[1], '') AS reason
    FROM (
      SELECT slot.schedule_id, slot.at, slot.state, slot.reason,
        row_number() OVER (PARTITION BY slot.schedule_id ORDER BY slot.at DESC) AS place
      FROM schedules_slot slot
      JOIN schedules_schedule schedule ON schedule.id = slot.schedule_id AND schedule.archived_at IS NULL
      WHERE slot.at > %(since)s AND NOT slot.is_extra AND slot.state NOT IN ('pending', 'running')
    ) latest WHERE place <= %(most)s GROUP BY schedule_id
"""


class _SkippedSlots(NamedTuple):
    schedule_id: int
    slots: int
    skipped: int
    first_at: datetime | None
    reason: str


class _Place(NamedTuple):
    """Where all that a slot lacks was to be measured: on one host, on one pair (in `pairs` directions), or neither."""

    host_id: int | None = None
    pair_id: int | None = None
    pairs: int = 0


_NO_PLACE = _Place()


class _Stretch(NamedTuple):
    schedule_id: int
    slots: int
    first_at: datetime
    complete_at: datetime | None
    first_slot_id: int
    last_slot_id: int
    last_at: datetime
    reason: str


def slots_without_results() -> list[Alert]:
    """Open an alert for each schedule whose latest slots gave no complete results; end those of which one did."""
    complete = dict(
        Slot.objects.filter(state=State.FINISHED, schedule__in=[alert.schedule_id for alert in live_alerts("slot")])
        .order_by()
        .values_list("schedule")
        .annotate(last=Max("at"))
    )
    end_where(
        live_alerts("slot"), lambda alert: (at := complete.get(alert.schedule_id)) is not None and at > alert.begun_at
    )
    since = database_now() - timedelta(days=LOOK_BACK_DAYS)
    return [alert for row in fetch(_Stretch, _STRETCHES, {"since": since}) for alert in _stretch_alerts(row)]


def late_schedules() -> list[Alert]:
    """Open an alert for each schedule whose time passed without a slot, or whose slot has not begun."""
    now = database_now()
    end_where(live_alerts("late"), lambda alert: not _is_late(alert, now))
    late = Schedule.objects.filter(paused_at=None, archived_at=None, next_at__lt=now - UNCLAIMED_AFTER)
    alerts = [
        open_once(
            code="late",
            key=f"{schedule.pk}:{schedule.next_at:%Y%m%dT%H%M%S}",
            begun_at=schedule.next_at,
            schedule=schedule,
            plan_id=schedule.plan_id,
        )
        for schedule in late
        if schedule.next_at is not None
    ]
    alerts += [
        open_once(
            code="late",
            key=f"slot:{slot.pk}",
            begun_at=slot.at,
            schedule=slot.schedule,
            plan_id=slot.schedule.plan_id,
            params={"slot": slot.pk},
        )
        for slot in _unbegun_slots(now).select_related("schedule")
    ]
    return [alert for alert in alerts if alert]


def skipping_schedules() -> list[Alert]:
    """Open an alert for each schedule that skips slots again and again; end those of which none was of late."""
    since = database_now() - timedelta(days=LOOK_BACK_DAYS)
    rows = {row.schedule_id: row for row in fetch(_SkippedSlots, _SKIPPED, {"since": since, "most": LATEST_SLOTS})}
    end_where(
        live_alerts("skipped"), lambda alert: (row := rows.get(alert.schedule_id or 0)) is None or not row.skipped
    )
    return [alert for row in rows.values() if row.skipped >= SKIPPED_SLOTS and (alert := _skipping_alert(row))]


def _skipping_alert(row: _SkippedSlots) -> Alert | None:
    if row.first_at is None:
        return None
    params = {"skipped": row.skipped, "slots": row.slots, "reason": row.reason[:MOST_REASON]}
    if Alert.objects.filter(code="skipped", schedule=row.schedule_id, ended_at=None).update(params=params):
        return None
    # What somebody took as it is stays so until no slot is skipped for a while.
    latest = Alert.objects.filter(code="skipped", schedule=row.schedule_id).order_by("-pk").first()
    if latest is not None and latest.state != Alert.State.RECOVERED and not _has_kept_up(latest):
        return None
    schedule = Schedule.objects.get(pk=row.schedule_id)
    return open_once(
        code="skipped",
        key=f"{row.schedule_id}:{row.first_at:%Y%m%dT%H%M%S}",
        begun_at=row.first_at,
        schedule=schedule,
        plan_id=schedule.plan_id,
        params=params,
    )


def _has_kept_up(alert: Alert) -> bool:
    """Tell whether a schedule skipped none of so many slots in a row since an alert ended."""
    slots = Slot.objects.filter(schedule=alert.schedule_id, at__gt=alert.ended_at, is_extra=False)
    in_row = 0
    for state in slots.exclude(state__in=OPEN_STATES).order_by("at").values_list("state", flat=True):
        in_row = 0 if state == SKIPPED else in_row + 1
        if in_row == LATEST_SLOTS:
            return True
    return False


def _stretch_alerts(row: _Stretch) -> list[Alert]:
    """Open the alert of a stretch, or write how long that has grown whose alert there is.

    What hosts that don't answer explain is these hosts' alert, which opens at once: the slot is what is missing.
    """
    params = {"slots": row.slots, "reason": row.reason[:MOST_REASON], "last_slot": row.last_slot_id}
    same = Alert.objects.filter(code="slot", schedule=row.schedule_id)
    if row.complete_at is not None:
        same = same.filter(begun_at__gt=row.complete_at)
    if (alert := same.order_by("-pk").first()) is not None:
        place = _Place(alert.host_id, alert.pair_id, alert.params.get("pairs", 0))
        if place != _NO_PLACE and alert.params.get("last_slot") != row.last_slot_id:
            latest = _place_of(row.last_slot_id)
            place = latest if latest[:2] == place[:2] else _NO_PLACE
        fields = {"host": place.host_id, "pair": place.pair_id, "params": params | {"pairs": place.pairs}}
        Alert.objects.filter(pk=alert.pk, ended_at=None).update(**fields)
        return []
    schedule = Schedule.objects.get(pk=row.schedule_id)
    if silent := _silent_ends(schedule, row.last_slot_id):
        opened = [alert for endpoint in silent if (alert := open_unreachable(endpoint))]
        for alert in Alert.objects.filter(code="unreachable", endpoint__in=silent, ended_at=None):
            slots = {**alert.params.get("slots_by_schedule", {}), str(schedule.pk): row.slots}
            Alert.objects.filter(pk=alert.pk).update(params={**alert.params, "slots_by_schedule": slots})
        return opened
    if _was_hosts_fault(row):
        return []
    # Of several slots that are told at once the first may have lacked something else.
    place = _place_of(row.last_slot_id) if row.slots == 1 else _NO_PLACE
    alert = open_once(
        code="slot",
        key=f"{row.schedule_id}:{row.first_slot_id}",
        begun_at=row.first_at,
        schedule=schedule,
        plan_id=schedule.plan_id,
        host_id=place.host_id,
        pair_id=place.pair_id,
        params=params | {"pairs": place.pairs},
    )
    return [alert] if alert else []


def _place_of(slot_id: int) -> _Place:
    """Return the one host or pair that explains which runs of a slot gave no complete result, others having given it.

    Neither where all lack, or several hosts would have to be at fault at once.
    """
    runs = Run.objects.filter(campaign__slot=slot_id)
    pairs = list(Pair.objects.filter(runs__in=runs).select_related("source__host", "sink__host").order_by("pk"))
    lacking = set(runs.filter(state__in=_INCOMPLETE).values_list("pair", flat=True))
    groups = pairs_by_cause(lacking, pairs) if len(lacking) < len(pairs) else []
    its = [pair for pair in pairs if pair.pk in groups[0]] if len(groups) == 1 else []
    if its and have_same_hosts(its):
        return _Place(pair_id=its[0].pk, pairs=len(its))
    host_id = common_host(common_causes(its))
    return _Place(host_id=host_id, pairs=len(its)) if host_id else _NO_PLACE


def _silent_ends(schedule: Schedule, slot_id: int) -> list[Endpoint]:
    """Return the endpoints that don't answer where these explain all that a slot lacks; else none."""
    campaign = Slot.objects.values_list("campaign", flat=True).get(pk=slot_id)
    lacking = Pair.objects.filter(runs__in=Run.objects.filter(campaign=campaign, state__in=_INCOMPLETE))
    ends = ("source__host", "sink__host")
    pairs = lacking.select_related(*ends) if campaign else resolved_target(schedule.target).pairs
    silent: dict[int, Endpoint] = {}
    for pair in pairs:
        its = [end for end in (pair.source, pair.sink) if end.unreachable_since is not None]
        if not its:
            return []
        silent |= {end.pk: end for end in its}
    return list(silent.values())


def _was_hosts_fault(row: _Stretch) -> bool:
    """Tell whether the latest of a stretch's slots was one that hosts explain which answer again."""
    # One that answers again since alerts were ended is ended next.
    is_back = Q(ended_at__gte=row.last_at) | Q(ended_at=None, endpoint__unreachable_since=None)
    alerts = Alert.objects.filter(is_back, code="unreachable")
    return alerts.filter(params__slots_by_schedule__has_key=str(row.schedule_id)).exists()


def _unbegun_slots(now: datetime) -> "QuerySet[Slot, Slot]":
    since = now - timedelta(days=LOOK_BACK_DAYS)
    late = Q(state=State.PENDING, at__lt=now - UNBEGUN_AFTER, at__gt=since)
    return Slot.objects.filter(late, schedule__archived_at=None, schedule__paused_at=None)


def _is_late(alert: Alert, now: datetime) -> bool:
    schedule, slot_id = alert.schedule, alert.params.get("slot")
    if schedule is None or schedule.paused_at is not None or schedule.archived_at is not None:
        return False
    if slot_id is not None:
        return _unbegun_slots(now).filter(pk=slot_id).exists()
    return schedule.next_at is not None and schedule.next_at <= alert.begun_at
