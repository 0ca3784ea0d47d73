"""Be there when a slot comes due between two ticks."""

import time

from benchweb.schedules import selectors, services
from workers.background import in_background
from workers.schedule import TICK_SECONDS


def claim_on_time() -> None:
    """Claim what comes before the next tick at its time: left to that tick it would be late by half a second."""
    seconds = selectors.seconds_until_due(TICK_SECONDS)
    if seconds is not None:
        in_background(_claim_after, seconds)


def _claim_after(seconds: float) -> None:
    time.sleep(seconds)
    services.claim_due()
