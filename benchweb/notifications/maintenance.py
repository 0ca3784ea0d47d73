"""Tell once what maintenance had muted and goes on after it; and which maintenance there was about an alert."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from benchweb.hosts.models import Host
from benchweb.labels import with_label
from benchweb.notifications.alerts import occasion, tell_again
from benchweb.notifications.models import Delivery, MaintenanceWindow
from benchweb.regressions.deciding import VERDICT_LOOK_BACK
from benchweb.regressions.models import Alert, AlertTransition
from benchweb.regressions.selectors import named_alerts
from benchweb.regressions.why.possible import MaintenanceSpan

# What ended longer ago, while nothing ran, is no news.
_LOOK_BACK = timedelta(days=1)
# What makes an alert open, and not only happens to it while it is.
_OPENING = (AlertTransition.AlertAction.FOUND, AlertTransition.AlertAction.MOVED)

# Of so many windows of two months, the newest.
_MOST_WINDOWS = 200


def maintenance_about(alerts: Sequence[Alert]) -> list[MaintenanceSpan]:
    """Return the maintenance that began in the two months before alerts, or in the time since: newest first.

    Hosts of a label are those that have it now. Two queries, and one for each label.
    """
    begun = [alert.begun_at for alert in alerts]
    began = MaintenanceWindow.objects.filter(begins_at__range=(min(begun) - VERDICT_LOOK_BACK, timezone.now()))
    # What was taken back before it began was none.
    there = began.filter(Q(archived_at=None) | Q(archived_at__gt=F("begins_at"))).select_related("host")
    windows = list(there.order_by("-begins_at", "-pk")[:_MOST_WINDOWS])
    labelled = {
        label: dict(with_label(Host.objects.all(), label).values_list("pk", "name"))
        for label in sorted({window.host_label for window in windows} - {""})
    }
    return [
        MaintenanceSpan(
            window.name,
            window.begins_at,
            labelled.get(window.host_label) or ({window.host.pk: window.host.name} if window.host else {}),
            window.environment_id,
        )
        for window in windows
    ]


def tell_what_lasts() -> int:
    """Tell of the alerts that opened within maintenance that is over, and are open; return how many messages."""
    now = timezone.now()
    # Archived, it ends there and then.
    ended = MaintenanceWindow.objects.filter(Q(ends_at__lte=now) | Q(archived_at__isnull=False), told_at=None)
    return sum(_tell_after(window) for window in ended.order_by("ends_at", "pk"))


@transaction.atomic
def _tell_after(window: MaintenanceWindow) -> int:
    now = timezone.now()
    if not MaintenanceWindow.objects.filter(pk=window.pk, told_at=None).update(told_at=now):
        return 0
    until = min(filter(None, [window.ends_at, window.archived_at]))
    if until < now - _LOOK_BACK:
        return 0
    # Of what people know of already, nothing that was muted is a beginning.
    muted = Delivery.objects.filter(muted_by=window, payload__data__transition=Alert.State.OPEN)
    ids = {str(thread).removeprefix("alert-") for thread in muted.values_list("payload__data__thread", flat=True)}
    alerts = named_alerts().filter(pk__in=[int(pk) for pk in ids if pk.isdecimal()], state=Alert.State.OPEN)
    told = 0
    for alert in alerts.order_by("pk"):
        opened = alert.transitions.filter(to_state=Alert.State.OPEN, action__in=_OPENING).order_by("pk").last()
        if opened is not None and not alert.is_snoozed:
            told += len(tell_again(alert, opened, occasion(window.pk)))
    return told
