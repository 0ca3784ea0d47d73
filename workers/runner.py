"""The runs of this process: hundreds at once, each in a thread that mostly waits on the network."""

import logging
import threading
import time
from collections.abc import Callable
from functools import cache

from django.conf import settings

from benchweb.common.log_lines import logged_with
from benchweb.runs.queueing import dispatch
from benchweb.runs.queueing.dispatch import LOST_AFTER_SECONDS
from workers.engines.connections import let_database_go
from workers.runs import run
from workers.runs.leases import keeper

_log = logging.getLogger(__name__)


class Runner:
    """Takes runs until it is full or closed; a few more wait for room, the others stay pending and are sent again."""

    def __init__(self, limit: int, execute: Callable[[int], None]) -> None:
        self._limit = limit
        self._execute = execute
        self._under_way: set[int] = set()
        # In the order of their coming, with the time: later it may not be their turn any more.
        self._next: dict[int, float] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    @property
    def count(self) -> int:
        """Return how many runs are under way."""
        return len(self._under_way)

    def take(self, run_id: int) -> bool:
        """Execute a run in a thread of its own; False when it is under way already, or there is no room yet."""
        with self._lock:
            if self._is_closed or run_id in self._under_way:
                return False
            if len(self._under_way) >= self._limit:
                self._wait_for_room(run_id)
                return False
            self._under_way.add(run_id)
        # A daemon: the process ends without waiting for it, and the next worker goes on.
        thread = threading.Thread(target=self._executed, args=(run_id,), name=f"run-{run_id}", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The machine gives no more threads: the run stays pending, and is sent again.
            _log.exception("Run %s found no thread", run_id)
            with self._lock:
                self._under_way.discard(run_id)
            return False
        return True

    def close(self) -> None:
        """Take no more runs."""
        with self._lock:
            self._is_closed = True
            self._next.clear()

    def _wait_for_room(self, run_id: int) -> None:
        if run_id in self._next or len(self._next) < self._limit:
            self._next[run_id] = time.monotonic()

    def _executed(self, run_id: int) -> None:
        following: int | None = run_id
        while following is not None:
            try:
                with logged_with(run=following):
                    self._execute(following)
            except Exception:
                # Nobody else would hear of it. The lease runs out, and the next worker goes on.
                _log.exception("Run %s broke off and is left to the next worker", following)
            finally:
                let_database_go()
                following = self._following(following)

    def _following(self, ended: int) -> int | None:
        """Free the room, and take the first that waits for it."""
        too_late = time.monotonic() - LOST_AFTER_SECONDS
        with self._lock:
            self._under_way.discard(ended)
            while self._next:
                run_id = next(iter(self._next))
                if self._next.pop(run_id) > too_late and run_id not in self._under_way:
                    self._under_way.add(run_id)
                    return run_id
        return None


@cache
def runner() -> Runner:
    """Return the process's runner; from its first run on, what the ends of its runs make due goes to it directly."""
    made = Runner(settings.WORKER_RUNS, run.execute)
    dispatch.take_here(made.take)
    return made


def hand_over() -> None:
    """Take no more runs, and let the next worker have those under way at once: this process is about to end."""
    runner().close()
    keeper().give_up()
