"""Execute runs that start together: one worker has all of them, a thread each, and they gather before each trial."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from django.db import DatabaseError

from benchweb.catalog.reasons import Reason, reason_of_error
from benchweb.runs.models import OPEN_STATES, Run
from benchweb.runs.queueing import claims
from benchweb.runs.queueing.claims import Claimed
from benchweb.runs.queueing.leases import LEASE
from benchweb.runs.queueing.reservations import reservation_hold
from benchweb.runs.queueing.simultaneous import SimultaneousRun
from benchweb.site.secrets import SecretUnreadable
from workers.engine_client import EngineError
from workers.engines.connections import let_database_go
from workers.engines.ends import Ends, addresses_document, ends_of
from workers.runs import conduct
from workers.runs.attempt import STEP_MARGIN_SECONDS
from workers.runs.canary import canaries_take
from workers.runs.gathering import Gathering, Seat
from workers.runs.leases import Lease, keeper
from workers.runs.overtime import HOLD_SECONDS
from workers.runs.sessions import stop_sessions

# The leases of a worker that is gone run out within a heartbeat of each other.
_CLAIM_SECONDS = LEASE.total_seconds() + 2.0
_CLAIM_PAUSE_SECONDS = 0.25
_log = logging.getLogger(__name__)


@dataclass
class _Member:
    """A held run with its engines; without them `reason` says why its trials can't go on."""

    claimed: Claimed
    lease: Lease
    stack: ExitStack
    ends: Ends | None = None
    reason: str = ""

    @property
    def run_id(self) -> int:
        return self.claimed.run.pk


def execute(runs: Sequence[SimultaneousRun]) -> None:
    """Execute runs that start together if the first of them, which leads, can be claimed."""
    leader, *others = runs
    if leader.state not in OPEN_STATES:
        for run in others:
            _end_left_behind(run)
        return
    claimed = conduct.run_claimed(leader.pk)
    if claimed is None:
        return
    with ExitStack() as stack:
        members = [_member(claimed, stack)]
        try:
            members += [_member(member, stack) for member in _claimed_others(others)]
            members = _found_again(members) if claimed.taken_over else _begun_members(members)
            _go_through(members)
        except Exception as error:
            # All leases run out, and the next worker goes on with all.
            _log.exception("Runs %s broke off and are left to the next worker", [member.run_id for member in members])
            for member in members:
                member.lease.lose()
            conduct.mark_broken_off(claimed, error)
        finally:
            let_database_go()


def _end_left_behind(run: SimultaneousRun) -> None:
    """End a run whose thread broke off, after those that it started together with have ended."""
    claimed = conduct.run_claimed(run.pk) if run.state in OPEN_STATES else None
    if claimed is None:
        return
    reason = Reason("together_over")
    with keeper().held(claimed.owner, run.pk) as lease:
        if claimed.taken_over:
            conduct.run_end(claimed, lease, reason)
        else:
            claims.end_unbegun(claimed=claimed, reason=reason)


def _member(claimed: Claimed, stack: ExitStack) -> _Member:
    lease = stack.enter_context(keeper().held(claimed.owner, claimed.run.pk))
    lease.expect(STEP_MARGIN_SECONDS)
    return _Member(claimed, lease, stack.enter_context(ExitStack()))


def _claimed_others(runs: Sequence[SimultaneousRun]) -> Iterator[Claimed]:
    """Claim the others that are open; where a worker is gone their leases may run out a little later."""
    give_up_at = time.monotonic() + _CLAIM_SECONDS
    wanted = [run.pk for run in runs if run.state in OPEN_STATES]
    while wanted:
        for run_id in list(wanted):
            claimed = conduct.run_claimed(run_id)
            if claimed is not None:
                wanted.remove(run_id)
                yield claimed
        still_open = Run.objects.filter(pk__in=wanted, state__in=OPEN_STATES).values_list("pk", flat=True)
        wanted = list(still_open) if wanted and time.monotonic() < give_up_at else []
        if wanted:
            time.sleep(_CLAIM_PAUSE_SECONDS)


def _begun_members(members: Sequence[_Member]) -> list[_Member]:
    """Return the runs with their engines, all begun; where one can't be reached all wait or end."""
    for member in members:
        try:
            member.ends = conduct.answering_ends(member.claimed, member.stack)
        except (EngineError, SecretUnreadable) as error:
            _put_off(members, error)
            return []
    return [member for member in members if member.ends and _begin_member(member, member.ends)]


def _put_off(members: Sequence[_Member], error: Exception) -> None:
    leader, *others = members
    if leader.lease.lost:
        return
    for other in others:
        claims.give_back(claimed=other.claimed)
    # Where it ends, the others end with it.
    conduct.put_off(leader.claimed, error)


def _begin_member(member: _Member, ends: Ends) -> bool:
    return claims.begin(claimed=member.claimed, addresses=addresses_document(ends))


def _found_again(members: Sequence[_Member]) -> list[_Member]:
    """Return the runs that another worker began, with their engines; those that it had not begun yet begin."""
    for member in members:
        try:
            member.ends = _ends_again(member)
        except (EngineError, SecretUnreadable) as error:
            member.reason = reason_of_error(error)
    return [
        member
        for member in members
        if member.claimed.taken_over or (member.ends and _begin_member(member, member.ends))
    ]


def _ends_again(member: _Member) -> Ends:
    if not member.claimed.taken_over:
        return conduct.answering_ends(member.claimed, member.stack)
    ends = ends_of(member.claimed, member.stack)
    broken_off = member.claimed.broken_off
    if broken_off is not None and broken_off.trial is not None and broken_off.reason:
        stop_sessions(broken_off.trial, ends, broken_off.reason)
    return ends


def _go_through(members: Sequence[_Member]) -> None:
    """Go through the trials of all, each in its thread; the leader ends last, for it holds the hosts of all."""
    if not members:
        return
    leader, *others = members
    gathering = Gathering([member.run_id for member in members])
    hold = _Hold(leader)
    threads = [
        threading.Thread(
            target=_go_through_trials, args=(member, gathering, hold), name=f"run-{member.run_id}", daemon=True
        )
        for member in others
    ]
    for thread in threads:
        thread.start()
    reason = _conduct_trials(leader, gathering, hold)
    for thread in threads:
        while thread.is_alive() and not leader.lease.lost:
            hold.now_and_then()
            thread.join(1.0)
    if leader.lease.lost:
        for member in others:
            member.lease.lose()
    conduct.run_end(leader.claimed, leader.lease, reason)


def _go_through_trials(member: _Member, gathering: Gathering, hold: "_Hold") -> None:
    try:
        reason = _conduct_trials(member, gathering, hold)
        conduct.run_end(member.claimed, member.lease, reason)
    except Exception as error:
        _log.exception("Run %s broke off", member.run_id)
        member.lease.lose()
        conduct.mark_broken_off(member.claimed, error)
    finally:
        let_database_go()


def _conduct_trials(member: _Member, gathering: Gathering, hold: "_Hold") -> str:
    def is_stopped() -> bool:
        hold.now_and_then()
        return member.lease.stopped

    member.lease.seat = Seat(gathering, member.run_id, is_stopped)
    try:
        if member.ends is None:
            return member.reason
        if not member.claimed.taken_over:
            # The others wait for it at the first trial.
            canaries_take(member.claimed, member.ends)
        return conduct.run_trials(member.claimed, member.ends, member.lease, member.stack)
    finally:
        gathering.leave(member.run_id)
        member.lease.expect(None)


class _Hold:
    """Keeps the hosts of all for the leader while anybody waits for another."""

    def __init__(self, leader: _Member) -> None:
        self._run_id = leader.run_id
        self._due_at = 0.0

    def now_and_then(self) -> None:
        if time.monotonic() < self._due_at:
            return
        self._due_at = time.monotonic() + HOLD_SECONDS
        try:
            reservation_hold(run_id=self._run_id, seconds=2 * HOLD_SECONDS)
        except DatabaseError as error:
            _log.warning("Run %s could not hold its hosts: %s", self._run_id, error)
        finally:
            let_database_go()
