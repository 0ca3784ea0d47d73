"""Read people's notes."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Q, QuerySet

from benchweb.regressions.models import Annotation

# More flags than this on one time axis are a wall.
MOST_NOTES = 200


def annotations_between(
    first: datetime,
    last: datetime,
    *,
    environments: Collection[int],
    hosts: Collection[int],
    pairs: Collection[int],
) -> QuerySet[Annotation]:
    """Give the notes that touch a time and concern any of these, or everything; by time."""
    in_time = Q(at__lte=last) & (Q(until=None, at__gte=first) | Q(until__gte=first))
    concerned = (
        Q(environment=None, host=None, pair=None)
        | Q(environment__in=environments)
        | Q(host__in=hosts)
        | Q(pair__in=pairs)
    )
    notes = Annotation.objects.filter(in_time, concerned, archived_at=None)
    return notes.select_related("environment", "host", "pair__source__host", "pair__sink__host", "author").order_by(
        "at", "pk"
    )[:MOST_NOTES]
