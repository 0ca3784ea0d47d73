"""Endpoints that have been unreachable for long."""

from django.db.models import Exists, OuterRef, Q

from benchweb.common.rows import database_now
from benchweb.hosts.models import Endpoint, Pair
from benchweb.regressions.absence.alerts import MOST_REASON, end_where, live_alerts, open_once
from benchweb.regressions.deciding import UNREACHABLE_AFTER
from benchweb.regressions.models import Alert


def unreachable_endpoints() -> list[Alert]:
    """Open an alert for each endpoint in use that has been silent for long; end those that answer again."""
    end_where(live_alerts("unreachable"), lambda alert: not _is_silent(alert))
    pairs = Pair.objects.filter(Q(source=OuterRef("pk")) | Q(sink=OuterRef("pk")), archived_at=None)
    silent = Endpoint.objects.filter(
        Exists(pairs),
        archived_at=None,
        host__archived_at=None,
        host__is_synthetic=False,
        unreachable_since__lt=database_now() - UNREACHABLE_AFTER,
    )
    alerts = [open_unreachable(endpoint) for endpoint in silent.select_related("host")]
    return [alert for alert in alerts if alert]


def open_unreachable(endpoint: Endpoint) -> Alert | None:
    """Open the alert of an endpoint that doesn't answer, with its host; None where its silence has one already."""
    since = endpoint.unreachable_since
    if since is None:
        return None
    return open_once(
        code="unreachable",
        key=f"{endpoint.pk}:{since:%Y%m%dT%H%M%S}",
        begun_at=since,
        endpoint=endpoint,
        host=endpoint.host,
        severity=Alert.Severity.CRITICAL,
        params={"reason": endpoint.status_reason[:MOST_REASON]},
    )


def _is_silent(alert: Alert) -> bool:
    endpoint = alert.endpoint
    if endpoint is None or endpoint.archived_at is not None or endpoint.unreachable_since is None:
        return False
    return endpoint.unreachable_since <= alert.begun_at
