"""End runs that have not begun, many at once: cancelled, too late, or with a host that does not answer."""

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from psycopg.types.json import Jsonb

from benchweb.catalog.reasons import Reason, reason_data, reason_fields
from benchweb.common.in_parts import in_parts
from benchweb.common.rows import fetch_column
from benchweb.common.storable import storable_text
from benchweb.hosts.models import Endpoint
from benchweb.runs import live
from benchweb.runs.events import events_add, moment, run_ended
from benchweb.runs.models import OPEN_STATES, Campaign, Reservation, Run, State, Trial
from benchweb.runs.queueing.break_offs import MAXIMUM

# So many are ended in one transaction; the tick comes again a second later.
_LIMIT = 5_000
_log = logging.getLogger(__name__)
# Locked in one order, so that two that end the same runs at once never wait for each other.
_END_RUNS = """
WITH ended AS MATERIALIZED (
    SELECT run.id, given.reason, given.data
    FROM unnest(%(ids)s::bigint[], %(reasons)s::text[], %(data)s::jsonb[]) AS given(id, reason, data)
    JOIN runs_run run ON run.id = given.id
    WHERE run.state = 'pending' AND (run.lease_owner = '' OR %(even_held)s)
    ORDER BY run.id FOR UPDATE OF run
)
UPDATE runs_run run
SET state = %(state)s, reason = ended.reason, reason_data = ended.data, waiting_for = '', waiting_for_data = NULL,
    finished_at = statement_timestamp(), break_offs = 0, lease_owner = '', lease_until = NULL,
    cancel_requested_at = CASE WHEN %(state)s = 'cancelled' THEN statement_timestamp() END
FROM ended WHERE run.id = ended.id
RETURNING run.id
"""
_END_TRIALS = """
UPDATE runs_trial trial
SET state = %(state)s, reason = given.reason, reason_data = given.data, finished_at = statement_timestamp()
FROM unnest(%(ids)s::bigint[], %(reasons)s::text[], %(data)s::jsonb[]) AS given(id, reason, data)
WHERE trial.run_id = given.id AND trial.state = 'pending'
"""
_REQUEST_CANCEL = """
UPDATE runs_run SET cancel_requested_at = statement_timestamp()
WHERE id IN (
    SELECT id FROM runs_run
    WHERE id = ANY(%(ids)s::bigint[]) AND state = 'running' AND cancel_requested_at IS NULL
    ORDER BY id FOR UPDATE
)
RETURNING id
"""

_TIRED = """
SELECT run.id
FROM runs_run run
JOIN runs_campaign campaign ON campaign.id = run.campaign_id
JOIN hosts_pair pair ON pair.id = run.pair_id
WHERE run.state = 'pending' AND run.lease_owner = '' AND run.break_offs < %(maximum)s
    AND %(endpoint)s IN (pair.source_id, pair.sink_id) AND campaign.arrangement <> 'together'
    AND (run.planned_at IS NULL OR run.planned_at <= statement_timestamp()) AND campaign.retries > 0
    AND %(since)s + campaign.retries * campaign.retry_pause_seconds * interval '1 second' <= statement_timestamp()
ORDER BY run.id LIMIT %(limit)s
"""


@transaction.atomic
def cancel(run_ids: Sequence[int]) -> int:
    """Cancel runs: at once those that are pending, within a second those that run; return how many were neither yet."""
    reasons = dict.fromkeys(run_ids, Reason("cancelled_before_start"))
    ended = end_pending(reasons, State.CANCELLED, why_trials=Reason("run_cancelled"), even_held=True)
    requested = fetch_column(_REQUEST_CANCEL, {"ids": list(run_ids)})
    events_add((run_id, Reason("event_cancellation_requested")) for run_id in requested)
    transaction.on_commit(partial(live.publish_cancel, requested))
    return len(ended) + len(requested)


@transaction.atomic
def end_pending(
    reasons: Mapping[int, str], state: State, *, why_trials: str = "", even_held: bool = False
) -> list[int]:
    """End pending runs, each with its reason, and their trials; return the ids of those that were still pending.

    A run that a worker holds, to see whether its engines answer, is left to that worker unless `even_held`. Of runs
    that start together all end with the first.
    """
    reasons = dict(reasons) | _together_with(reasons)
    ended = sorted(fetch_column(_END_RUNS, _given(reasons) | {"state": state, "even_held": even_held}))
    of_trials = {run_id: why_trials or reasons[run_id] for run_id in ended}
    with connection.cursor() as cursor:
        cursor.execute(_END_TRIALS, _given(of_trials) | {"state": state})
    Reservation.objects.filter(run__in=ended).delete()
    events_add((run_id, run_ended(state, reasons[run_id])) for run_id in ended)
    messages = [(run_id, {"type": "run", "state": state}) for run_id in ended]
    transaction.on_commit(partial(live.publish_all, messages))
    return ended


def _together_with(reasons: Mapping[int, str]) -> dict[int, str]:
    """Return the pending runs that were to start together with some, with their reasons."""
    together = Run.objects.filter(pk__in=list(reasons), campaign__arrangement=Campaign.Arrangement.TOGETHER)
    of_campaign = dict(together.values_list("campaign_id", "pk"))
    others = Run.objects.filter(campaign__in=list(of_campaign), state=State.PENDING).exclude(pk__in=list(reasons))
    return {pk: reasons[of_campaign[campaign]] for pk, campaign in others.values_list("pk", "campaign")}


@transaction.atomic
def end_running(*, run_id: int, reason: str) -> bool:
    """End a running run as failed with a reason, whoever holds it and whatever its trials are: the last resort."""
    values = {"state": State.FAILED, "finished_at": Now(), **reason_fields("reason", reason)}
    Trial.objects.filter(run=run_id, state__in=OPEN_STATES).update(**values)
    ended = Run.objects.filter(pk=run_id, state=State.RUNNING).update(
        **values, waiting_for="", waiting_for_data=None, break_offs=0, lease_owner="", lease_until=None
    )
    if ended:
        events_add([(run_id, run_ended(State.FAILED, reason))])
        transaction.on_commit(partial(live.publish, run_id, {"type": "run", "state": State.FAILED}))
    return bool(ended)


def expire() -> int:
    """End as nonstart what has not begun by its campaign's time, saying what it waited for; return how many."""
    late = Run.objects.filter(
        state=State.PENDING, lease_owner="", break_offs__lt=MAXIMUM, campaign__start_before__lte=Now()
    )
    runs = late.select_related("campaign", "pair__source__host", "pair__sink__host")
    return _ended_in_parts({run.pk: _too_late(run) for run in runs[:_LIMIT]})


def _too_late(run: Run) -> str:
    ends = {"source": run.pair.source.host.name, "sink": run.pair.sink.host.name}
    waiting_for = run.waits_for or Reason("queued_behind_others", **ends)
    start_before = moment(run.campaign.start_before) if run.campaign.start_before else ""
    return Reason("not_started_in_time", start_before=start_before, waiting_for=waiting_for)


def give_up_unreachable() -> int:
    """End as nonstart the runs whose turn has come while a host has not answered for longer than they would try again.

    Runs whose turn is later wait on: by then the host may be back. Those that never try again have to try once.
    """
    away = Endpoint.objects.exclude(unreachable_since=None).select_related("host")
    return in_parts(list(away), lambda some: sum(map(_given_up, some)))


def _given(reasons: Mapping[int, str]) -> dict[str, Any]:
    """Return runs and their reasons as the statements take them."""
    data = [None if part is None else Jsonb(part) for part in map(reason_data, reasons.values())]
    return {"ids": list(reasons), "reasons": list(map(storable_text, reasons.values())), "data": data}


def _ended_in_parts(reasons: Mapping[int, str]) -> int:
    def ended(run_ids: Sequence[int]) -> int:
        return len(end_pending({run_id: reasons[run_id] for run_id in run_ids}, State.NONSTART))

    return in_parts(list(reasons), ended, lambda run_id, error: _end_failed(run_id, reasons[run_id], error))


def _end_failed(run_id: int, reason: str, error: Exception) -> None:
    """Count a try to end a run that failed by the run's own fault; the third one ends it by as little as that takes."""
    tried = Run.objects.filter(pk=run_id, state=State.PENDING, lease_owner="")
    tried.update(break_offs=F("break_offs") + 1)
    if not tried.filter(break_offs__gte=MAXIMUM).exists():
        return
    why = Reason("could_not_be_ended", reason=reason, name=type(error).__name__, error=str(error))
    try:
        _end_barely(run_id, why)
    except Exception:
        # Its count keeps the tick from trying again.
        _log.exception("Run %s can't be ended", run_id)


@transaction.atomic
def _end_barely(run_id: int, reason: str) -> None:
    values = {"state": State.NONSTART, "finished_at": Now(), **reason_fields("reason", reason)}
    if Run.objects.filter(pk=run_id, state=State.PENDING, lease_owner="").update(
        **values, waiting_for="", waiting_for_data=None, break_offs=0
    ):
        Trial.objects.filter(run=run_id, state=State.PENDING).update(**values)
        Reservation.objects.filter(run=run_id).delete()


def _given_up(endpoint: Endpoint) -> int:
    since = endpoint.unreachable_since
    if since is None:
        return 0
    ids = fetch_column(_TIRED, {"endpoint": endpoint.pk, "since": since, "limit": _LIMIT, "maximum": MAXIMUM})
    reason = Reason("host_unreachable", host=endpoint.host.name, since=moment(since))
    return _ended_in_parts(dict.fromkeys(ids, reason))
