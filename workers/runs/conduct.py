"""A run that a worker holds: whether its engines answer, its trials one by one, its end."""

import logging
import os
import socket
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from http import HTTPStatus

from django.db import DatabaseError

from benchweb.catalog.reasons import Reason, reason_of_error
from benchweb.common.database_faults import may_pass
from benchweb.hosts.endpoints.records import endpoint_answered_at, endpoint_is_away, endpoint_is_back
from benchweb.hosts.models import Endpoint
from benchweb.results.confidence import next_round, run_confidence
from benchweb.results.selectors import trial_rows
from benchweb.runs import execution
from benchweb.runs.models import OPEN_STATES, Campaign, Trial
from benchweb.runs.queueing import claims
from benchweb.runs.queueing.break_offs import break_off_note
from benchweb.runs.queueing.claims import Claimed
from benchweb.site.secrets import SecretUnreadable
from workers.engine_client import About, EngineClient, EngineError, EngineRefused, EngineUnreachable
from workers.engines.connections import let_database_go
from workers.engines.discretion import address_with_port, discreet
from workers.engines.ends import Ends, ends_of, with_data_port, with_stored_tokens
from workers.runs.attempt import STEP_MARGIN_SECONDS, attempt
from workers.runs.leases import Lease
from workers.runs.sessions import acknowledge

# An answer that fails so soon may only mean that a kept connection is stale: asked once more.
_STALE_SECONDS = 1.0
# Acknowledgements of all runs of the process: beside the next trial's set-up, for a slow engine holds up nothing.
_acknowledging = ThreadPoolExecutor(max_workers=16, thread_name_prefix="acknowledge")
_log = logging.getLogger(__name__)


class _Rests(Exception):
    """The run is back in its queues until its next round."""


def run_claimed(run_id: int) -> Claimed | None:
    """Claim a run; a claim that fails by the run's own fault is counted, for the tick would send it for ever."""
    owner = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
    try:
        return claims.claim(run_id=run_id, owner=owner)
    except Exception as error:
        if may_pass(error):
            raise
        _log.exception("Run %s could not be claimed", run_id)
        claims.claim_broke_off(run_id=run_id, error=error)
        return None
    finally:
        let_database_go()


def answering_ends(claimed: Claimed, stack: ExitStack) -> Ends:
    """Return both engines of a run that has not begun; raise EngineError or SecretUnreadable where one isn't ready."""
    ends = ends_of(claimed, stack)
    _, sink = [_free_engine(endpoint, client) for endpoint, client in _sides(claimed, ends)]
    return with_data_port(claimed, ends, sink)


def put_off(claimed: Claimed, error: Exception) -> None:
    """Put a run off that can't begin, or end it where trying again can't help."""
    may_be_tried_again = isinstance(error, EngineUnreachable) or (isinstance(error, EngineRefused) and error.may_pass)
    (claims.postpone if may_be_tried_again else claims.end_unbegun)(claimed=claimed, reason=reason_of_error(error))


def _free_engine(endpoint: Endpoint, client: EngineClient) -> About:
    """Ask whether an engine is there and free, and note since when it is not; raises EngineError when it isn't."""
    try:
        with discreet(endpoint) as contact:
            contact.add([client.address], client.port)
            about = _about_of(client)
    except EngineUnreachable:
        endpoint_is_away(endpoint_id=endpoint.pk)
        raise
    endpoint_answered_at(endpoint=endpoint, address=address_with_port(client.address, client.port))
    if endpoint.unreachable_since is not None:
        endpoint_is_back(endpoint_id=endpoint.pk)
    if about.is_busy:
        busy = Reason("engine_busy", engine=client.name, sessions=about.sessions)
        raise EngineRefused(busy, code="limit", status=HTTPStatus.TOO_MANY_REQUESTS)
    return about


def _about_of(client: EngineClient) -> About:
    started = time.monotonic()
    try:
        return client.about()
    except EngineUnreachable:
        if time.monotonic() - started > _STALE_SECONDS:
            raise
        return client.about()


def run_through(claimed: Claimed, ends: Ends, lease: Lease, stack: ExitStack) -> None:
    """Go through the trials and end the run, or leave its next round to whoever claims it then."""
    try:
        reason = run_trials(claimed, ends, lease, stack)
    except _Rests:
        return
    run_end(claimed, lease, reason)


def run_end(claimed: Claimed, lease: Lease, reason: str) -> None:
    """Bring a run to its end; `reason` is that of the trials that were not started."""
    lease.expect(STEP_MARGIN_SECONDS)
    if not lease.lost:
        execution.run_end(
            run_id=claimed.run.pk, owner=claimed.owner, nonstart_reason=reason, remark=_confidence_remark(claimed)
        )


def run_trials(claimed: Claimed, ends: Ends, lease: Lease, stack: ExitStack) -> str:
    """Go through the trials; return the reason for those that can't be started, or nothing.

    Raises _Rests where a round ends and others have their turn.
    """
    acknowledged: list[Future[None]] = []
    # Before the clients are given back, but after the run's end: nobody waits for it.
    stack.callback(wait, acknowledged)
    pause_seconds = claimed.run.plan_version.pause_seconds
    try:
        repetition = 0
        for number, trial in enumerate(_open_trials(claimed, lease)):
            if number and _is_in_rounds(claimed) and trial.repetition != repetition and claims.rest(claimed=claimed):
                raise _Rests
            repetition = trial.repetition
            if number:
                lease.pause(pause_seconds)
            if lease.stopped:
                break
            if number:
                ends = with_stored_tokens(claimed, ends, stack)
            attempt(trial, claimed, ends, lease)
            # A lost run's trial is another worker's now: to acknowledge it would stop it.
            if not lease.lost:
                acknowledged.append(_acknowledging.submit(acknowledge, trial, ends))
    except EngineUnreachable as error:
        _note_away(claimed, ends)
        return error.reason
    except (EngineError, SecretUnreadable) as error:
        return reason_of_error(error)
    return ""


def _is_in_rounds(claimed: Claimed) -> bool:
    return claimed.run.campaign.arrangement == Campaign.Arrangement.ROUNDS


def _note_away(claimed: Claimed, ends: Ends) -> None:
    """Find out which end does not answer, for whoever wants it next."""
    for endpoint, client in _sides(claimed, ends):
        try:
            _free_engine(endpoint, client)
        except EngineError as error:
            _log.info("%s", error)


def _sides(claimed: Claimed, ends: Ends) -> tuple[tuple[Endpoint, EngineClient], tuple[Endpoint, EngineClient]]:
    pair = claimed.run.pair
    return (pair.source, ends.source), (pair.sink, ends.sink)


def _open_trials(claimed: Claimed, lease: Lease) -> Iterator[Trial]:
    """Return the trials to run; those that the plan's confidence asks for are appended when the others are done."""
    run, version = claimed.run, claimed.run.plan_version
    while True:
        yield from list(run.trials.filter(state__in=OPEN_STATES).select_related("run__pair"))
        if version.confidence is None or lease.stopped:
            return
        planned = next_round(version, trial_rows(run.pk))
        if not execution.trials_append(run_id=run.pk, owner=claimed.owner, planned=planned):
            return


def _confidence_remark(claimed: Claimed) -> str:
    """Say whether the plan asked for a confidence that was not reached."""
    version = claimed.run.plan_version
    if version.confidence is None:
        return ""
    confidence = run_confidence(version, trial_rows(claimed.run.pk))
    return confidence.sentence if confidence else ""


def mark_broken_off(claimed: Claimed, error: Exception) -> None:
    """Note why a worker breaks off, where the database takes it."""
    try:
        break_off_note(run_id=claimed.run.pk, owner=claimed.owner, error=error)
    except DatabaseError as later:
        _log.warning("Why run %s broke off could not be noted: %s", claimed.run.pk, later)
