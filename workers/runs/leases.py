"""The leases that this process holds: one heartbeat thread for all runs, one listener for cancellations."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import redis
from django.db import DatabaseError

from benchweb.runs import live
from benchweb.runs.queueing.leases import extend_leases, leases_give_up
from workers.engines.connections import let_database_go
from workers.runs.gathering import Seat

HEARTBEAT_SECONDS = 2.0
_log = logging.getLogger(__name__)


class Lease:
    """A held run; it is lost or cancelled from outside, and `on_cancel` then stops what is under way."""

    def __init__(self, owner: str, run_id: int) -> None:
        self.owner = owner
        self.run_id = run_id
        self.lost = False
        self.cancelled = False
        self.on_cancel: Callable[[], None] | None = None
        # Where it waits for others that start together with it.
        self.seat: Seat | None = None
        self._due_at: float | None = None
        self._ended = threading.Event()

    @property
    def stopped(self) -> bool:
        return self.lost or self.cancelled

    @property
    def is_stuck(self) -> bool:
        """Tell whether the step under way takes longer than anything in it may."""
        due_at = self._due_at
        return due_at is not None and time.monotonic() > due_at

    def expect(self, seconds: float | None) -> None:
        """Say within how many seconds the step that begins now must end; None when no step is bounded."""
        self._due_at = None if seconds is None else time.monotonic() + seconds

    def lose(self) -> None:
        """Another worker has the run now, with whatever is under way on the engines: only leave it alone."""
        self.lost = True
        self._ended.set()

    def cancel(self) -> None:
        """Stop what is under way, once."""
        if self.cancelled:
            return
        self.cancelled = True
        self._ended.set()
        if self.on_cancel is not None:
            self.on_cancel()

    def pause(self, seconds: float) -> None:
        """Wait, but no longer than until the lease is lost or the run cancelled."""
        self._ended.wait(seconds)


class Keeper:
    """The process's leases. The database decides; Redis only makes a cancellation quick."""

    def __init__(self) -> None:
        self._leases: dict[str, Lease] = {}
        self._lock = threading.Lock()
        self._is_ending = False
        self._is_deaf = False
        threading.Thread(target=self._beat, name="lease-heartbeat", daemon=True).start()
        threading.Thread(target=self._listen, name="cancel-listener", daemon=True).start()

    @contextmanager
    def held(self, owner: str, run_id: int) -> Iterator[Lease]:
        """Keep a claimed run's lease alive for as long as the block runs."""
        lease = Lease(owner, run_id)
        with self._lock:
            self._leases[owner] = lease
            is_late = self._is_ending
        if is_late:
            # It was claimed while the others were given up.
            self._let_go([lease])
        try:
            yield lease
        finally:
            with self._lock:
                self._leases.pop(owner, None)

    def give_up(self) -> None:
        """Let go of every run at once, for the next worker to go on with."""
        with self._lock:
            self._is_ending = True
            leases = list(self._leases.values())
        self._let_go(leases)

    def _let_go(self, leases: list[Lease]) -> None:
        for lease in leases:
            lease.lose()
        try:
            leases_give_up(owners=[lease.owner for lease in leases])
        except DatabaseError as error:
            _log.warning("The leases run out by themselves: %s", error)
        finally:
            let_database_go()

    def _beat(self) -> None:
        while True:
            time.sleep(HEARTBEAT_SECONDS)
            try:
                leases = self._moving_leases(self._snapshot())
                if leases:
                    self._beat_once(leases)
            except Exception:
                # Without this thread every run of the process would be lost.
                _log.exception("A heartbeat failed")

    def _moving_leases(self, leases: list[Lease]) -> list[Lease]:
        """Return up the leases of runs whose step hangs, and return the others."""
        for lease in leases:
            if lease.is_stuck and not lease.lost:
                _log.error("Run %s hangs in one step and is left to the next worker", lease.run_id)
                lease.lose()
        return [lease for lease in leases if not lease.is_stuck]

    def _beat_once(self, leases: list[Lease]) -> None:
        try:
            held = extend_leases(owners=[lease.owner for lease in leases])
        except DatabaseError as error:
            # The lease outlives two lost heartbeats; after that the next worker takes over, which is right.
            _log.warning("Heartbeat lost: %s", error)
            return
        finally:
            let_database_go()
        for lease in leases:
            if lease.owner not in held:
                lease.lose()
            elif held[lease.owner]:
                lease.cancel()

    def _listen(self) -> None:
        while True:
            try:
                self._listen_once()
            except redis.RedisError as error:
                self._tell_away(error)
                time.sleep(HEARTBEAT_SECONDS)
            except Exception:
                _log.exception("A cancellation failed; the heartbeat repeats it")
                time.sleep(HEARTBEAT_SECONDS)

    def _listen_once(self) -> None:
        with live.client().pubsub(ignore_subscribe_messages=True) as subscription:  # type: ignore[no-untyped-call]
            subscription.subscribe(live.CANCEL_CHANNEL)
            self._is_deaf = False
            while True:
                message = subscription.get_message(timeout=1.0)
                if message is not None and message["data"].isdigit():
                    self._cancel(int(message["data"]))

    def _tell_away(self, error: redis.RedisError) -> None:
        """Say that Redis is away: once, until it is back."""
        if not self._is_deaf:
            _log.warning("Cancellations wait for the heartbeat: %s", error)
        self._is_deaf = True

    def _cancel(self, run_id: int) -> None:
        for lease in self._snapshot():
            if lease.run_id == run_id:
                lease.cancel()

    def _snapshot(self) -> list[Lease]:
        with self._lock:
            return list(self._leases.values())


@cache
def keeper() -> Keeper:
    """Return the process's keeper, started at first use (after Celery has forked or not)."""
    return Keeper()
