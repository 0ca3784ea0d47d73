"""Read channels' logs, and what is muted now."""

from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from benchweb.hosts.models import Host
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt, MaintenanceWindow

_FAULTS_SINCE = timedelta(hours=24)


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


class FaultyChannel(NamedTuple):
    """A channel with messages that wait for another attempt now, or were given up or partly refused lately."""

    pk: int
    name: str
    waiting: int
    lost: int


def faulty_channels() -> list[FaultyChannel]:
    """Return the channels whose messages fail, those given up in the last 24 hours included; one query."""
    waiting = Q(state=Delivery.State.FAILED, next_attempt_at__isnull=False)
    lost = Q(
        state__in=(Delivery.State.GIVEN_UP, Delivery.State.PARTIAL), finished_at__gte=timezone.now() - _FAULTS_SINCE
    )
    counts = (
        Delivery.objects.filter(waiting | lost)
        .order_by("channel__name")
        .values_list("channel", "channel__name")
        .annotate(waiting=Count("pk", filter=waiting), lost=Count("pk", filter=lost))
    )
    return [FaultyChannel(*row) for row in counts]
