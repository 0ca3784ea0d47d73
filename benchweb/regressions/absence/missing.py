"""Find what is missing: slots without complete results, late schedules, silent endpoints. For the tick."""

import time

from django.db import transaction

from benchweb.common.rows import fetch_value
from benchweb.regressions.absence import endpoints, schedules

# An arbitrary number of ours for PostgreSQL's advisory locks.
_LOCK = 7_410_048
# Bounds are minutes: not each second.
_PAUSE_SECONDS = 10.0
_last = [-_PAUSE_SECONDS]


def find_missing() -> int:
    """Open and end alerts of what is missing; return how many were opened. Does nothing while another is at it."""
    if time.monotonic() - _last[0] < _PAUSE_SECONDS:
        return 0
    _last[0] = time.monotonic()
    return check_absences()


@transaction.atomic
def check_absences() -> int:
    """Do it now."""
    if not fetch_value("SELECT pg_try_advisory_xact_lock(%(lock)s)", {"lock": _LOCK}):
        return 0
    # A host that answers again explains no slot from now on.
    opened = endpoints.unreachable_endpoints() + schedules.slots_without_results()
    opened += schedules.late_schedules() + schedules.skipping_schedules()
    return len(opened)
