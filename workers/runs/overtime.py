"""Hold a run's hosts while a trial takes longer than its slot, as full buffers on a thin path do."""

import logging
import time

from django.db import DatabaseError

from benchweb.catalog import catalog
from benchweb.runs.models import Trial
from benchweb.runs.queueing.reservations import reservation_hold

# Below the margin that every reservation has beyond its slot.
HOLD_SECONDS = 5.0
_log = logging.getLogger(__name__)


class Overtime:
    """Extends the reservations a few seconds at a time, from the end of the slot on."""

    def __init__(self, trial: Trial) -> None:
        self._run_id = trial.run_id
        self._due_at = time.monotonic() + catalog().kinds[trial.kind].slot_seconds(trial.params)

    def extend_if_due(self) -> bool:
        """Extend them if it is time, as often as the engine says that it goes on; True when the database was asked."""
        if time.monotonic() < self._due_at:
            return False
        self._due_at = time.monotonic() + HOLD_SECONDS
        try:
            reservation_hold(run_id=self._run_id, seconds=HOLD_SECONDS)
        except DatabaseError as error:
            # The trial doesn't depend on it; the next time is soon.
            _log.warning("Run %s could not hold its hosts: %s", self._run_id, error)
        return True
