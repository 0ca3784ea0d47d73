"""Hide a live alert until a time, or until it gets worse."""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.regressions.deciding import WORSE_FACTOR, WORSE_RATIO
from benchweb.regressions.models import Alert, AlertTransition
from benchweb.regressions.transitions import AlertError, change, record

# What severities are apart by in an alert's rank.
_SEVERITY_STEP = 10.0
Action = AlertTransition.AlertAction


def is_snoozed() -> Q:
    """Return what holds for the alerts that are hidden now, of those that are live."""
    by_rank = Q(snoozed_until=None, snoozed_rank__isnull=False)
    return Q(ended_at=None) & (Q(snoozed_until__gt=timezone.now()) | by_rank)


def snooze(
    *,
    alert_id: int,
    by: User | None,
    until: datetime | None = None,
    until_worse: bool = False,
    comment: str = "",
) -> None:
    """Hide a live alert until a time, until it gets worse, or until the first of both."""
    if until is None and not until_worse:
        raise AlertError("until", _("A snooze has an end: give a time, or until it gets worse."))
    if until is not None and until <= timezone.now():
        raise AlertError("until", _("The snooze ends before now: give a later time."))
    params = {"until": until.isoformat() if until else None, "until_worse": until_worse}
    with change(alert_id) as alert:
        alert.snoozed_until = until
        alert.snoozed_rank = alert.rank if until_worse else None
        record(alert, Action.SNOOZED, alert.state, by, comment, params=params)


def wake(*, alert_id: int, by: User | None, comment: str = "") -> None:
    """End the snooze of a live alert before its time."""
    with change(alert_id) as alert:
        if not alert.is_snoozed:
            raise AlertError("", _("Alert {alert_id} is not snoozed.").format(alert_id=alert_id))
        _end_snooze(alert, by, comment)


def wake_if_worse(alert_id: int) -> bool:
    """End the snooze of an alert that is worse than when it was snoozed, and tell people; True when it was."""
    if not Alert.objects.filter(is_snoozed(), pk=alert_id, snoozed_rank__isnull=False).exists():
        return False
    with change(alert_id, even_ended=True) as alert:
        if alert.snoozed_rank is None or not alert.is_snoozed or not _is_worse(alert.snoozed_rank, alert.rank):
            return False
        params = {"size_ratio": alert.size_ratio, "severity": alert.severity}
        _end_snooze(alert, None, "", params=params, announced=True)
    return True


def _end_snooze(alert: Alert, by: User | None, comment: str, **more: Any) -> None:
    alert.snoozed_until = alert.snoozed_rank = None
    record(alert, Action.WOKEN, alert.state, by, comment, **more)


def _is_worse(before: float, now: float) -> bool:
    (severity, size), (severity_now, size_now) = divmod(before, _SEVERITY_STEP), divmod(now, _SEVERITY_STEP)
    if severity != severity_now:
        return severity_now > severity
    return size_now >= max(size * WORSE_FACTOR, size + WORSE_RATIO)
