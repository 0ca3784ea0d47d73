"""Count the workers that broke off on a run, so that no fault is tried without bound.

A worker breaks off when it holds a run and its lease runs out: it was killed, hangs, or met a fault that nobody
foresaw. Who hands a run over on purpose doesn't count. After three workers what they broke off on is given up, with
its reason, and everything else goes on.
"""

from dataclasses import dataclass

from django.db.models import F, Q
from django.db.models.functions import Now

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.runs.events import event_add, trial_ended
from benchweb.runs.models import OPEN_STATES, Run, State, Trial
from benchweb.runs.queueing.dispatch import silent

MAXIMUM = 3
# No worker's name: whose lease ended, and who took its run over, is another's.
GIVEN_UP = "-"
_CODE = "worker_broke_off"


@dataclass(frozen=True)
class BreakOff:
    """What a worker broke off on: a trial, or None for the run beside its trials; `reason` when it is given up."""

    trial: Trial | None = None
    reason: str = ""


def break_off_note(*, run_id: int, owner: str, error: BaseException) -> None:
    """Keep why a worker breaks off, where the next one and the run's readers find it."""
    reason = _broke_off(error)
    held = Run.objects.filter(pk=run_id, lease_owner=owner, state__in=OPEN_STATES)
    if not held.update(**reason_fields("waiting_for", reason)):
        return
    event_add(run_id=run_id, text=Reason("event_worker_broke_off", error=f"{type(error).__name__}: {error}"))


def pending_count(*, run_id: int, previous_owner: str, waiting_for: str) -> str:
    """Count the worker that broke off before a run began; return the reason when the run is to be given up."""
    if previous_owner in ("", GIVEN_UP):
        return ""
    return _run_count(run_id, waiting_for)


def claim_failed(*, run_id: int, error: BaseException) -> str:
    """Count a worker that could not even claim a run; return the reason when the run is to be given up."""
    reason = _broke_off(error)
    nobodys = Run.objects.filter(Q(lease_owner="") | silent(), pk=run_id, state__in=OPEN_STATES)
    return _run_count(run_id, reason) if nobodys.update(**reason_fields("waiting_for", reason)) else ""


def running_count(*, run: Run, previous_owner: str) -> BreakOff | None:
    """Count the worker that broke off on a running run: on its first open trial, where it has one.

    A trial that three workers broke off on fails here, and later ones go on.
    """
    if previous_owner in ("", GIVEN_UP):
        return None
    trial = run.trials.filter(state__in=OPEN_STATES).order_by("index").first()
    if trial is None:
        return BreakOff(reason=_run_count(run.pk, run.waits_for))
    Trial.objects.filter(pk=trial.pk).update(break_offs=F("break_offs") + 1)
    trial.refresh_from_db(fields=["break_offs"])
    if trial.break_offs < MAXIMUM:
        return BreakOff(trial)
    last = _last(run.waits_for)
    reason = Reason("workers_broke_off_on_trial", count=trial.break_offs, last=last)
    Trial.objects.filter(pk=trial.pk, state__in=OPEN_STATES).update(
        state=State.FAILED, finished_at=Now(), **reason_fields("reason", reason)
    )
    event_add(run_id=run.pk, text=trial_ended(trial.index, trial.kind, State.FAILED, reason))
    return BreakOff(trial, reason)


def _broke_off(error: BaseException) -> Reason:
    return Reason(_CODE, name=type(error).__name__, error=str(error))


def _run_count(run_id: int, last: str) -> str:
    Run.objects.filter(pk=run_id, state__in=OPEN_STATES).update(break_offs=F("break_offs") + 1)
    count = Run.objects.values_list("break_offs", flat=True).get(pk=run_id)
    return Reason("workers_broke_off_on_run", count=count, last=_last(last)) if count >= MAXIMUM else ""


def _last(waiting_for: str) -> str:
    """Say why the last worker broke off, where it could still note it."""
    if isinstance(waiting_for, Reason) and waiting_for.code == _CODE:
        return "{name}: {error}".format(**waiting_for.params)
    return Reason("worker_gone")
