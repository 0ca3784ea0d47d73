"""How long a worker holds a run without a sign of life; the heartbeat that extends it, and giving it up."""

from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from benchweb.runs.models import OPEN_STATES, Run, State
from benchweb.runs.queueing import dispatch
from benchweb.runs.queueing.break_offs import GIVEN_UP

# A heartbeat comes every 2 s, so that two may be lost.
LEASE = timedelta(seconds=6)


def extend_leases(*, owners: Iterable[str]) -> dict[str, bool]:
    """Extend the leases of these owners; return owner → cancellation asked for. An owner not in it lost its run."""
    held = _held(owners)
    held.update(lease_until=Now() + LEASE)
    return {owner: requested is not None for owner, requested in held.values_list("lease_owner", "cancel_requested_at")}


def leases_give_up(*, owners: Iterable[str]) -> None:
    """Let these runs' leases end now and wake the next worker for them: this one is about to stop.

    They are no longer its own: a heartbeat that was under way would else give them another lease.
    """
    held = _held(owners)
    run_ids = list(held.values_list("pk", flat=True))
    held.update(lease_owner=GIVEN_UP, lease_until=Now())
    dispatch.wake_these(run_ids)


def resting() -> Q:
    """Match runs that wait for their next round: they run, and no worker holds them."""
    return Q(state=State.RUNNING, lease_owner="")


def _held(owners: Iterable[str]) -> "QuerySet[Run, Run]":
    # The owner is not empty, which follows: by it the database finds them in the index of the runs that are held.
    return Run.objects.filter(~Q(lease_owner=""), lease_owner__in=list(owners), state__in=OPEN_STATES)
