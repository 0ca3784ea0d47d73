"""The state machine as the worker that holds a run's lease drives it: every write is fenced by the lease."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from benchweb import queue
from benchweb.catalog import catalog
from benchweb.plans.expansion import PlannedTrial
from benchweb.runs import live
from benchweb.runs.models import OPEN_STATES, Reservation, Resource, Run, State, Trial
from benchweb.runs.services import EXECUTE_TASK, event_add, trials_of

# The design's figures: a heartbeat every 2 s, a lease of 6 s, so that two may be lost.
LEASE = timedelta(seconds=6)
# Room for what the slots can't know: claim, ingest, a reattachment.
RESERVATION_MARGIN = timedelta(seconds=10)
# How many waiting runs one tick or one ending run wakes.
_WAKE_LIMIT = 200
# A wake-up is repeated every tick: one that waits longer in a busy worker's queue would only pile up.
_WAKE_EXPIRES_SECONDS = 2.0


@dataclass(frozen=True)
class Claimed:
    """A run that this owner holds; `taken_over` when another worker had begun it."""

    run: Run
    owner: str
    taken_over: bool


def claim(*, run_id: int, owner: str) -> Claimed | None:
    """Take a pending run, or one whose worker fell silent; None when it is held, final, or must wait for a host."""
    try:
        with transaction.atomic():
            return _claim(run_id, owner)
    except IntegrityError as error:
        if "exclusive_excludes" not in str(error):
            raise
        _note_waiting(run_id)
        return None


def extend_leases(*, owners: Iterable[str]) -> dict[str, bool]:
    """Extend the leases of these owners; give owner → cancellation asked for. An owner not in it lost its run."""
    held = Run.objects.filter(lease_owner__in=list(owners), state=State.RUNNING)
    held.update(lease_until=timezone.now() + LEASE)
    return {owner: asked is not None for owner, asked in held.values_list("lease_owner", "cancel_requested_at")}


def reservation_extend(*, run_id: int, seconds: float) -> bool:
    """Keep the run's resources for `seconds` from now; False when another reservation is in the way."""
    until = timezone.now() + timedelta(seconds=seconds) + RESERVATION_MARGIN
    too_short = list(Reservation.objects.filter(run_id=run_id, during__endswith__lt=until))
    if not too_short:
        return True
    try:
        with transaction.atomic():
            _locked(Resource.objects.filter(pk__in=[row.resource_id for row in too_short]))
            for row in too_short:
                row.during = DateTimeTZRange(row.during.lower, until)
                row.save(update_fields=["during"])
    except IntegrityError:
        return False
    return True


def trial_start(*, trial: Trial, owner: str) -> bool:
    """Move a pending trial to running; False when the run is no longer the owner's."""
    started_at = timezone.now()
    started = bool(
        Trial.objects.filter(pk=trial.pk, state=State.PENDING, run__lease_owner=owner).update(
            state=State.RUNNING, started_at=started_at
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
    trials = Trial.objects.bulk_create(trials_of(run, planned, first_index=last + 1))
    which = "one combination's interval is" if len(trials) == 1 else f"{len(trials)} combinations' intervals are"
    event_add(run_id=run_id, text=f"Repeated once more: {which} still too wide.")
    return trials


def trial_end(*, trial: Trial, owner: str, state: State, reason: str) -> bool:
    """Move an open trial to a final state without a whole result; False when it was final or isn't the owner's."""
    ended = bool(
        Trial.objects.filter(pk=trial.pk, state__in=OPEN_STATES, run__lease_owner=owner).update(
            state=state, reason=reason, finished_at=timezone.now()
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
    now = timezone.now()
    rest, why = (State.CANCELLED, "the run was cancelled") if cancelled else (State.NONSTART, nonstart_reason)
    Trial.objects.filter(run=run, state__in=OPEN_STATES).update(state=rest, reason=why, finished_at=now)
    state, reason = _verdict(run, cancelled)
    if remark and state in (State.FINISHED, State.FAILED):
        reason = f"{reason}. {remark}" if reason else remark
    Run.objects.filter(pk=run_id, lease_owner=owner, state=State.RUNNING).update(
        state=state, reason=reason, finished_at=now, lease_owner="", lease_until=None
    )
    release(run_id=run_id, at=now)
    event_add(run_id=run_id, text=f"Run {state}{': ' + reason if reason else ''}.")
    transaction.on_commit(lambda: live.publish(run_id, {"type": "run", "state": state}))
    transaction.on_commit(wake_waiting)
    return True


def release(*, run_id: int, at: datetime) -> None:
    """End the run's reservations; what it has occupied stays on record."""
    rows = list(Reservation.objects.filter(run_id=run_id))
    _locked(Resource.objects.filter(pk__in=[row.resource_id for row in rows]))
    for row in rows:
        if row.during.lower >= at:
            row.delete()
        elif row.during.upper > at:
            row.during = DateTimeTZRange(row.during.lower, at)
            row.save(update_fields=["during"])


def wake_waiting() -> int:
    """Enqueue every run that waits or whose worker fell silent, oldest first; give how many."""
    ids = list(claimable().order_by("pk").values_list("pk", flat=True)[:_WAKE_LIMIT])
    for run_id in ids:
        queue.send(EXECUTE_TASK, run_id, expires_seconds=_WAKE_EXPIRES_SECONDS)
    return len(ids)


def claimable() -> QuerySet[Run]:
    """Give the runs that a worker may claim, were their hosts free."""
    expired = Q(state=State.RUNNING, lease_until__lt=timezone.now())
    return Run.objects.filter(Q(state=State.PENDING) | expired)


def _claim(run_id: int, owner: str) -> Claimed | None:
    now = timezone.now()
    fields = {"lease_owner": owner, "lease_until": now + LEASE}
    mine = Run.objects.filter(pk=run_id)
    if mine.filter(state=State.PENDING).update(state=State.RUNNING, waiting_for="", **fields):
        _reserve(_loaded(run_id))
        # Only now are the hosts its own: the wait for them may have taken a moment.
        mine.update(started_at=timezone.now())
        run = _loaded(run_id)
        event_add(run_id=run_id, text="A worker took the run.")
        transaction.on_commit(lambda: live.publish(run_id, {"type": "run", "state": State.RUNNING}))
        return Claimed(run, owner, taken_over=False)
    if mine.filter(state=State.RUNNING, lease_until__lt=now).update(**fields):
        event_add(run_id=run_id, text="The run's worker fell silent; another worker goes on with it.")
        return Claimed(_loaded(run_id), owner, taken_over=True)
    return None


def _loaded(run_id: int) -> Run:
    return Run.objects.select_related(
        "pair__source__host", "pair__sink__host", "pair__environment", "plan_version__plan"
    ).get(pk=run_id)


def _reserve(run: Run) -> None:
    kinds = catalog().kinds
    # A kind that has left the catalog fails its trial later; until then it is taken for exclusive.
    classes = {
        kinds[trial.kind].exclusivity_of(trial.params) if trial.kind in kinds else "exclusive"
        for trial in run.trials.all()
    }
    if classes <= {"background"}:
        return
    seconds = sum(kinds[trial.kind].slot_seconds(trial.params) for trial in run.trials.all() if trial.kind in kinds)
    seconds += run.plan_version.pause_seconds * run.trials.count()
    # A plan that repeats until it is sure holds its hosts for as long as that may take.
    seconds *= run.plan_version.maximum_repetitions / run.plan_version.repetitions
    host_ids = sorted({run.pair.source.host_id, run.pair.sink.host_id})
    for host_id in host_ids:
        Resource.objects.get_or_create(host_id=host_id)
    resources = _locked(Resource.objects.filter(host__in=host_ids))
    now = timezone.now()
    during = DateTimeTZRange(now, now + timedelta(seconds=seconds) + RESERVATION_MARGIN)
    exclusive = Reservation.EXCLUSIVE if "exclusive" in classes else Reservation.NORMAL
    for resource in resources:
        Reservation.objects.create(run=run, resource=resource, exclusive=exclusive, during=during)


def _locked(resources: QuerySet[Resource]) -> list[Resource]:
    """Lock resources, in one order, before their reservations change.

    The constraint alone decides who may have what; but two writers that have both written before either looks wait for
    each other, and twenty runs that wait for one host would end in deadlocks again and again.
    """
    return list(resources.order_by("pk").select_for_update(no_key=True))


def _note_waiting(run_id: int) -> None:
    """Say in words what a pending run waits for."""
    run = Run.objects.select_related("pair__source", "pair__sink").get(pk=run_id)
    hosts = (run.pair.source.host_id, run.pair.sink.host_id)
    blocking = (
        Reservation.objects.filter(resource__host__in=hosts, during__contains=timezone.now())
        .exclude(run_id=run_id)
        .select_related("resource__host")
        .first()
    )
    if blocking is None:
        return
    until = blocking.during.upper.strftime("%H:%M:%S UTC")
    text = f"waiting for host {blocking.resource.host.name}: run {blocking.run_id}, until {until} at the latest"
    Run.objects.filter(pk=run_id, state=State.PENDING).exclude(waiting_for=text).update(waiting_for=text)


def _verdict(run: Run, cancelled: bool) -> tuple[State, str]:
    states = list(run.trials.values_list("state", flat=True))
    total = len(states)
    done = sum(state == State.FINISHED for state in states)
    if cancelled and done < total:
        return State.CANCELLED, f"cancelled with {done} of {total} trials finished"
    if done == total:
        return State.FINISHED, ""
    failed = sum(state == State.FAILED for state in states)
    parts = [f"{failed} of {total} trials failed"] if failed else []
    unstarted = sum(state == State.NONSTART for state in states)
    parts += [f"{unstarted} of {total} trials not started"] if unstarted else []
    first = run.trials.exclude(state=State.FINISHED).exclude(reason="").order_by("index").first()
    return State.FAILED, ", ".join(parts) + (f": {first.reason}" if first else "")
