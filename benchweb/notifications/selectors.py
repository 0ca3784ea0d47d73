"""Read channels' logs, and what is muted now."""

from collections.abc import Collection

from django.db.models import OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from benchweb.hosts.models import Host
from benchweb.notifications.models import Channel, DeliveryAttempt, MaintenanceWindow


def last_attempts(channel_ids: Collection[int]) -> dict[int, DeliveryAttempt]:
    """Return the newest attempt of each channel that has one; one query."""
    newest = DeliveryAttempt.objects.filter(delivery__channel=OuterRef("pk")).order_by("-begun_at", "-pk")
    ids = Channel.objects.filter(pk__in=channel_ids).values(newest=Subquery(newest.values("pk")[:1]))
    rows = DeliveryAttempt.objects.filter(pk__in=ids).select_related("delivery")
    return {row.delivery.channel_id: row for row in rows}


def maintenance_of(host: Host) -> MaintenanceWindow | None:
    """Return the maintenance under way that mutes a host's alerts, the one that ends last; None for none; one query."""
    is_its = Q(host=host) | Q(host_label__in=host.labels) | Q(environment__in=host.environment_ids)
    now = timezone.now()
    under_way = MaintenanceWindow.objects.filter(is_its, archived_at=None, begins_at__lte=now, ends_at__gt=now)
    return under_way.order_by("ends_at").last()


def attempts_of(delivery_ids: Collection[int], most: int) -> dict[int, list[DeliveryAttempt]]:
    """Return the newest attempts of each message, the newest first; one query."""
    numbered = Window(RowNumber(), partition_by="delivery", order_by="-number")
    rows: QuerySet[DeliveryAttempt] = DeliveryAttempt.objects.filter(delivery__in=delivery_ids)
    attempts: dict[int, list[DeliveryAttempt]] = {}
    for row in rows.annotate(position=numbered).filter(position__lte=most).order_by("delivery", "-number"):
        attempts.setdefault(row.delivery_id, []).append(row)
    return attempts
