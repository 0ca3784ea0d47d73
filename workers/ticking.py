"""The tick: what is due by the database's word, step by step; a step that fails stops no other."""

import logging
import threading
import time
from collections.abc import Callable
from functools import wraps

from django.db import DatabaseError

from benchweb.accounts import sessions
from benchweb.accounts.audit import retention as audit
from benchweb.hosts import path_checks, tickets
from benchweb.hosts.probing import probes
from benchweb.idempotency import services as idempotency
from benchweb.notifications import maintenance
from benchweb.notifications.delivery import held, outbox
from benchweb.ops.backups import nightly as backups
from benchweb.ops.health import storage
from benchweb.ops.removal import removals, tiers
from benchweb.regressions import judgements
from benchweb.regressions.absence import missing as absences
from benchweb.regressions.slow import looks
from benchweb.results import nightly_summaries as nights
from benchweb.results import run_summaries as recents
from benchweb.runs import execution
from benchweb.runs.queueing import dispatch, endings
from benchweb.schedules import selectors, services
from benchweb.schedules import services as schedules
from benchweb.schedules.timing.localtime import zones_forget
from benchweb.sharing import services as sharing
from benchweb.site.installation import is_copy_now
from workers import notifying
from workers.background import in_background
from workers.engines.connections import let_database_go
from workers.resting import Rest
from workers.schedule import TICK_SECONDS

_HOUR_SECONDS = 3_600


def claim_on_time() -> None:
    """Claim what comes before the next tick at its time: left to that tick it would be late by half a second."""
    seconds = selectors.seconds_until_due(TICK_SECONDS)
    if seconds is not None:
        in_background(_claim_after, seconds)


def _claim_after(seconds: float) -> None:
    time.sleep(seconds)
    services.claim_due()


def hourly(step: Callable[[], int], *, clock: Callable[[], float] = time.monotonic) -> Callable[[], None]:
    """Return a step that does another once an hour, and at each tick meanwhile until it finds nothing to do.

    One that fails is tried again an hour later.
    """
    last = float("-inf")

    @wraps(step)
    def step_if_due() -> None:
        nonlocal last
        if clock() - last >= _HOUR_SECONDS:
            last = clock()
            if step():
                last = float("-inf")

    return step_if_due


def follow_zones() -> int:
    """Read the rules of time zones anew, for laws change them, and move what has not come yet; return how much was."""
    zones_forget()
    return schedules.follow_zones() + held.follow_zones()


def back_up() -> int:
    """Have the night's backup made and tested, where that is due, beside what the ticks do."""
    if backups.work_is_due():
        in_background(backups.nightly_work)
    return 0


_sessions_end = hourly(sessions.sessions_remove_ended)
# In this order: what was planned by other rules moves, what is too late isn't started, what is new is started at once.
STEPS: tuple[Callable[[], object], ...] = (
    hourly(follow_zones),
    schedules.begin_waiting,
    schedules.claim_due,
    endings.expire,
    endings.give_up_unreachable,
    execution.end_cancelled,
    dispatch.dispatch,
    schedules.settle_slots,
    probes.probes_send,
    path_checks.paths_send,
    claim_on_time,
    maintenance.tell_what_lasts,
    notifying.wake,
    # What only pages read comes last.
    recents.sum_up,
    judgements.send_waiting,
    absences.find_missing,
    removals.remove_some,
    nights.make,
    looks.send_due,
    hourly(tiers.remove_old),
    hourly(outbox.remove_old),
    hourly(audit.remove_old),
    _sessions_end,
    hourly(idempotency.remove_old),
    hourly(sharing.expired_content_remove),
    hourly(tickets.remove_old),
    hourly(storage.sample_take),
    hourly(back_up),
)
# What a copy does: nothing that is seen outside of it, and nothing that the original's night would be judged by.
STEPS_OF_COPY: tuple[Callable[[], object], ...] = (recents.sum_up, removals.remove_some, nights.make, _sessions_end)
_under_way = threading.Lock()
_log = logging.getLogger(__name__)


def tick(rest: Rest | None = None) -> None:
    """Do every step, unless the last tick is still at it, or by its rest nothing can have become due since."""
    if not _under_way.acquire(blocking=False):
        return
    try:
        if rest is None or not _goes_on(rest):
            for step in _steps():
                _try_step(step)
    finally:
        _under_way.release()


def _steps() -> tuple[Callable[[], object], ...]:
    """Return the original's steps, or those of a copy."""
    try:
        return STEPS_OF_COPY if is_copy_now() else STEPS
    finally:
        let_database_go()


def _goes_on(rest: Rest) -> bool:
    try:
        return rest.goes_on()
    except DatabaseError:
        # The steps tell what is wrong with it.
        return False
    finally:
        let_database_go()


def _try_step(step: Callable[[], object]) -> None:
    try:
        step()
    except Exception:
        # The next tick tries again; the other steps must not wait for that.
        _log.exception("The tick's step %s.%s failed", step.__module__, step.__name__)
    finally:
        let_database_go()
