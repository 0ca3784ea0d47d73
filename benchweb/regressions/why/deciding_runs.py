"""Name the runs that would tell what is why: another host without it, the other direction, the host alone."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from django.db.models import Q
from django.utils.translation import gettext_lazy

from benchweb.hosts.models import Endpoint, Pair
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.regressions.selectors import parts_named_first

DecidingCode = Literal["without", "swapped", "alone"]
# What is learnt from each.
DECIDING_SENTENCES = {
    "without": gettext_lazy("a host without it, with the same peer"),
    "swapped": gettext_lazy("the other direction"),
    "alone": gettext_lazy("the host alone, without the network"),
}


@dataclass(frozen=True)
class DecidingRun:
    """A run that would tell more: the alert's plan on another pair; how long the alert's own run took, if known."""

    code: DecidingCode
    pair: Pair
    plan_id: int
    seconds: float | None


def deciding_runs(alert: Alert, host_ids: Collection[int]) -> list[DecidingRun]:
    """Return at most one of each code; `host_ids` are the hosts that had what may be why. Two queries.

    None for an alert of imported runs: what the engine measures is another series.
    """
    measured = parts_named_first(alert).filter(first_bad_run__imported=None)
    part = measured.select_related("first_bad_run__plan_version", "series__pair").first()
    if part is None or part.series.pair.is_one_host:
        return []
    pair, seconds = part.series.pair, _seconds(part)
    ends = [pair.source, pair.sink]
    # What may be why is at this end; where at none or both, whichever it is.
    own = next((end for end in ends if end.host_id in host_ids), pair.source)
    peer = pair.sink if own.pk == pair.source_id else pair.source
    beside = Pair.objects.filter(environment=pair.environment_id, archived_at=None).exclude(pk=pair.pk)
    beside = beside.filter(Q(source=peer) | Q(sink=peer) | Q(source=own, sink=own))
    rows = list(beside.select_related("source__host", "sink__host").order_by("pk"))
    found = _pairs(pair, own, rows, host_ids)
    return [DecidingRun(code, other, part.first_bad_run.plan_version.plan_id, seconds) for code, other in found]


def _pairs(
    pair: Pair, own: Endpoint, beside: list[Pair], host_ids: Collection[int]
) -> Iterator[tuple[DecidingCode, Pair]]:
    is_source = own.pk == pair.source_id
    for other in beside:
        # The same direction seen from the peer: a third host stands in the place of the one that had it.
        third, kept = (
            (other.source, other.sink_id == pair.sink_id)
            if is_source
            else (other.sink, other.source_id == pair.source_id)
        )
        if kept and not other.is_one_host and third.host_id not in {own.host_id, *host_ids}:
            yield "without", other
            break
    for other in beside:
        if (other.source_id, other.sink_id) == (pair.sink_id, pair.source_id):
            yield "swapped", other
    for other in beside:
        if other.is_one_host and other.source_id == own.pk:
            yield "alone", other


def _seconds(part: AlertSeries) -> float | None:
    run = part.first_bad_run
    if run.started_at is None or run.finished_at is None:
        return None
    return (run.finished_at - run.started_at).total_seconds()
