"""Threads that send notifications: as many as there is work for, up to a bound."""

import threading

from benchweb.notifications.delivery import outbox
from benchweb.site.installation import is_copy
from workers.background import in_background

# A channel has one message under way: so many receivers may hang before another one waits.
_THREADS = 8
_free = threading.Semaphore(_THREADS)


def wake() -> None:
    """See to it that all that is due is sent; what is written meanwhile, the next tick finds. A copy sends nothing."""
    if is_copy():
        return
    outbox.make_digests()
    for _ in range(outbox.channels_due(_THREADS)):
        if not _free.acquire(blocking=False):
            return
        in_background(_send)


def _send() -> None:
    try:
        outbox.send_due()
    finally:
        _free.release()
