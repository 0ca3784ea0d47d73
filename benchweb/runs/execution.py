"""The state machine as the worker that holds a run's lease drives it: every write is fenced by the lease."""

import secrets
from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from benchweb.common.storable import storable_text
from benchweb.plans.expansion import PlannedTrial
from benchweb.runs import live
from benchweb.runs.events import event_add
from benchweb.runs.models import OPEN_STATES, Run, State, Trial
from benchweb.runs.queueing.claims import release


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
    which = "one combination's interval is" if len(trials) == 1 else f"{len(trials)} combinations' intervals are"
    event_add(run_id=run_id, text=f"Repeated once more: {which} still too wide.")
    return trials


def trial_end(*, trial: Trial, owner: str, state: State, reason: str) -> bool:
    """Move an open trial to a final state without a whole result; False when it was final or isn't the owner's."""
    reason = storable_text(reason)
    ended = bool(
        Trial.objects.filter(pk=trial.pk, state__in=OPEN_STATES, run__lease_owner=owner).update(
            state=state, reason=reason, finished_at=Now()
        )
    )
    if ended:
        text = f"Trial {trial.index} ({trial.kind}) {state}: {reason}"
        event_add(run_id=trial.run_id, text=text)
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
    rest, why = State.CANCELLED, "the run was cancelled"
    if not cancelled:
        rest, why = State.NONSTART, storable_text(nonstart_reason)
    states = list(run.trials.values_list("state", flat=True))
    if not set(states).isdisjoint(OPEN_STATES):
        Trial.objects.filter(run=run, state__in=OPEN_STATES).update(state=rest, reason=why, finished_at=Now())
        states = [rest if state in OPEN_STATES else state for state in states]
    state, reason = _verdict(run, states, cancelled)
    if remark and state in (State.FINISHED, State.FAILED):
        reason = f"{reason}. {remark}" if reason else remark
    release(run_id=run_id)
    Run.objects.filter(pk=run_id, lease_owner=owner, state=State.RUNNING).update(
        state=state, reason=reason, finished_at=Now(), waiting_for="", break_offs=0, lease_owner="", lease_until=None
    )
    event_add(run_id=run_id, text=f"Run {state}{': ' + reason if reason else ''}.")
    transaction.on_commit(partial(live.publish, run_id, {"type": "run", "state": state}))
    return True


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
        return State.CANCELLED, f"cancelled with {done} of {total} trials finished"
    if done == total:
        return State.FINISHED, ""
    failed = sum(state == State.FAILED for state in states)
    parts = [f"{failed} of {total} trials failed"] if failed else []
    # Whoever stops an engine ends its trial, and nobody has cancelled the run.
    stopped = sum(state == State.CANCELLED for state in states)
    parts += [f"{stopped} of {total} trials cancelled"] if stopped else []
    unstarted = sum(state == State.NONSTART for state in states)
    parts += [f"{unstarted} of {total} trials not started"] if unstarted else []
    first = run.trials.exclude(state=State.FINISHED).exclude(reason="").order_by("index").first()
    return State.FAILED, ", ".join(parts) + (f": {first.reason}" if first else "")
