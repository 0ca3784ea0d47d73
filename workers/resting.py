"""When a tick may rest: while nothing is written to the database, only the clock makes anything due."""

import time
from collections.abc import Callable

from benchweb.common.rows import fetch_value
from benchweb.runs.models import OPEN_STATES, Run
from benchweb.schedules.selectors import seconds_until_due
from workers.schedule import TICK_SECONDS

# So late what the clock alone makes due may be found, such as a host's next probe; slots of schedules are not late.
REST_SECONDS = 5.0
# It differs as soon as a transaction that writes has begun or ended, whoever's.
_SNAPSHOT = "select pg_current_snapshot()::text"


class Rest:
    """The rest of this process's ticks: it ends with the next writing, and after so many seconds anyway."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._snapshot = ""
        self._ends_at: float | None = None

    def goes_on(self) -> bool:
        """Tell whether a tick would find nothing; one query."""
        snapshot = fetch_value(_SNAPSHOT)
        if snapshot != self._snapshot:
            self._snapshot, self._ends_at = snapshot, None
            return False
        if self._ends_at is None:
            self._ends_at = self._clock() + _seconds_to_rest()
        if self._clock() < self._ends_at:
            return True
        self._ends_at = None
        return False


def _seconds_to_rest() -> float:
    """Return for how long nothing is due: a lease may run out within any second."""
    if Run.objects.filter(state__in=OPEN_STATES).exists():
        return 0.0
    first = seconds_until_due(REST_SECONDS + TICK_SECONDS)
    return REST_SECONDS if first is None else max(0.0, first - TICK_SECONDS)
