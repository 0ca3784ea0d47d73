"""Send the wake-ups of the runs whose turn it is; a lost one is sent again by the tick."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from math import ceil

from django.db import DatabaseError, connection
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from psycopg.types.json import Jsonb

from benchweb.catalog.reasons import Reason, reason_data
from benchweb.common import celery_client
from benchweb.runs.events import moment, position
from benchweb.runs.models import Resource, Run, State
from benchweb.runs.queueing.queues import Queues, queues
from benchweb.runs.queueing.turns import Blocked, turns

EXECUTE_TASK = "workers.tasks.execute_runs"
# How many wake-ups one call sends; the next tick sends more.
_SEND_LIMIT = 500
# Of hundreds each message would cost as much as a run's claim. Several workers get even shares of so many messages, and
# keep them: what the end of a run makes due goes to the same worker.
_MESSAGES = 32
# For so long a wake-up may be on its way to a worker or wait there for room; sent again meanwhile, it would only keep
# a busy worker busier.
LOST_AFTER_SECONDS = 5.0
# Only those near their turn say what they wait for: of thousands the texts would be rewritten all night.
_REPORTED_POSITIONS = 3
_TELL_LIMIT = 200
_TELL = """
UPDATE runs_run run SET waiting_for = given.text, waiting_for_data = given.data
FROM unnest(%s::bigint[], %s::text[], %s::jsonb[]) AS given(id, text, data)
WHERE run.id = given.id AND run.state IN ('pending', 'running') AND run.lease_owner = ''
"""
_log = logging.getLogger(__name__)


def dispatch(resource_ids: Collection[int] | None = None, *, is_after_end: bool = False) -> int:
    """Wake every run that may start now on these resources, or anywhere; return how many.

    Without resources it is the tick's: it also wakes the runs whose worker fell silent, and tells what others wait for.
    """
    queued = queues(resource_ids)
    decided = turns(queued.waiting, queued.occupied)
    due = list(decided.start)
    if not resource_ids:
        # Only a launch of background runs concerns no resource.
        due = [*_without_queue(), *due]
    if resource_ids is None:
        due = [*_silent(), *due]
    fresh = _sent.not_lately(due)[:_SEND_LIMIT]
    wake_these(_not_taken_here(fresh) if is_after_end else fresh)
    if resource_ids is None:
        _publish_waits(decided.blocked, queued)
    return len(due)


def take_here(taker: Callable[[int], bool]) -> None:
    """Have this process take the runs that its own runs' ends make due, without the broker's way round.

    What a launch or the tick makes due goes out to all workers, so that they share it. `taker` says if it took one.
    """
    _waker.taker = taker


def _not_taken_here(run_ids: Sequence[int]) -> list[int]:
    taker = _waker.taker
    if taker is None:
        return list(run_ids)
    _sent.note(run_ids)
    return [run_id for run_id in run_ids if not taker(run_id)]


def wake_these(run_ids: Iterable[int]) -> None:
    """Wake runs whose turn it is for certain."""
    ids = list(run_ids)
    _sent.note(ids)
    per_message = max(1, ceil(len(ids) / _MESSAGES))
    for first in range(0, len(ids), per_message):
        celery_client.send(EXECUTE_TASK, ids[first : first + per_message])


def arrived(run_id: int) -> None:
    """A wake-up has come to a worker: if the run isn't to be had now, the next one is sent when it is."""
    _sent.forget(run_id)


def wake(resource_ids: Collection[int], *, is_after_end: bool = False) -> None:
    """Dispatch on resources that were freed or wanted; ends that come together are looked at together.

    Whoever comes while another thread looks leaves its resources to that one. A database that is away is the tick's.
    """
    _waker.wake(resource_ids, is_after_end)


class _Sent:
    """The wake-ups that this process sent lately, by its own clock."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._at: dict[int, float] = {}

    def not_lately(self, run_ids: Iterable[int]) -> list[int]:
        """Return the runs whose wake-up was not sent lately."""
        lost_before = time.monotonic() - LOST_AFTER_SECONDS
        with self._guard:
            self._at = {run_id: at for run_id, at in self._at.items() if at > lost_before}
            return [run_id for run_id in run_ids if run_id not in self._at]

    def note(self, run_ids: Iterable[int]) -> None:
        """Note that these were sent now."""
        with self._guard:
            self._at.update(dict.fromkeys(run_ids, time.monotonic()))

    def forget(self, run_id: int) -> None:
        """Forget a wake-up."""
        with self._guard:
            self._at.pop(run_id, None)


_sent = _Sent()


class _Waker:
    """Resources to look at; one thread at a time looks."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._looking = threading.Lock()
        self._wanted: set[int] | None = None
        self._is_after_ends = True
        self.taker: Callable[[int], bool] | None = None

    def wake(self, resource_ids: Collection[int], is_after_end: bool) -> None:
        with self._guard:
            self._wanted = (self._wanted or set()) | set(resource_ids)
            self._is_after_ends = self._is_after_ends and is_after_end
        # Asked again after the lock is free: what came in the last moment found it taken.
        while self._wanted is not None and self._looking.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._looking.release()

    def _look(self) -> None:
        with self._guard:
            wanted, self._wanted = self._wanted, None
            is_after_ends, self._is_after_ends = self._is_after_ends, True
        if wanted is None:
            return
        try:
            dispatch(wanted, is_after_end=is_after_ends)
        except DatabaseError as error:
            _log.warning("Waiting runs are left to the tick: %s", error)


_waker = _Waker()


def silent() -> Q:
    """Match runs whose worker's lease ran out; a lease far in the future is from before the clock was set back."""
    return ~Q(lease_owner="") & (Q(lease_until__lt=Now()) | Q(lease_until__gt=Now() + timedelta(minutes=1)))


def _silent() -> list[int]:
    return list(Run.objects.filter(silent()).order_by("lease_until").values_list("pk", flat=True)[:_SEND_LIMIT])


def _without_queue() -> list[int]:
    """Return pending runs that need no place in a queue: nothing but background trials."""
    ready = Q(not_before=None) | Q(not_before__lte=Now())
    runs = Run.objects.filter(ready, state=State.PENDING, planned_at=None, lease_owner="")
    return list(runs.order_by("pk").values_list("pk", flat=True)[:_SEND_LIMIT])


def _publish_waits(blocked: Iterable[Blocked], queued: Queues) -> None:
    """Write what the first of each queue wait for, where it isn't written yet."""
    reported = [run for run in blocked if run.position <= _REPORTED_POSITIONS]
    names = _names({run.resource for run in reported})
    texts = {run.run: _text(run, names) for run in reported}
    changed = {run: text for run, text in texts.items() if queued.texts[run] != text}
    if not changed:
        return
    some = dict(list(changed.items())[:_TELL_LIMIT])
    with connection.cursor() as cursor:
        cursor.execute(
            _TELL, [list(some), list(some.values()), [Jsonb(reason_data(reason)) for reason in some.values()]]
        )


def _text(blocked: Blocked, names: Mapping[int, Reason]) -> Reason:
    resource = names[blocked.resource]
    if blocked.blocker is None:
        return Reason("queued", position=position(blocked.position), resource=resource)
    if blocked.blocker.until <= 0:
        return Reason("waiting_for_late_run", resource=resource, run=blocked.blocker.run)
    until = moment(timezone.now() + timedelta(seconds=blocked.blocker.until))
    return Reason("waiting_for_run", resource=resource, run=blocked.blocker.run, until=until)


def _names(resource_ids: Collection[int]) -> dict[int, Reason]:
    resources = Resource.objects.filter(pk__in=resource_ids).select_related("host")
    return {
        row.pk: Reason("host", host=row.host.name) if row.host else Reason("uplink", uplink=row.uplink)
        for row in resources
    }
