"""Hold a run by a lease and its resources by reservations, in the database's time, whatever a worker's clock says."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.runs import live
from benchweb.runs.events import event_add, position
from benchweb.runs.models import OPEN_STATES, Reservation, Run, State
from benchweb.runs.queueing import dispatch, endings
from benchweb.runs.queueing.break_offs import BreakOff, claim_failed, pending_count, running_count
from benchweb.runs.queueing.leases import LEASE, resting
from benchweb.runs.queueing.occupancy import occupancy
from benchweb.runs.queueing.queues import RESERVATION_MARGIN_SECONDS
from benchweb.runs.queueing.reservations import (
    lock_resources,
    locked_hosts,
    machines,
    occupy,
    queue_up,
    reservation_hold,
    resources_of_run,
    shorten,
)


@dataclass(frozen=True)
class Claimed:
    """A run that this owner holds; `taken_over` when it had begun before, else it is pending still."""

    run: Run
    owner: str
    taken_over: bool
    # By this process's monotonic clock; what another worker reserved is asked of the database.
    reserved_until: float = 0.0
    # What the worker before broke off on.
    broken_off: BreakOff | None = None


def claim(*, run_id: int, owner: str) -> Claimed | None:
    """Hold a pending run with its resources, or one whose worker fell silent; None when it isn't to be had.

    A pending run stays pending until `begin`: its engines are asked first.
    """
    dispatch.arrived(run_id)
    try:
        with transaction.atomic():
            return _claim(run_id, owner)
    except IntegrityError as error:
        if "exclusive_excludes" not in str(error):
            raise
        # Another run was quicker. It keeps its place, and the next dispatch sees who has the resource.
        _wait_for_machines(run_id)
        return None


@transaction.atomic
def _wait_for_machines(run_id: int) -> None:
    """Queue a run at the resources that it needs by now: hosts may be one machine since it was launched."""
    run = _loaded(run_id)
    if not run.lease_owner and locked_hosts(run_id) != machines(run):
        queue_up(run)


@transaction.atomic
def claim_broke_off(*, run_id: int, error: BaseException) -> None:
    """Count a claim that failed by a fault of the run's own; the third one ends the run."""
    if reason := claim_failed(run_id=run_id, error=error):
        end_anyhow(run_id=run_id, reason=reason)


@transaction.atomic
def end_anyhow(*, run_id: int, reason: str) -> None:
    """End a run that nothing else can end, whatever state it is in, and free its resources."""
    release(run_id=run_id)
    if not endings.end_pending({run_id: reason}, State.NONSTART, even_held=True):
        endings.end_running(run_id=run_id, reason=reason)


def begin(*, claimed: Claimed, addresses: dict[str, Any] | None = None) -> bool:
    """Move a held run from pending to running; False when it was cancelled or is the owner's no more.

    `addresses` are those that it uses, for whoever goes on with it.
    """
    run_id = claimed.run.pk
    with transaction.atomic():
        held = Run.objects.filter(pk=run_id, state=State.PENDING, lease_owner=claimed.owner)
        if not held.update(state=State.RUNNING, started_at=Now(), addresses=addresses, break_offs=0):
            return False
        event_add(run_id=run_id, text=Reason("event_worker_took_run"))
        transaction.on_commit(partial(live.publish, run_id, {"type": "run", "state": State.RUNNING}))
    return True


@transaction.atomic
def postpone(*, claimed: Claimed, reason: str) -> bool:
    """Put a held run that can't begin back into its queue for a while; False when it has no attempt left and ended."""
    run, campaign = claimed.run, claimed.run.campaign
    attempts = run.attempts + 1
    if attempts > campaign.retries:
        end_unbegun(claimed=claimed, reason=reason)
        return False
    again_at = timezone.now() + timedelta(seconds=campaign.retry_pause_seconds)
    tried = Reason("attempt", attempt=position(attempts), total=campaign.retries + 1)
    waiting_for = Reason("trying_again", again_at=f"{again_at:%H:%M:%S}", tried=tried, reason=reason)
    given_back = Run.objects.filter(pk=run.pk, state=State.PENDING, lease_owner=claimed.owner).update(
        attempts=attempts,
        not_before=Now() + timedelta(seconds=campaign.retry_pause_seconds),
        lease_owner="",
        lease_until=None,
        **reason_fields("waiting_for", waiting_for),
    )
    if given_back:
        Reservation.objects.filter(run=run).update(during=None)
        event_add(run_id=run.pk, text=Reason("event_not_begun", waiting_for=waiting_for))
        _wake_after(resources_of_run(run.pk))
    return True


def give_back(*, claimed: Claimed) -> None:
    """Let go of a held run that has not begun: the run that leads it waits."""
    Run.objects.filter(pk=claimed.run.pk, state=State.PENDING, lease_owner=claimed.owner).update(
        lease_owner="", lease_until=None
    )


@transaction.atomic
def end_unbegun(*, claimed: Claimed, reason: str) -> None:
    """End a held run that can't begin as nonstart, with the reason."""
    run_id = claimed.run.pk
    if Run.objects.filter(pk=run_id, state=State.PENDING, lease_owner=claimed.owner).update(attempts=F("attempts") + 1):
        _wake_after(resources_of_run(run_id))
        endings.end_pending({run_id: reason}, State.NONSTART, even_held=True)


@transaction.atomic
def rest(*, claimed: Claimed) -> bool:
    """Put a held run back into its queues, behind the others of its campaign, until its next round.

    False when it is the owner's no more, is to stop, or stands in no queue.
    """
    run = claimed.run
    resource_ids = lock_resources(run.pk)
    if run.planned_at is None or not resource_ids:
        return False
    round_seconds = (run.campaign.planned_seconds or 0.0) / occupancy(run.plan_version_id).rounds
    planned = {"planned_at": run.planned_at + timedelta(seconds=round_seconds)}
    held = Run.objects.filter(
        pk=run.pk, state=State.RUNNING, lease_owner=claimed.owner, cancel_requested_at__isnull=True
    )
    waiting = reason_fields("waiting_for", Reason("between_rounds"))
    if not held.update(lease_owner="", lease_until=None, break_offs=0, **planned, **waiting):
        return False
    Reservation.objects.filter(run=run).update(during=None, **planned)
    _wake_after(resource_ids)
    return True


def reservation_extend(*, claimed: Claimed, seconds: float) -> bool:
    """Keep the run's resources for `seconds` from now; False when another reservation is in the way."""
    if time.monotonic() + seconds + RESERVATION_MARGIN_SECONDS < claimed.reserved_until:
        return True
    return reservation_hold(run_id=claimed.run.pk, seconds=seconds)


def release(*, run_id: int) -> None:
    """End the run's reservations within a transaction, and look for the next runs after it."""
    resource_ids = lock_resources(run_id)
    shorten(run_id)
    _wake_after(resource_ids)


def _claim(run_id: int, owner: str) -> Claimed | None:
    run = Run.objects.filter(pk=run_id)
    lease = {"lease_owner": owner, "lease_until": Now() + LEASE}
    is_due = Q(not_before=None) | Q(not_before__lte=Now())
    if run.filter(is_due, lease_owner="", state=State.PENDING).update(waiting_for="", waiting_for_data=None, **lease):
        return _begun(run_id, owner)
    if run.filter(resting()).update(waiting_for="", waiting_for_data=None, **lease):
        return _begun(run_id, owner, taken_over=True)
    silent = run.filter(dispatch.silent(), state__in=OPEN_STATES).select_for_update()
    previous = silent.only("state", "lease_owner", "waiting_for", "waiting_for_data").first()
    if previous is None:
        return None
    previous_owner, waiting_for = previous.lease_owner, previous.waits_for
    run.update(waiting_for="", waiting_for_data=None, **lease)
    if previous.state == State.RUNNING:
        return _taken_over(run_id, owner, previous_owner, waiting_for)
    reason = pending_count(run_id=run_id, previous_owner=previous_owner, waiting_for=waiting_for)
    if not reason:
        return _begun(run_id, owner)
    _wake_after(resources_of_run(run_id))
    endings.end_pending({run_id: reason}, State.NONSTART, even_held=True)
    return None


def _begun(run_id: int, owner: str, *, taken_over: bool = False) -> Claimed:
    before = time.monotonic()
    loaded = _loaded(run_id)
    return Claimed(loaded, owner, taken_over, reserved_until=before + occupy(loaded))


def _taken_over(run_id: int, owner: str, previous_owner: str, waiting_for: str) -> Claimed:
    event_add(run_id=run_id, text=Reason("event_worker_took_over"))
    loaded = _loaded(run_id)
    loaded.waits_for = waiting_for
    broken_off = running_count(run=loaded, previous_owner=previous_owner)
    return Claimed(loaded, owner, taken_over=True, broken_off=broken_off)


def _loaded(run_id: int) -> Run:
    names = ("pair__source__host", "pair__sink__host", "pair__environment", "plan_version__plan", "campaign")
    return Run.objects.select_related(*names).get(pk=run_id)


def _wake_after(resource_ids: Collection[int]) -> None:
    """Look for the runs that may start on these resources once this transaction is done."""
    if resource_ids:
        transaction.on_commit(partial(dispatch.wake, resource_ids, is_after_end=True), robust=True)
