"""One trial of a run, with what happens when an engine can't be reached meanwhile."""

import time

from benchweb.catalog import catalog
from benchweb.catalog.reasons import Reason
from benchweb.common.log_lines import logged_with
from benchweb.runs import execution
from benchweb.runs.models import State, Trial
from benchweb.runs.queueing import claims
from benchweb.runs.queueing.claims import Claimed
from workers.engine_client import EngineError, EngineGarbage, EngineRefused, EngineUnreachable
from workers.engines.connections import let_database_go
from workers.engines.ends import Ends
from workers.runs.leases import Lease
from workers.runs.sessions import stop_sessions
from workers.runs.trial import run_trial

# An engine that restarts gets this long to come back before the rest of a run is given up.
UNREACHABLE_SECONDS = 5.0
# What a trial, or the first questions to both engines, may take beyond its slot before the worker counts as stuck: all
# time-outs of its calls, twice over.
STEP_MARGIN_SECONDS = 120.0


def attempt(trial: Trial, claimed: Claimed, ends: Ends, lease: Lease) -> None:
    """Run one trial; an engine that comes back within 5 s costs this trial at most, else the run's rest is given up."""
    if lease.seat is not None:
        lease.seat.prepare(trial)
        if lease.stopped:
            return
    if not claims.reservation_extend(claimed=claimed, seconds=_slot_seconds(trial)):
        raise EngineError(Reason("reservation_lost"))
    if trial.state == State.PENDING and not execution.trial_start(trial=trial, owner=lease.owner):
        lease.lose()
        return
    let_database_go()
    lease.expect(_slot_seconds(trial) + STEP_MARGIN_SECONDS)
    with logged_with(trial=trial.pk):
        try:
            run_trial(trial=trial, ends=ends, lease=lease)
        except EngineUnreachable as error:
            _take_up_trial(trial, ends, lease, error)
        finally:
            lease.expect(None)


def _take_up_trial(trial: Trial, ends: Ends, lease: Lease, error: EngineError) -> None:
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
