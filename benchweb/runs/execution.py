"""The state machine as the worker that holds a run's lease drives it: every write is fenced by the lease."""

import secrets
from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from benchweb.catalog.reasons import Reason, joined, reason_fields
from benchweb.common.in_parts import in_parts
from benchweb.plans.expansion import PlannedTrial
from benchweb.runs import live
from benchweb.runs.events import event_add, run_ended, trial_ended
from benchweb.runs.models import OPEN_STATES, Run, State, Trial
from benchweb.runs.queueing.claims import release
from benchweb.runs.queueing.leases import resting

# So many are ended by one tick; the next one comes a second later.
_LIMIT = 500


def addresses_record(*, run_id: int, owner: str, addresses: dict[str, Any]) -> None:
    """Keep the addresses that a held run uses from now on."""
    Run.objects.filter(pk=run_id, lease_owner=owner).update(addresses=addresses)


def trial_start(*, trial: Trial, owner: str) -> bool:
    """Move a pending trial to running; False when the run is no longer the owner's."""
    started = bool(
        Trial.objects.filter(pk=trial.pk, state=State.PENDING, run__lease_owner=owner).update(
            state=State.RUNNING, started_at=Now()
        )
    )
    if started:
        live.publish(trial.run_id, {"type": "trial", "trial": trial.pk, "index": trial.index, "state": "running"})
    return started


@transaction.atomic
def trials_append(*, run_id: int, owner: str, planned: Sequence[PlannedTrial]) -> list[Trial]:
    """Append trials to a held run whose trials are all final; nothing when it is the owner's no more or is to stop."""
    held = Run.objects.select_for_update().filter(pk=run_id, lease_owner=owner, state=State.RUNNING)
    run = held.filter(cancel_requested_at=None).first()
    if run is None or not planned or run.trials.filter(state__in=OPEN_STATES).exists():
        return []
    last = run.trials.aggregate(last=Max("index"))["last"] or 0
    trials = Trial.objects.bulk_create(_trials_of(run, planned, first_index=last + 1))
    which = Reason("one_interval") if len(trials) == 1 else Reason("intervals", trials=len(trials))
    event_add(run_id=run_id, text=Reason("event_repeated", which=which))
    return trials


def trial_end(*, trial: Trial, owner: str, state: State, reason: str) -> bool:
    """Move an open trial to a final state without a whole result; False when it was final or isn't the owner's."""
    ended = bool(
        Trial.objects.filter(pk=trial.pk, state__in=OPEN_STATES, run__lease_owner=owner).update(
            state=state, finished_at=Now(), **reason_fields("reason", reason)
        )
    )
    if ended:
        event_add(run_id=trial.run_id, text=trial_ended(trial.index, trial.kind, state, reason))
        live.publish(trial.run_id, {"type": "trial", "trial": trial.pk, "index": trial.index, "state": state})
    return ended


@transaction.atomic
def run_end(*, run_id: int, owner: str, nonstart_reason: str = "", remark: str = "") -> bool:
    """Bring a held run to its final state from what its trials say, and free its resources.

    `remark` is what a reader of a finished run must know, such as a confidence that was not reached.
    """
    run = Run.objects.select_for_update().filter(pk=run_id, lease_owner=owner, state=State.RUNNING).first()
    if run is None:
        return False
    cancelled = run.cancel_requested_at is not None
    rest = State.CANCELLED if cancelled else State.NONSTART
    why = Reason("run_cancelled") if cancelled else nonstart_reason
    states = list(run.trials.values_list("state", flat=True))
    if not set(states).isdisjoint(OPEN_STATES):
        Trial.objects.filter(run=run, state__in=OPEN_STATES).update(
            state=rest, finished_at=Now(), **reason_fields("reason", why)
        )
        states = [rest if state in OPEN_STATES else state for state in states]
    state, reason = _verdict(run, states, cancelled)
    if remark and state in (State.FINISHED, State.FAILED):
        reason = joined([reason, remark], ". ")
    release(run_id=run_id)
    Run.objects.filter(pk=run_id, lease_owner=owner, state=State.RUNNING).update(
        state=state,
        finished_at=Now(),
        waiting_for="",
        waiting_for_data=None,
        break_offs=0,
        lease_owner="",
        lease_until=None,
        **reason_fields("reason", reason),
    )
    event_add(run_id=run_id, text=run_ended(state, reason))
    transaction.on_commit(partial(live.publish, run_id, {"type": "run", "state": state}))
    return True


def end_cancelled() -> int:
    """End the runs that were cancelled while they waited for their next round; return how many."""
    cancelled = Run.objects.filter(resting(), cancel_requested_at__isnull=False).order_by("pk")
    return in_parts(
        list(cancelled.values_list("pk", flat=True)[:_LIMIT]),
        lambda some: sum(run_end(run_id=run_id, owner="") for run_id in some),
    )


def _trials_of(run: Run, planned: Sequence[PlannedTrial], first_index: int) -> list[Trial]:
    return [
        Trial(
            run=run,
            index=index,
            kind=trial.kind,
            params=trial.params,
            repetition=trial.repetition,
            cookie=secrets.token_hex(32),
        )
        for index, trial in enumerate(planned, start=first_index)
    ]


def _verdict(run: Run, states: Sequence[str], cancelled: bool) -> tuple[State, str]:
    total = len(states)
    done = sum(state == State.FINISHED for state in states)
    if cancelled and done < total:
        return State.CANCELLED, Reason("cancelled_halfway", done=done, total=total)
    if done == total:
        return State.FINISHED, ""
    failed = sum(state == State.FAILED for state in states)
    parts = [Reason("trials_failed", failed=failed, total=total)] if failed else []
    # Whoever stops an engine ends its trial, and nobody has cancelled the run.
    stopped = sum(state == State.CANCELLED for state in states)
    parts += [Reason("trials_cancelled", stopped=stopped, total=total)] if stopped else []
    unstarted = sum(state == State.NONSTART for state in states)
    parts += [Reason("trials_not_started", unstarted=unstarted, total=total)] if unstarted else []
    first = run.trials.exclude(state=State.FINISHED).exclude(reason="").order_by("index").first()
    why = first.why if first else ""
    return State.FAILED, joined([joined(parts, ", "), why], ": ")
