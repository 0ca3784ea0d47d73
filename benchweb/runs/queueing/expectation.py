"""When a waiting run is expected to start: the queue as it is now, played through by the rule that starts runs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from benchweb.common.rows import database_now, fetch
from benchweb.hosts.models import Endpoint
from benchweb.runs.models import Campaign, Run, State
from benchweb.runs.queueing.occupancy import occupancy
from benchweb.runs.queueing.queues import RESERVATION_MARGIN_SECONDS
from benchweb.runs.queueing.simulation import Queued, played
from benchweb.runs.queueing.simultaneous import leader_of

# Of more runs ahead nobody needs the minute: then the busiest host's own work is added up.
_MOST_PLAYED = 2_000
# What overruns its time may end at any moment.
_OVERDUE_SECONDS = 1.0
_BEFORE_ALL_SECONDS = -1e12

# Ahead of a run, or it itself; one that a worker holds counts as running. As in the queues, those that wait aside
# because an end is silent hold up nobody.
_AHEAD = """
WITH away AS MATERIALIZED (
    SELECT pair.id FROM hosts_endpoint endpoint JOIN hosts_pair pair ON endpoint.id IN (pair.source_id, pair.sink_id)
    WHERE endpoint.unreachable_since IS NOT NULL
)
SELECT run.id AS run, run.plan_version_id AS version,
    (SELECT arrangement FROM runs_campaign WHERE id = run.campaign_id) AS arrangement,
    reservation.resource_id AS resource,
    reservation.exclusive = 1 AS is_exclusive,
    extract(epoch FROM reservation.planned_at - statement_timestamp())::float8 AS planned_seconds,
    coalesce(extract(epoch FROM run.not_before - statement_timestamp()), 0)::float8 AS ready_seconds,
    extract(epoch FROM upper(reservation.during) - statement_timestamp())::float8 - %(margin)s AS until_seconds,
    extract(epoch FROM statement_timestamp() - run.started_at)::float8 AS running_seconds
FROM runs_reservation reservation JOIN runs_run run ON run.id = reservation.run_id
WHERE (reservation.during IS NULL AND run.state IN ('pending', 'running')
        AND (reservation.planned_at, reservation.run_id) <= (%(planned_at)s, %(run)s)
        AND (run.id = %(run)s
            OR NOT (run.planned_at > statement_timestamp() AND run.pair_id IN (SELECT id FROM away))))
    OR (run.lease_owner <> '' AND reservation.during IS NOT NULL)
"""
_USUAL = """
SELECT wanted.id AS version,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM latest.finished_at - latest.started_at)) AS seconds
FROM unnest(%(versions)s::bigint[]) AS wanted(id) CROSS JOIN LATERAL (
    SELECT started_at, finished_at FROM runs_run
    WHERE plan_version_id = wanted.id AND state = 'finished' AND started_at IS NOT NULL
        -- In rounds the time between begin and end is others' as well.
        AND campaign_id IN (SELECT id FROM runs_campaign WHERE arrangement = 'runs') ORDER BY id DESC LIMIT 5
) latest
GROUP BY wanted.id
"""


@dataclass(frozen=True)
class Expectation:
    """How a pending run stands: how many runs are to start before it on its hosts, and when its own turn comes.

    `starts_at` is None while an end of it does not answer: then its turn passes to the others.
    """

    ahead: int
    running: list[int]
    starts_at: datetime | None
    ends_at: datetime | None
    # Too many are ahead to play them through: the busiest host's own work is added up.
    is_rough: bool = False
    silent_ends: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Row:
    run: int
    version: int
    arrangement: str
    resource: int
    is_exclusive: bool
    planned_seconds: float | None
    ready_seconds: float
    until_seconds: float | None
    running_seconds: float | None


@dataclass(frozen=True)
class _Usual:
    version: int
    seconds: float


def expectation(run: Run) -> Expectation | None:
    """Say when a pending run is expected to start, as the queue is now; None for one that waits no more."""
    if run.state != State.PENDING:
        return None
    run = leader_of(run)
    now = database_now()
    rows = fetch(_Row, _AHEAD, {"margin": RESERVATION_MARGIN_SECONDS, "planned_at": run.planned_at, "run": run.pk})
    own = {row.resource for row in rows if row.run == run.pk}
    usual = _usual_seconds({run.plan_version_id} | {row.version for row in rows})
    ends = Endpoint.objects.filter(pk__in=[run.pair.source_id, run.pair.sink_id], unreachable_since__isnull=False)
    silent_ends = tuple(ends.order_by("pk").values_list("pk", flat=True))
    seconds = _whole_seconds(run, usual)
    ahead = {row.run for row in rows if row.resource in own and row.until_seconds is None} - {run.pk}
    running = sorted({row.run for row in rows if row.resource in own and row.until_seconds is not None} - {run.pk})
    if silent_ends and run.planned_at and run.planned_at > now:
        return Expectation(len(ahead), running, None, None, silent_ends=silent_ends)
    is_rough = len({row.run for row in rows}) > _MOST_PLAYED
    starts = _rough(rows, run.pk, own, usual) if is_rough else _played(rows, run, usual)
    starts_at = now + timedelta(seconds=starts)
    return Expectation(len(ahead), running, starts_at, starts_at + timedelta(seconds=seconds), is_rough, silent_ends)


def _whole_seconds(run: Run, usual: Mapping[int, float]) -> float:
    """Return how long a run takes from its begin to its end: in rounds as long as its whole campaign."""
    if run.campaign.arrangement == Campaign.Arrangement.ROUNDS and run.campaign.planned_seconds:
        return run.campaign.planned_seconds
    return usual.get(run.plan_version_id, occupancy(run.plan_version_id).seconds)


def _usual_seconds(versions: set[int]) -> dict[int, float]:
    """Return how long the latest finished runs of each version took, in seconds: the median of five.

    It is less than their slots mostly, and more where trials wait for full buffers to empty into a thin path.
    """
    return {row.version: row.seconds for row in fetch(_Usual, _USUAL, {"versions": list(versions)})}


def _played(rows: Sequence[_Row], run: Run, usual: Mapping[int, float]) -> float:
    """Play the queue through and return in how many seconds the run begins."""
    of_run: dict[int, list[_Row]] = defaultdict(list)
    for row in rows:
        of_run[row.run].append(row)
    if run.pk not in of_run:
        return 0.0
    turns = played([_queued(of_its, usual) for of_its in of_run.values()])
    return next(max(0.0, turn.from_seconds) for turn in turns if turn.key == run.pk)


def _queued(rows: Sequence[_Row], usual: Mapping[int, float]) -> Queued:
    """Return a run as the queue reckons with it: for what its version usually takes, else for its slots.

    One that runs takes the rest of that, and a second at least. Its hosts are held a few seconds at a time beyond its
    slots, so the reservation's end says nothing of when it ends.
    """
    first = rows[0]
    occupied = occupancy(first.version)
    reserved = occupied.turn_seconds(first.arrangement)
    seconds = usual.get(first.version, occupied.seconds) * reserved / (occupied.seconds or 1.0)
    planned = _BEFORE_ALL_SECONDS
    if first.until_seconds is not None:
        reserved = max(first.until_seconds, _OVERDUE_SECONDS)
        seconds = max(_OVERDUE_SECONDS, seconds - (first.running_seconds or 0.0))
    elif first.planned_seconds is not None:
        planned = first.planned_seconds
    return Queued(
        key=first.run,
        resources=tuple(row.resource for row in rows),
        planned_seconds=planned,
        slot_seconds=reserved,
        seconds=seconds,
        exclusive=first.is_exclusive,
        launched_seconds=max(0.0, first.ready_seconds) if first.until_seconds is None else 0.0,
    )


def _rough(rows: Sequence[_Row], run: int, own: set[int], usual: Mapping[int, float]) -> float:
    """Add up the work ahead of a run on each of its resources; the most of them is the least that it waits."""
    work: dict[int, float] = dict.fromkeys(own, 0.0)
    for row in rows:
        if row.resource in own and row.run != run:
            work[row.resource] += _queued([row], usual).seconds
    return max(work.values(), default=0.0)
