"""Execute a run: hold it, see that its engines answer, go through its trials one by one, bring it to its end."""

import logging
from contextlib import ExitStack

from benchweb.catalog.reasons import reason_of_error
from benchweb.runs.queueing import claims
from benchweb.runs.queueing.claims import Claimed
from benchweb.runs.queueing.simultaneous import together_with
from benchweb.site.secrets import SecretUnreadable
from workers.engine_client import EngineError
from workers.engines.connections import let_database_go
from workers.engines.ends import Ends, addresses_document, ends_of
from workers.runs import conduct, simultaneous
from workers.runs.attempt import STEP_MARGIN_SECONDS
from workers.runs.canary import canaries_take
from workers.runs.leases import Lease, keeper
from workers.runs.sessions import stop_sessions

_log = logging.getLogger(__name__)


def execute(run_id: int) -> None:
    """Execute a run if it can be claimed; safe to call for any run, any number of times, at once."""
    if runs := together_with(run_id):
        simultaneous.execute(runs)
        return
    claimed = conduct.run_claimed(run_id)
    if claimed is None:
        return
    with keeper().held(claimed.owner, run_id) as lease, ExitStack() as stack:
        lease.expect(STEP_MARGIN_SECONDS)
        try:
            if claimed.taken_over:
                _go_on(claimed, lease, stack)
            elif (ends := _ready_ends(claimed, lease, stack)) is not None and claims.begin(
                claimed=claimed, addresses=addresses_document(ends)
            ):
                canaries_take(claimed, ends)
                conduct.run_through(claimed, ends, lease, stack)
        except Exception as error:
            # The lease runs out and the next worker goes on; the engine keeps the trial's result until then.
            _log.exception("Run %s broke off and is left to the next worker", run_id)
            lease.lose()
            conduct.mark_broken_off(claimed, error)
        finally:
            let_database_go()


def _ready_ends(claimed: Claimed, lease: Lease, stack: ExitStack) -> Ends | None:
    """Return both engines once they have answered; else put the run off, or end it where trying again can't help."""
    try:
        ends = conduct.answering_ends(claimed, stack)
    except (EngineError, SecretUnreadable) as error:
        if not lease.stopped:
            conduct.put_off(claimed, error)
        return None
    return None if lease.stopped else ends


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
    except (EngineError, SecretUnreadable) as error:
        conduct.run_end(claimed, lease, reason_of_error(error))
    else:
        conduct.run_through(claimed, ends, lease, stack)
