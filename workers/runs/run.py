"""Execute a run: hold it, see that its engines answer, go through its trials one by one, bring it to its end."""

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

from benchweb.catalog import catalog
from benchweb.catalog.reasons import Reason, reason_of_error
from benchweb.common.database_faults import may_pass
from benchweb.hosts.models import Endpoint
from benchweb.hosts.secrets import SecretUnreadable
from benchweb.hosts.services import endpoint_answered_at, endpoint_is_away, endpoint_is_back
from benchweb.results.confidence import next_round, run_confidence
from benchweb.results.selectors import trial_rows
from benchweb.runs import execution
from benchweb.runs.models import OPEN_STATES, State, Trial
from benchweb.runs.queueing import claims
from benchweb.runs.queueing.break_offs import break_off_note
from benchweb.runs.queueing.claims import Claimed
from workers.engine_client import About, EngineClient, EngineError, EngineGarbage, EngineRefused, EngineUnreachable
from workers.engines.connections import let_database_go
from workers.engines.discretion import address_with_port, discreet
from workers.engines.ends import Ends, addresses_document, ends_of, with_data_port, with_stored_tokens
from workers.runs.leases import Lease, keeper
from workers.runs.trial import acknowledge, run_trial, stop_sessions

# An engine that restarts gets this long to come back before the rest of a run is given up.
UNREACHABLE_SECONDS = 5.0
# What a trial, or the first questions to both engines, may take beyond its slot before the worker counts as stuck: all
# time-outs of its calls, twice over.
STEP_MARGIN_SECONDS = 120.0
# An answer that fails so soon may only mean that a kept connection is stale: asked once more.
_STALE_SECONDS = 1.0
# Acknowledgements of all runs of the process: beside the next trial's set-up, for a slow engine holds up nothing.
_acknowledging = ThreadPoolExecutor(max_workers=16, thread_name_prefix="acknowledge")
_log = logging.getLogger(__name__)


def execute(run_id: int) -> None:
    """Execute a run if it can be claimed; safe to call for any run, any number of times, at once."""
    owner = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
    claimed = _claimed(run_id, owner)
    if claimed is None:
        return
    with keeper().held(owner, run_id) as lease, ExitStack() as stack:
        lease.expect(STEP_MARGIN_SECONDS)
        try:
            if claimed.taken_over:
                _go_on(claimed, lease, stack)
            elif (ends := _ready(claimed, lease, stack)) is not None and claims.begin(
                claimed=claimed, addresses=addresses_document(ends)
            ):
                _end(claimed, lease, _trials(claimed, ends, lease, stack))
        except Exception as error:
            # The lease runs out and the next worker goes on; the engine keeps the trial's result until then.
            _log.exception("Run %s broke off and is left to the next worker", run_id)
            lease.lose()
            _mark_unreachable(claimed, error)
        finally:
            let_database_go()


def _claimed(run_id: int, owner: str) -> Claimed | None:
    """Claim a run; a claim that fails by the run's own fault is counted, for the tick would send it for ever."""
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


def _mark_unreachable(claimed: Claimed, error: Exception) -> None:
    try:
        break_off_note(run_id=claimed.run.pk, owner=claimed.owner, error=error)
    except DatabaseError as later:
        _log.warning("Why run %s broke off could not be noted: %s", claimed.run.pk, later)


def _ready(claimed: Claimed, lease: Lease, stack: ExitStack) -> Ends | None:
    """Return both engines once they have answered; else put the run off, or end it where trying again can't help."""
    try:
        ends = ends_of(claimed, stack)
        _, sink = [_answered(endpoint, client) for endpoint, client in _sides(claimed, ends)]
        ends = with_data_port(claimed, ends, sink)
    except EngineUnreachable as error:
        if not lease.stopped:
            claims.postpone(claimed=claimed, reason=error.reason)
    except EngineRefused as error:
        if not lease.stopped:
            (claims.postpone if error.may_pass else claims.end_unbegun)(claimed=claimed, reason=error.reason)
    except (EngineError, SecretUnreadable) as error:
        if not lease.stopped:
            claims.end_unbegun(claimed=claimed, reason=reason_of_error(error))
    else:
        return None if lease.stopped else ends
    return None


def _answered(endpoint: Endpoint, client: EngineClient) -> About:
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


def _go_on(claimed: Claimed, lease: Lease, stack: ExitStack) -> None:
    """Go on with a run that another worker began: what can't be reached now is said of the trials that are left."""
    broken_off = claimed.broken_off
    if broken_off is not None and broken_off.trial is None and broken_off.reason:
        # All trials are over, and what came after them failed three workers.
        claims.end_anyhow(run_id=claimed.run.pk, reason=broken_off.reason)
        return
    try:
        ends = ends_of(claimed, stack)
        if broken_off is not None and broken_off.trial is not None and broken_off.reason:
            stop_sessions(broken_off.trial, ends, broken_off.reason)
        reason = _trials(claimed, ends, lease, stack)
    except (EngineError, SecretUnreadable) as error:
        reason = reason_of_error(error)
    _end(claimed, lease, reason)


def _end(claimed: Claimed, lease: Lease, reason: str) -> None:
    lease.expect(STEP_MARGIN_SECONDS)
    if not lease.lost:
        execution.run_end(run_id=claimed.run.pk, owner=claimed.owner, nonstart_reason=reason, remark=_remark(claimed))


def _trials(claimed: Claimed, ends: Ends, lease: Lease, stack: ExitStack) -> str:
    """Go through the trials; return the reason for those that can't be started, or nothing."""
    acknowledged: list[Future[None]] = []
    # Before the clients are given back, but after the run's end: nobody waits for it.
    stack.callback(wait, acknowledged)
    pause_seconds = claimed.run.plan_version.pause_seconds
    try:
        for number, trial in enumerate(_open_trials(claimed, lease)):
            if number:
                lease.pause(pause_seconds)
            if lease.stopped:
                break
            if number:
                ends = with_stored_tokens(claimed, ends, stack)
            _one(trial, claimed, ends, lease)
            # A lost run's trial is another worker's now: to acknowledge it would stop it.
            if not lease.lost:
                acknowledged.append(_acknowledging.submit(acknowledge, trial, ends))
    except EngineUnreachable as error:
        _note_away(claimed, ends)
        return error.reason
    except (EngineError, SecretUnreadable) as error:
        return reason_of_error(error)
    return ""


def _note_away(claimed: Claimed, ends: Ends) -> None:
    """Find out which end does not answer, for whoever wants it next."""
    for endpoint, client in _sides(claimed, ends):
        try:
            _answered(endpoint, client)
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


def _remark(claimed: Claimed) -> str:
    """Say whether the plan asked for a confidence that was not reached."""
    version = claimed.run.plan_version
    if version.confidence is None:
        return ""
    found = run_confidence(version, trial_rows(claimed.run.pk))
    return found.sentence if found else ""


def _one(trial: Trial, claimed: Claimed, ends: Ends, lease: Lease) -> None:
    """Run one trial; an engine that comes back within 5 s costs this trial at most, else the run's rest is given up."""
    if not claims.reservation_extend(claimed=claimed, seconds=_slot_seconds(trial)):
        raise EngineError(Reason("reservation_lost"))
    if trial.state == State.PENDING and not execution.trial_start(trial=trial, owner=lease.owner):
        lease.lose()
        return
    let_database_go()
    lease.expect(_slot_seconds(trial) + STEP_MARGIN_SECONDS)
    try:
        run_trial(trial=trial, ends=ends, lease=lease)
    except EngineUnreachable as error:
        _again(trial, ends, lease, error)
    finally:
        lease.expect(None)


def _again(trial: Trial, ends: Ends, lease: Lease, error: EngineError) -> None:
    """Take what the trial came to behind a cut, once both engines answer again; else give it up, and raise.

    Its sessions have their names: an engine that has them still tells the result, one that restarted that it has none.
    """
    try:
        _wait_until_reachable(ends, lease)
        if not lease.stopped:
            # Its sessions were made: what the source says of them tells more than that the sink's has failed.
            trial.state = State.RUNNING
            run_trial(trial=trial, ends=ends, lease=lease)
            return
    except EngineUnreachable as later:
        if not lease.lost:
            _ended_unreachable(trial, ends, lease, later)
        raise
    except (EngineRefused, EngineGarbage) as refused:
        # It is there, perhaps with another token or certificate by now: that costs this trial, not those after it.
        error = refused
    if not lease.lost:
        _ended_unreachable(trial, ends, lease, error)


def _slot_seconds(trial: Trial) -> float:
    kind = catalog().kinds.get(trial.kind)
    if kind is None:
        raise EngineError(Reason("kind_gone", kind=trial.kind))
    return kind.slot_seconds(trial.params)


def _ended_unreachable(trial: Trial, ends: Ends, lease: Lease, error: EngineError) -> None:
    stop_sessions(trial, ends, str(error))
    state = State.CANCELLED if lease.cancelled else State.FAILED
    execution.trial_end(trial=trial, owner=lease.owner, state=state, reason=str(error))
    let_database_go()


def _wait_until_reachable(ends: Ends, lease: Lease) -> None:
    """Return when both engines answer; raise EngineUnreachable after 5 s."""
    give_up_at = time.monotonic() + UNREACHABLE_SECONDS
    while not lease.stopped:
        try:
            ends.source.about()
            ends.sink.about()
            return
        except EngineUnreachable:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.25)
