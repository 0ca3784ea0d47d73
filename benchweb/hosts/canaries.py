"""What hosts measure alone, once a night: whose turn it is, and the figures.

A canary is taken while a run of a schedule holds the host for itself. Which figures there are, and their units, is the
engine's (engine/crates/kinds/src/canary); what is unknown here is left out.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now

from benchweb.hosts.models import CanaryFigure, CanaryMetric, CanaryTurn, Endpoint

UNITS = {CanaryMetric.MEMORY: "B/s", CanaryMetric.SPIN: "s", CanaryMetric.LOOPBACK: "s"}
# Of a time a slower host has more.
LESS_IS_BETTER = frozenset({CanaryMetric.SPIN, CanaryMetric.LOOPBACK})
# An engine that was busy is asked again by a run that begins so much later.
_RETRY_AFTER = timedelta(hours=1)
# The least time between two, so that a night's run may be earlier than the last; where runs follow each other all day a
# canary keeps its time of day instead of creeping through it. Two workers take a turn once.
_CLAIM = """
INSERT INTO hosts_canaryturn AS turn (endpoint_id, due_at)
SELECT endpoint.id, statement_timestamp() + interval '20 hours'
FROM hosts_endpoint endpoint JOIN hosts_host host ON host.id = endpoint.host_id
WHERE endpoint.id = %(endpoint)s AND host.has_canary AND NOT host.is_synthetic
ON CONFLICT (endpoint_id) DO UPDATE SET due_at = CASE
  WHEN turn.due_at > statement_timestamp() - interval '3 hours' THEN turn.due_at + interval '24 hours'
  ELSE statement_timestamp() + interval '20 hours' END
WHERE turn.due_at <= statement_timestamp()
RETURNING endpoint_id
"""


@dataclass(frozen=True)
class CanaryPasses:
    """One figure of a canary, in the metric's unit."""

    metric: str
    median: float
    least: float
    most: float
    n: int


def canaries_due(endpoints: Collection[Endpoint]) -> list[Endpoint]:
    """Return those of these endpoints, with their hosts, whose turn it is; one query, none where hosts want none."""
    wanted = [end for end in endpoints if end.host.has_canary and not end.host.is_synthetic]
    if not wanted:
        return []
    waits = CanaryTurn.objects.filter(endpoint__in=wanted, due_at__gt=Now()).values_list("endpoint_id", flat=True)
    waiting = set(waits)
    return [end for end in wanted if end.pk not in waiting]


def canary_claim(*, endpoint_id: int) -> bool:
    """Take an endpoint's turn; False where somebody else took it, or the host is measured alone no more."""
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, {"endpoint": endpoint_id})
        return cursor.fetchone() is not None


def canary_put_off(*, endpoint_id: int) -> None:
    """Give back a turn that came to nothing, for a later run."""
    CanaryTurn.objects.filter(endpoint=endpoint_id).update(due_at=Now() + _RETRY_AFTER)


def canary_record(*, endpoint_id: int, at: datetime, figures: Sequence[CanaryPasses]) -> int:
    """Keep what a host measured alone; return how many figures that is."""
    known = {figure.metric: figure for figure in figures if figure.metric in CanaryMetric.values}
    made = [CanaryFigure(endpoint_id=endpoint_id, at=at, **asdict(figure)) for figure in known.values()]
    return len(CanaryFigure.objects.bulk_create(made))


def canary_figures(*, endpoint_ids: Collection[int], from_time: datetime, to_time: datetime) -> QuerySet[CanaryFigure]:
    """Return what these endpoints' hosts measured alone in a time, oldest first."""
    return CanaryFigure.objects.filter(endpoint__in=endpoint_ids, at__gte=from_time, at__lt=to_time)
