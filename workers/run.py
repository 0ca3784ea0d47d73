"""Execute a run: claim it, go through its trials one by one, bring it to its end."""

import logging
import os
import socket
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from django.db import DatabaseError

from benchweb.catalog import catalog
from benchweb.hosts.models import Endpoint
from benchweb.hosts.secrets import SecretUnreadable
from benchweb.results.confidence import next_round, run_confidence
from benchweb.results.selectors import trial_rows
from benchweb.runs import execution
from benchweb.runs.models import OPEN_STATES, State, Trial
from workers.connections import client_for, data_address, let_database_go
from workers.engine_client import EngineError, EngineUnreachable
from workers.leases import Lease, keeper
from workers.trial import Ends, acknowledge, run_trial, stop_sessions

# An engine that restarts gets this long to come back before the rest of a run is given up.
UNREACHABLE_SECONDS = 5.0
_log = logging.getLogger(__name__)


def execute(run_id: int) -> None:
    """Execute a run if it can be claimed; safe to call for any run, any number of times, at once."""
    owner = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
    claimed = execution.claim(run_id=run_id, owner=owner)
    if claimed is None:
        let_database_go()
        return
    with keeper().held(owner, run_id) as lease:
        reason = _executed(claimed, lease)
        if not lease.lost:
            remark = _remark(claimed)
            execution.run_end(run_id=run_id, owner=owner, nonstart_reason=reason, remark=remark)
    let_database_go()


def _executed(claimed: execution.Claimed, lease: Lease) -> str:
    """Go through the trials; give the reason for those that can't be started, or nothing."""
    pause_seconds = claimed.run.plan_version.pause_seconds
    with ExitStack() as stack:
        try:
            ends = _ends(claimed, stack)
            # Beside the next trial's set-up: an engine that is slow to forget holds up nothing.
            acknowledging = stack.enter_context(ThreadPoolExecutor(max_workers=1))
            for number, trial in enumerate(_open_trials(claimed, lease)):
                if number:
                    lease.pause(pause_seconds)
                if lease.stopped:
                    break
                _one(trial, ends, lease)
                # A lost run's trial is another worker's now: to acknowledge it would stop it.
                if not lease.lost:
                    acknowledging.submit(acknowledge, trial, ends)
        except (EngineError, SecretUnreadable) as error:
            return str(error)
        except DatabaseError:
            # The lease runs out and the next worker goes on; the engine keeps the trial's result until then.
            _log.exception("Run %s is left to the next worker", claimed.run.pk)
            lease.lose()
    return ""


def _open_trials(claimed: execution.Claimed, lease: Lease) -> Iterator[Trial]:
    """Give the trials to run; those that the plan's confidence asks for are appended when the others are done."""
    run, version = claimed.run, claimed.run.plan_version
    while True:
        yield from list(run.trials.filter(state__in=OPEN_STATES).select_related("run__pair"))
        if version.confidence is None or lease.stopped:
            return
        planned = next_round(version, trial_rows(run.pk))
        if not execution.trials_append(run_id=run.pk, owner=claimed.owner, planned=planned):
            return


def _remark(claimed: execution.Claimed) -> str:
    """Say whether the plan asked for a confidence that was not reached."""
    version = claimed.run.plan_version
    if version.confidence is None:
        return ""
    found = run_confidence(version, trial_rows(claimed.run.pk))
    return found.sentence if found else ""


def _ends(claimed: execution.Claimed, stack: ExitStack) -> Ends:
    source, sink = claimed.run.pair.source, claimed.run.pair.sink
    ends = Ends(
        source=stack.enter_context(client_for(source)),
        sink=stack.enter_context(client_for(sink)),
        sink_address=data_address(sink),
        source_address=data_address(source),
        source_bind=_bind(source),
        sink_bind=_bind(sink),
    )
    let_database_go()
    return ends


def _bind(endpoint: Endpoint) -> dict[str, str] | None:
    bind = {}
    if endpoint.data_address:
        bind["address"] = data_address(endpoint)
    if endpoint.bind_device:
        bind["device"] = endpoint.bind_device
    return bind or None


def _one(trial: Trial, ends: Ends, lease: Lease) -> None:
    """Run one trial; an engine that comes back within 5 s costs only this trial, else the run's rest is given up."""
    if not execution.reservation_extend(run_id=trial.run_id, seconds=_slot_seconds(trial)):
        raise EngineError("The run took longer than planned, and its hosts are reserved for another run now.")
    if trial.state == State.PENDING and not execution.trial_start(trial=trial, owner=lease.owner):
        lease.lose()
        return
    let_database_go()
    try:
        run_trial(trial=trial, ends=ends, lease=lease)
    except EngineUnreachable as error:
        _ended_unreachable(trial, ends, lease, error)
        _wait_until_reachable(ends, lease)


def _slot_seconds(trial: Trial) -> float:
    kind = catalog().kinds.get(trial.kind)
    if kind is None:
        raise EngineError(f"The test kind {trial.kind} is in this version's catalog no more.")
    return kind.slot_seconds(trial.params)


def _ended_unreachable(trial: Trial, ends: Ends, lease: Lease, error: EngineUnreachable) -> None:
    stop_sessions(trial, ends, "the other engine can't be reached")
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
