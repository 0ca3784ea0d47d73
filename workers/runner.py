"""The runs of this process: hundreds at once, each in a thread that mostly waits on the network."""

import logging
import threading
from collections.abc import Callable
from functools import cache

from django.conf import settings

from workers import run
from workers.connections import let_database_go
from workers.leases import keeper

_log = logging.getLogger(__name__)


class Runner:
    """Takes runs until it is full or closed; what it refuses stays pending and is sent again."""

    def __init__(self, limit: int, execute: Callable[[int], None]) -> None:
        self._limit = limit
        self._execute = execute
        self._under_way: set[int] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    @property
    def count(self) -> int:
        """Give how many runs are under way."""
        return len(self._under_way)

    def take(self, run_id: int) -> bool:
        """Execute a run in a thread of its own; False when it is under way already, or there is no room."""
        with self._lock:
            if self._is_closed or run_id in self._under_way or len(self._under_way) >= self._limit:
                return False
            self._under_way.add(run_id)
        # A daemon: the process ends without waiting for it, and the next worker goes on.
        threading.Thread(target=self._executed, args=(run_id,), name=f"run-{run_id}", daemon=True).start()
        return True

    def close(self) -> None:
        """Take no more runs."""
        with self._lock:
            self._is_closed = True

    def _executed(self, run_id: int) -> None:
        try:
            self._execute(run_id)
        except Exception:
            # Nobody else would hear of it. The lease runs out, and the next worker goes on.
            _log.exception("Run %s broke off and is left to the next worker", run_id)
        finally:
            let_database_go()
            with self._lock:
                self._under_way.discard(run_id)


@cache
def runner() -> Runner:
    """Give the process's runner."""
    return Runner(settings.WORKER_RUNS, run.execute)


def hand_over() -> None:
    """Take no more runs, and let the next worker have those under way at once: this process is about to end."""
    runner().close()
    keeper().give_up()
