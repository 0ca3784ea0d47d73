"""One trial on two engines: create or find again its sessions, follow its events, take its result in."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.db import DatabaseError
from django.utils import timezone

from benchweb.catalog import catalog
from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.reasons import Reason, reason_of_error
from benchweb.common.database_faults import refuses_data
from benchweb.results.ingest import SINK_STARTED_AT, ParsedResult, ResultInvalid, ingest, parsed_result, with_others
from benchweb.runs import live
from benchweb.runs.execution import trial_end
from benchweb.runs.models import State, Trial
from workers.engine_client import EngineGarbage, EngineRefused, EngineUnreachable
from workers.engine_client.messages import LEASE_SECONDS, EngineEvent, SessionSpec
from workers.engines.connections import let_database_go
from workers.engines.ends import Ends, refuse_other_address
from workers.engines.paths import EnginePath
from workers.runs.leases import Lease
from workers.runs.lost_peer import naming_the_end
from workers.runs.overtime import Overtime
from workers.runs.sessions import Renewal, acknowledge, is_of_one_host, sink_started_at, stop_sessions
from workers.runs.stopping import stops

# For how long a trial's events are looked for again after the connection broke.
REATTACH_SECONDS = 5.0
_REATTACH_PAUSE_SECONDS = 0.25
# For how long an engine that has as many sessions as it allows is asked again.
BUSY_SECONDS = 5.0
_BUSY_PAUSE_SECONDS = 0.25
# For how long a cancelled trial's end lets the stops of others go first: a stop that nobody answers holds up no more.
_STOPS_FIRST_SECONDS = 1.0
# A database that can't store (a full disk) is tried again for this long; the engine keeps the result.
INGEST_SECONDS = 30.0
# For how long beyond its slot a trial's events are followed.
ENDLESS_SECONDS = 60.0
_CANCELLED = Reason("run_cancelled")
_log = logging.getLogger(__name__)


class _TimeLimit:
    """What a trial may take: an engine that goes on telling and never comes to an end holds its hosts no longer."""

    def __init__(self, trial: Trial, engine: str) -> None:
        self._engine = engine
        self._seconds = catalog().kinds[trial.kind].slot_seconds(trial.params) + ENDLESS_SECONDS
        self._over_at = time.monotonic() + self._seconds

    def check(self) -> None:
        """Raise EngineGarbage when the time is over."""
        if time.monotonic() > self._over_at:
            raise EngineGarbage(Reason("engine_endless", engine=self._engine, seconds=self._seconds))


def run_trial(*, trial: Trial, ends: Ends, lease: Lease) -> None:
    """Bring one running trial to its final state; raises EngineUnreachable when an engine can't be reached at all.

    A trial that another worker began is found again: creating a session twice is harmless.
    """
    lease.on_cancel = lambda: stop_sessions(trial, ends, _CANCELLED)
    try:
        final = _final_event(trial, ends, lease)
        if lease.cancelled:
            stops.let_go_first(_STOPS_FIRST_SECONDS)
        _take_in(trial, lease, final, _simultaneous_fields(trial, ends, lease))
    except (EngineRefused, EngineGarbage) as error:
        if lease.lost:
            # The sessions are the next worker's, which was perhaps woken already.
            return
        stop_sessions(trial, ends, str(error))
        state = State.CANCELLED if lease.cancelled else State.FAILED
        trial_end(trial=trial, owner=lease.owner, state=state, reason=error.reason)
    finally:
        lease.on_cancel = None
        let_database_go()


def _final_event(trial: Trial, ends: Ends, lease: Lease) -> EngineEvent:
    """Conduct the trial to its final event, on the next path where the sink's data port can't be reached by one."""
    while True:
        _create_sessions(trial, ends, lease)
        if lease.cancelled:
            # The cancellation may have come before the sessions were there to be stopped.
            stop_sessions(trial, ends, _CANCELLED)
        final = _followed_event(trial, ends, lease)
        if not _is_without_way(final):
            ends.paths.settle()
            return _named_failure(final, trial, ends)
        tried = [*ends.paths.failed, ends.paths.current]
        if lease.stopped or not ends.paths.advance():
            return _telling_all(final, tried)
        _log.info("Trial %s: %s", trial.pk, final.body.get("reason"))
        # The sessions are made anew, with the same names.
        acknowledge(trial, ends)


def _named_failure(final: EngineEvent, trial: Trial, ends: Ends) -> EngineEvent:
    """Return the final event with the engine named that was lost or restarted."""
    if final.type != "failure" or is_of_one_host(trial):
        return final
    began = Trial.objects.filter(pk=trial.pk).values_list("started_at", flat=True).get()
    let_database_go()
    since = timezone.now() - (began or timezone.now())
    return naming_the_end(final, source=ends.source, sink=ends.sink, session=f"{trial.session}-sink", since=since)


def _is_without_way(final: EngineEvent) -> bool:
    is_unreachable = final.type == "failure" and final.body.get("code") == "unreachable"
    return is_unreachable and not final.body.get("partial")


def _telling_all(final: EngineEvent, tried: Sequence[EnginePath]) -> EngineEvent:
    if len(tried) < 2:
        return final
    reason = Reason("tried_in_turn", reason=final.reason, paths=", ".join(map(str, tried)))
    return replace(final, body={**final.body, "reason": reason})


def _create_sessions(trial: Trial, ends: Ends, lease: Lease) -> None:
    common: dict[str, Any] = {
        "kind": trial.kind,
        "params": trial.params,
        "cookie": trial.cookie,
        "lease_seconds": LEASE_SECONDS,
    }
    if is_of_one_host(trial):
        spec = SessionSpec(role="source", **common)
        _once_free(lambda: ends.source.create(f"{trial.session}-source", spec), lease)
        return
    sink_spec = SessionSpec(role="sink", bind=ends.sink_bind, **common)
    prepared = _once_free(lambda: ends.sink.create(f"{trial.session}-sink", sink_spec), lease)
    # What a trial that was begun before came to, its source tells better.
    if prepared["state"] == "failed" and trial.state == State.PENDING:
        why = engine_reason(str(prepared.get("reason")), prepared.get("reason_data"))
        raise EngineRefused(Reason("engine_not_prepared", engine=ends.sink.name, reason=why), code="failed")
    refuse_other_address(ends, prepared)
    if lease.seat is not None:
        lease.seat.start(trial)
    peer = {"address": ends.paths.current.sink, "data_port": ends.data_port}
    source_spec = SessionSpec(role="source", peer=peer, bind=ends.source_bind, **common)
    _once_free(lambda: ends.source.create(f"{trial.session}-source", source_spec), lease)


def _once_free(create: Callable[[], dict[str, Any]], lease: Lease) -> dict[str, Any]:
    """Create a session, again while the engine is busy with others' for a moment."""
    give_up_at = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return create()
        except EngineRefused as error:
            if not error.may_pass or lease.stopped or time.monotonic() > give_up_at:
                raise
        lease.pause(_BUSY_PAUSE_SECONDS)


def _followed_event(trial: Trial, ends: Ends, lease: Lease) -> EngineEvent:
    """Follow the source's events to the final one, over broken connections; intervals go out live on the way."""
    last_id = 0
    final: EngineEvent | None = None
    renewal = Renewal(trial, ends)
    limit, overtime = _TimeLimit(trial, ends.source.name), Overtime(trial)

    def note_sign_of_life() -> None:
        renewal.renew_if_due()
        limit.check()
        if overtime.extend_if_due():
            let_database_go()

    give_up_at = time.monotonic() + REATTACH_SECONDS
    while final is None:
        try:
            for event in ends.source.events(
                f"{trial.session}-source", after=last_id, on_sign_of_life=note_sign_of_life
            ):
                if event.id <= last_id:
                    # Told again: no progress, and no reason to wait longer.
                    continue
                last_id = event.id
                give_up_at = time.monotonic() + REATTACH_SECONDS
                # No return from here: read to its end, the stream's connection serves the next trial.
                final = event if event.is_final else None
                _announce_interval(trial, event)
        except EngineUnreachable:
            limit.check()
            if final is None and (time.monotonic() > give_up_at or lease.stopped):
                raise
            time.sleep(0 if final else _REATTACH_PAUSE_SECONDS)
    return final


def _announce_interval(trial: Trial, event: EngineEvent) -> None:
    if event.type != "interval":
        return
    # Figures of each flow are for the result: with three hundred flows they are most of what there is.
    interval = {key: value for key, value in event.interval.items() if key != "flows"}
    if not interval:
        return
    message = {
        "type": "interval",
        "trial": trial.pk,
        "index": trial.index,
        "event": event.id,
        "metric": catalog().kinds[trial.kind].live,
        "interval": interval,
    }
    live.publish_interval(trial.run_id, message)


def _simultaneous_fields(trial: Trial, ends: Ends, lease: Lease) -> dict[str, Any]:
    """Return what a result of runs that started together has besides: how many they were, and when its sink began."""
    if lease.seat is None:
        return {}
    return {"sources": lease.seat.sources, SINK_STARTED_AT: sink_started_at(trial, ends)}


def _take_in(trial: Trial, lease: Lease, final: EngineEvent, beside: dict[str, Any]) -> None:
    if final.type == "result":
        try:
            result = parsed_result(trial.kind, final.body.get("result"))
        except ResultInvalid as error:
            raise EngineGarbage(Reason("result_refused", error=reason_of_error(error))) from error
        _ingested(trial, State.FINISHED, "", with_others(result, beside))
        return
    cancelled = lease.cancelled or final.body.get("state") == "cancelled"
    state = State.CANCELLED if cancelled else State.FAILED
    if not _store_partial(trial, state, final, beside):
        trial_end(trial=trial, owner=lease.owner, state=state, reason=final.reason)


def _store_partial(trial: Trial, state: State, final: EngineEvent, beside: dict[str, Any]) -> bool:
    """Keep what a failed trial measured; False where it is nothing, or nothing that can be kept."""
    partial = final.body.get("partial")
    if not partial:
        return False
    try:
        result = with_others(parsed_result(trial.kind, partial), beside)
        # A test of which nothing arrived came to its end: its counts are whole.
        cut_short = [] if final.body.get("code") == "nothing_arrived" else ["partial"]
        _ingested(trial, state, final.reason, replace(result, flags=[*result.flags, *cut_short]))
    except (ResultInvalid, EngineGarbage) as error:
        _log.warning("Of trial %s the part that was measured can't be kept: %s", trial.pk, error)
        return False
    return True


def _ingested(trial: Trial, state: State, reason: str, result: ParsedResult) -> None:
    """Take a result in; raises EngineGarbage for one that can't be stored, now or later."""
    try:
        _repeated_while_refused(lambda: ingest(trial=trial, result=result, state=state, reason=reason))
    except (DatabaseError, ValueError, TypeError, OverflowError, RecursionError) as error:
        if isinstance(error, DatabaseError) and not refuses_data(error):
            raise
        _log.exception("The result of trial %s can't be stored", trial.pk)
        raise EngineGarbage(Reason("result_not_stored", error=str(error))) from error


def _repeated_while_refused(store: Callable[[], bool]) -> None:
    """Try a write again while the database can't take it, such as when its disk is full."""
    give_up_at = time.monotonic() + INGEST_SECONDS
    while True:
        try:
            store()
            return
        except DatabaseError as error:
            let_database_go()
            if refuses_data(error) or time.monotonic() > give_up_at:
                raise
            _log.warning("A result waits, the database refused it: %s", error)
            time.sleep(1.0)
