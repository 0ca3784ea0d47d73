"""Choose when a message is tried again, and when it is given up; pure."""

import random
from datetime import datetime, timedelta

from benchweb.notifications.models import PATIENCE

# As Standard Webhooks proposes, but for the end: the last pause is repeated until patience ends, after a day.
PAUSES = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=9),
)
# So that what failed together isn't tried again together.
_SPREAD = 0.1


def next_attempt(failures: int, first_due: datetime, now: datetime) -> datetime | None:
    """Return when to try again after so many failures; None once the message has been due for more than a day."""
    pause = PAUSES[min(failures, len(PAUSES)) - 1]
    following = now + pause * (1 + random.uniform(0, _SPREAD))  # noqa: S311  (no secret)
    return following if following <= first_due + PATIENCE else None
