"""Read who occupies resources and who waits for them: bounded, however many runs wait."""

import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from benchweb.common.rows import fetch
from benchweb.runs.queueing.occupancy import occupancy
from benchweb.runs.queueing.turns import Occupied, Waiting

# How many of each queue are looked at: deep enough for backfill, and some 2,000 rows for 200 hosts.
NEAR = 8
# Room for what the slots can't know: claim, ingest, a reattachment.
RESERVATION_MARGIN_SECONDS = 10.0
_log = logging.getLogger(__name__)

# By the runs that workers hold, which are few: the table keeps the reservations of years.
_OCCUPIED = """
SELECT reservation.resource_id AS resource, reservation.run_id AS run, reservation.exclusive = 1 AS is_exclusive,
    extract(epoch FROM upper(reservation.during) - statement_timestamp())::float8 - %(margin)s AS until
FROM runs_run run JOIN runs_reservation reservation ON reservation.run_id = run.id
WHERE run.lease_owner <> '' AND reservation.during IS NOT NULL
"""
# Those whose turn by the plan is later while an end does not answer wait aside, so that they hold up nobody.
_NEAR = """
WITH away AS MATERIALIZED (
    SELECT pair.id FROM hosts_endpoint endpoint JOIN hosts_pair pair ON pair.source_id = endpoint.id
    WHERE endpoint.unreachable_since IS NOT NULL
    UNION ALL
    SELECT pair.id FROM hosts_endpoint endpoint JOIN hosts_pair pair ON pair.sink_id = endpoint.id
    WHERE endpoint.unreachable_since IS NOT NULL
)
SELECT near.*
FROM {resources} AS resource(id) CROSS JOIN LATERAL (
    SELECT resource.id AS resource, reservation.run_id AS run, reservation.planned_at,
        reservation.exclusive = 1 AS is_exclusive, run.plan_version_id AS version, run.waiting_for,
        (SELECT arrangement FROM runs_campaign WHERE id = run.campaign_id) AS arrangement,
        ARRAY(SELECT every.resource_id FROM runs_reservation every WHERE every.run_id = reservation.run_id) AS resources
    FROM runs_reservation reservation JOIN runs_run run ON run.id = reservation.run_id
    WHERE reservation.resource_id = resource.id AND reservation.during IS NULL
        AND run.state IN ('pending', 'running') AND (run.not_before IS NULL OR run.not_before <= statement_timestamp())
        AND NOT (run.planned_at > statement_timestamp() AND run.pair_id IN (SELECT id FROM away))
    ORDER BY reservation.planned_at, reservation.run_id
    LIMIT %(near)s
) near
"""
_THESE = "unnest(%(ids)s::bigint[])"
_ALL_BUT = "(SELECT id FROM runs_resource WHERE id <> ALL(%(ids)s::bigint[]))"


@dataclass(frozen=True)
class Queues:
    """Who waits and who runs: `waiting` in the order of the queue, `texts` what its runs say that they wait for."""

    waiting: list[Waiting]
    occupied: list[Occupied]
    texts: dict[int, str]


@dataclass(frozen=True)
class _Near:
    resource: int
    run: int
    planned_at: datetime
    is_exclusive: bool
    version: int
    waiting_for: str
    arrangement: str
    resources: list[int]


def queues(resource_ids: Collection[int] | None = None) -> Queues:
    """Read the queues of some resources, or of all that are not occupied against everybody; three queries.

    Of those that are occupied for longer than planned as well: who waits there was told until when.
    """
    occupied = fetch(Occupied, _OCCUPIED, {"margin": RESERVATION_MARGIN_SECONDS})
    if resource_ids is None:
        near = _near(_ALL_BUT, {run.resource for run in occupied if run.is_exclusive and run.until > 0})
    else:
        near = _near(_THESE, resource_ids)
    seen = {row.resource for row in near} | set(resource_ids or ())
    partners = {resource for row in near for resource in row.resources} - seen
    near += _near(_THESE, partners)
    return Queues(_in_order(near), occupied, {row.run: row.waiting_for for row in near})


def _near(resources: str, ids: Collection[int]) -> list[_Near]:
    if resources is _THESE and not ids:
        return []
    return fetch(_Near, _NEAR.format(resources=resources), {"ids": list(ids), "near": NEAR})


def _seconds(row: _Near) -> float:
    """Return how long a run's turn takes; of one that can't be told, its own claim says what is wrong."""
    try:
        return occupancy(row.version).turn_seconds(row.arrangement)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        _log.exception("How long plan version %s takes can't be told", row.version)
        return 0.0


def _in_order(near: Sequence[_Near]) -> list[Waiting]:
    seen_on: dict[int, set[int]] = defaultdict(set)
    for row in near:
        seen_on[row.run].add(row.resource)
    rows = {row.run: row for row in near}
    return [
        Waiting(
            run=row.run,
            resources=tuple(row.resources),
            is_exclusive=row.is_exclusive,
            seconds=_seconds(row),
            is_near=seen_on[row.run] >= set(row.resources),
        )
        for row in sorted(rows.values(), key=lambda row: (row.planned_at, row.run))
    ]
