"""Hold a run by a lease and its resources by reservations, in the database's time, whatever a worker's clock says."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import inf
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.runs import endings, live
from benchweb.runs.events import event_add, position
from benchweb.runs.models import OPEN_STATES, Reservation, Resource, Run, State
from benchweb.runs.queueing import dispatch
from benchweb.runs.queueing.break_offs import BreakOff, claim_failed, pending_count, running_count
from benchweb.runs.queueing.leases import LEASE
from benchweb.runs.queueing.occupancy import machines_of, occupancy, resources_of
from benchweb.runs.queueing.queues import RESERVATION_MARGIN_SECONDS

_OCCUPY = """
UPDATE runs_reservation
SET during = tstzrange(statement_timestamp(), statement_timestamp() + %s * interval '1 second')
WHERE run_id = %s
"""
# What it has occupied stays on record; what it only waited for goes.
_SHORTEN = """
UPDATE runs_reservation
SET during = tstzrange(lower(during), greatest(lower(during), statement_timestamp()))
WHERE run_id = %s AND during IS NOT NULL AND upper(during) > statement_timestamp()
"""
_EXTEND = """
UPDATE runs_reservation SET during = tstzrange(lower(during), statement_timestamp() + %(seconds)s * interval '1 second')
WHERE run_id = %(run)s AND upper(during) < statement_timestamp() + %(seconds)s * interval '1 second'
"""


@dataclass(frozen=True)
class Claimed:
    """A run that this owner holds; `taken_over` when another worker had begun it, else it is pending still."""

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
    if run.state == State.PENDING and _locked_hosts(run_id) != machines_of(run.pair):
        _queue_up(run)


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
        _wake_after(_resources_of_run(run.pk))
    return True


@transaction.atomic
def end_unbegun(*, claimed: Claimed, reason: str) -> None:
    """End a held run that can't begin as nonstart, with the reason."""
    run_id = claimed.run.pk
    if Run.objects.filter(pk=run_id, state=State.PENDING, lease_owner=claimed.owner).update(attempts=F("attempts") + 1):
        _wake_after(_resources_of_run(run_id))
        endings.end_pending({run_id: reason}, State.NONSTART, even_held=True)


def reservation_extend(*, claimed: Claimed, seconds: float) -> bool:
    """Keep the run's resources for `seconds` from now; False when another reservation is in the way."""
    if time.monotonic() + seconds + RESERVATION_MARGIN_SECONDS < claimed.reserved_until:
        return True
    return reservation_hold(run_id=claimed.run.pk, seconds=seconds)


def reservation_hold(*, run_id: int, seconds: float) -> bool:
    """Keep a run's resources for `seconds` from now and the margin; False when another reservation is in the way."""
    values = {"run": run_id, "seconds": seconds + RESERVATION_MARGIN_SECONDS}
    short = Reservation.objects.filter(run_id=run_id, during__endswith__lt=Now() + timedelta(seconds=values["seconds"]))
    if not short.exists():
        return True
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            _lock_resources(run_id)
            cursor.execute(_EXTEND, values)
    except IntegrityError:
        return False
    return True


def release(*, run_id: int) -> None:
    """End the run's reservations within a transaction, and look for the next runs after it."""
    resource_ids = _lock_resources(run_id)
    with connection.cursor() as cursor:
        cursor.execute(_SHORTEN, [run_id])
    _wake_after(resource_ids)


def _claim(run_id: int, owner: str) -> Claimed | None:
    run = Run.objects.filter(pk=run_id)
    lease = {"lease_owner": owner, "lease_until": Now() + LEASE}
    is_due = Q(not_before=None) | Q(not_before__lte=Now())
    if run.filter(is_due, lease_owner="", state=State.PENDING).update(waiting_for="", waiting_for_data=None, **lease):
        return _begun(run_id, owner)
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
    _wake_after(_resources_of_run(run_id))
    endings.end_pending({run_id: reason}, State.NONSTART, even_held=True)
    return None


def _begun(run_id: int, owner: str) -> Claimed:
    before = time.monotonic()
    loaded = _loaded(run_id)
    return Claimed(loaded, owner, taken_over=False, reserved_until=before + _occupy(loaded))


def _taken_over(run_id: int, owner: str, previous_owner: str, waiting_for: str) -> Claimed:
    event_add(run_id=run_id, text=Reason("event_worker_took_over"))
    loaded = _loaded(run_id)
    loaded.waits_for = waiting_for
    broken_off = running_count(run=loaded, previous_owner=previous_owner)
    return Claimed(loaded, owner, taken_over=True, broken_off=broken_off)


def _loaded(run_id: int) -> Run:
    names = ("pair__source__host", "pair__sink__host", "pair__environment", "plan_version__plan", "campaign")
    return Run.objects.select_related(*names).get(pk=run_id)


def _occupy(run: Run) -> float:
    """Return the run's reservations their span; return its seconds, without end where it occupies nothing."""
    occupied = occupancy(run.plan_version_id)
    if occupied.is_background:
        return inf
    if _locked_hosts(run.pk) != machines_of(run.pair):
        _queue_up(run)
        _lock_resources(run.pk)
    seconds = occupied.seconds + RESERVATION_MARGIN_SECONDS
    with connection.cursor() as cursor:
        cursor.execute(_OCCUPY, [seconds, run.pk])
    return seconds


def _queue_up(run: Run) -> None:
    """Make a run's reservations anew: none were made with it, or which hosts are one machine was found out since."""
    Reservation.objects.filter(run=run).delete()
    exclusive = Reservation.EXCLUSIVE if occupancy(run.plan_version_id).is_exclusive else Reservation.NORMAL
    planned_at = run.planned_at or run.created_at
    for resource_id in resources_of([run.pair])[run.pair_id]:
        Reservation.objects.create(run=run, resource_id=resource_id, exclusive=exclusive, planned_at=planned_at)
    Run.objects.filter(pk=run.pk, planned_at=None).update(planned_at=run.created_at)


def _lock_resources(run_id: int) -> list[int]:
    """Lock a run's resources, in one order, before its reservations change; return their ids.

    The constraint alone decides who may have what; but two writers that have both written before either looks wait for
    each other, and twenty runs that wait for one host would end in deadlocks again and again.
    """
    return [pk for pk, _host in _locked(run_id)]


def _locked_hosts(run_id: int) -> set[int]:
    """Lock a run's resources; return the ids of the hosts among them."""
    return {host for _pk, host in _locked(run_id) if host is not None}


def _locked(run_id: int) -> list[tuple[int, int | None]]:
    mine = Resource.objects.filter(reservations__run=run_id).order_by("pk")
    return list(mine.select_for_update(no_key=True, of=("self",)).values_list("pk", "host_id"))


def _resources_of_run(run_id: int) -> list[int]:
    return list(Reservation.objects.filter(run=run_id).values_list("resource_id", flat=True))


def _wake_after(resource_ids: Collection[int]) -> None:
    """Look for the runs that may start on these resources once this transaction is done."""
    if resource_ids:
        transaction.on_commit(partial(dispatch.wake, resource_ids, is_after_end=True), robust=True)
