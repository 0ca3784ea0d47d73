"""What a host measured alone in some nights, as an engine tells it."""

from collections.abc import Iterable
from datetime import timedelta

from django.utils import timezone

from benchweb.hosts.canaries import CanaryPasses, canary_record
from benchweb.hosts.models import CanaryMetric, Endpoint


def measured_alone(endpoint: Endpoint, nights_ago: Iterable[int], metrics: Iterable[str] = CanaryMetric.values) -> None:
    """Record nine passes of each figure in each of these nights."""
    now = timezone.now()
    for ago in nights_ago:
        passes = [CanaryPasses(metric, 2.0 + ago / 100, 1.9, 4.0, 9) for metric in metrics]
        canary_record(endpoint_id=endpoint.pk, at=now - timedelta(days=ago, hours=1), figures=passes)
