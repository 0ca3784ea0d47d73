"""Move series from alert to alert: all of one to another, or some to a new one."""

import uuid
from collections.abc import Collection

from django.contrib.auth.models import User
from django.utils import timezone

from benchweb.regressions.models import Alert, AlertSeries, AlertTransition
from benchweb.regressions.transitions import record

State, Action = Alert.State, AlertTransition.AlertAction


def join_alert(source: Alert, target: Alert, *, by: User | None = None, comment: str = "") -> bool:
    """Move all of an alert's series to another one, and end it; the caller describes the other.

    False, with nothing written, where somebody ended one of them since they were read, or dealt with the first.
    """
    live = Alert.objects.select_for_update().filter(pk__in=(source.pk, target.pk), ended_at=None)
    locked = {alert.pk: alert for alert in live.order_by("pk")}
    if len(locked) < 2 or locked[source.pk].state != source.state:
        return False
    source, target = locked[source.pk], locked[target.pk]
    AlertSeries.objects.filter(alert=source).update(alert=target)
    before, source.state, source.ended_at, source.merged_into = source.state, State.MERGED, timezone.now(), target
    source.save(update_fields=["state", "ended_at", "merged_into"])
    if source.begun_at < target.begun_at:
        target.begun_at, target.night = source.begun_at, source.night
        target.save(update_fields=["begun_at", "night"])
    record(source, Action.MERGED, before, by, comment, params={"into": target.pk})
    record(target, Action.MERGED, target.state, by, comment, params={"from": source.pk})
    return True


def part_off(
    alert: Alert, parts: Collection[AlertSeries], *, state: str = "", by: User | None = None, comment: str = ""
) -> Alert:
    """Move some of an alert's series to a new one of the same state, or a given one; return that.

    The parts come with their series' pairs; the caller has locked the alert, and describes both. No re-run of the other
    is waited for by the new one.
    """
    state = state or (State.SUSPECT if alert.state == State.CONFIRMING else alert.state)
    first = next(iter(parts)).series.pair
    new = Alert.objects.create(
        kind=alert.kind,
        state=state,
        code=alert.code,
        environment_id=first.environment_id,
        pair=first,
        plan=alert.plan,
        schedule=alert.schedule,
        begun_at=alert.begun_at,
        night=alert.night,
        segment_key=f"split:{alert.pk}:{uuid.uuid4().hex}",
        created_at=timezone.now(),
        # People were told of it with the alert that it was part of.
        opened_at=None if state == State.SUSPECT else alert.opened_at,
        assignee=alert.assignee,
    )
    AlertSeries.objects.filter(pk__in=[part.pk for part in parts]).update(alert=new)
    record(alert, Action.SPLIT, alert.state, by, comment, params={"into": new.pk})
    record(new, Action.SPLIT, "", by, comment, params={"from": alert.pk}, announced=False)
    return new
