"""Runs that start each trial at one moment: a barrier that holds nobody up for whoever has left."""

import threading
from collections.abc import Callable, Collection

from benchweb.runs.models import Trial

# How often those who wait look whether they are to stop.
_LOOK_SECONDS = 0.5
# Before the sink's session is created, and before the source's is.
_PREPARE, _START = 0, 1


class Gathering:
    """The place of each run: at which trial it is, and at which step of that."""

    def __init__(self, run_ids: Collection[int]) -> None:
        self._at = dict.fromkeys(run_ids, (0, 0))
        self._changed = threading.Condition()

    def arrive(self, run_id: int, moment: tuple[int, int], is_stopped: Callable[[], bool]) -> int:
        """Wait until all have come as far or left; return how many are there."""
        with self._changed:
            if run_id in self._at:
                self._at[run_id] = moment
            self._changed.notify_all()
        while not is_stopped():
            with self._changed:
                if all(at >= moment for at in self._at.values()):
                    break
                self._changed.wait(_LOOK_SECONDS)
        return len(self._at)

    def leave(self, run_id: int) -> None:
        """Wait for no more, and be waited for no more."""
        with self._changed:
            self._at.pop(run_id, None)
            self._changed.notify_all()


class Seat:
    """A run's place at a gathering."""

    def __init__(self, gathering: Gathering, run_id: int, is_stopped: Callable[[], bool]) -> None:
        self._gathering = gathering
        self._run_id = run_id
        self._is_stopped = is_stopped
        # How many started the latest trial.
        self.sources = 1

    def prepare(self, trial: Trial) -> None:
        """Wait until every run has ended its trial before this one."""
        self._arrive(trial, _PREPARE)

    def start(self, trial: Trial) -> None:
        """Wait until every run's sink is ready for this trial."""
        self.sources = self._arrive(trial, _START)

    def _arrive(self, trial: Trial, step: int) -> int:
        return self._gathering.arrive(self._run_id, (trial.index, step), self._is_stopped)
