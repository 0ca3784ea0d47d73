"""The reservations of a run: made, given their span, extended and ended; the constraints decide who may have what."""

from datetime import timedelta
from math import inf

from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from benchweb.runs.models import Reservation, Resource, Run
from benchweb.runs.queueing.occupancy import machines_of, occupancy, resources_of
from benchweb.runs.queueing.queues import RESERVATION_MARGIN_SECONDS
from benchweb.runs.queueing.simultaneous import is_led, pairs_held

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


def occupy(run: Run) -> float:
    """Set the span of the run's reservations from now; return its seconds, infinite where it occupies nothing."""
    occupied = occupancy(run.plan_version_id)
    if (occupied.is_background and run.planned_at is None) or is_led(run):
        return inf
    if locked_hosts(run.pk) != machines(run):
        queue_up(run)
        lock_resources(run.pk)
    seconds = occupied.turn_seconds(run.campaign.arrangement) + RESERVATION_MARGIN_SECONDS
    with connection.cursor() as cursor:
        cursor.execute(_OCCUPY, [seconds, run.pk])
    return seconds


def reservation_hold(*, run_id: int, seconds: float) -> bool:
    """Keep a run's resources for `seconds` from now and the margin; False when another reservation is in the way."""
    values = {"run": run_id, "seconds": seconds + RESERVATION_MARGIN_SECONDS}
    short = Reservation.objects.filter(run_id=run_id, during__endswith__lt=Now() + timedelta(seconds=values["seconds"]))
    if not short.exists():
        return True
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            lock_resources(run_id)
            cursor.execute(_EXTEND, values)
    except IntegrityError:
        return False
    return True


def shorten(run_id: int) -> None:
    """End a run's spans now, and take it from the queues that it stands in."""
    with connection.cursor() as cursor:
        cursor.execute(_SHORTEN, [run_id])
    Reservation.objects.filter(run=run_id, during=None).delete()


def queue_up(run: Run) -> None:
    """Make a run's reservations anew: none were made with it, or which hosts are one machine was found out since."""
    Reservation.objects.filter(run=run).delete()
    exclusive = Reservation.EXCLUSIVE if occupancy(run.plan_version_id).is_exclusive else Reservation.NORMAL
    planned_at = run.planned_at or run.created_at
    resources = resources_of(pairs_held(run)).values()
    for resource_id in sorted({resource_id for of_pair in resources for resource_id in of_pair}):
        Reservation.objects.create(run=run, resource_id=resource_id, exclusive=exclusive, planned_at=planned_at)
    Run.objects.filter(pk=run.pk, planned_at=None).update(planned_at=run.created_at)


def machines(run: Run) -> set[int]:
    """Return the ids of the hosts whose resources a run takes."""
    return {machine for pair in pairs_held(run) for machine in machines_of(pair)}


def lock_resources(run_id: int) -> list[int]:
    """Lock a run's resources, in one order, before its reservations change; return their ids.

    The constraint alone decides who may have what; but two writers that have both written before either looks wait for
    each other, and twenty runs that wait for one host would end in deadlocks again and again.
    """
    return [resource.pk for resource in _locked(run_id)]


def locked_hosts(run_id: int) -> set[int]:
    """Lock a run's resources; return the ids of the hosts among them."""
    return {resource.host_id for resource in _locked(run_id) if resource.host_id is not None}


def resources_of_run(run_id: int) -> list[int]:
    """Return the ids of the resources that a run has or waits for."""
    return list(Reservation.objects.filter(run=run_id).values_list("resource_id", flat=True))


def _locked(run_id: int) -> list[Resource]:
    mine = Resource.objects.filter(reservations__run=run_id).order_by("pk")
    return list(mine.select_for_update(no_key=True, of=("self",)))
