"""Password hashing in a small pool of its own: a hash takes half a second of a processor, and pages must not wait."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher

# Lower than everything else of the web server: on Linux a thread has a niceness of its own.
_NICENESS = 5


class HashingBusyError(Exception):
    """Too many passwords wait to be hashed: try again in a moment."""


def _be_nice() -> None:
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


_pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2), thread_name_prefix="hashing", initializer=_be_nice)
# Each one who waits may hold a database connection: half of those are left to everything else.
_free_slots = threading.BoundedSemaphore(max(1, settings.DATABASE_POOL // 2))


class PooledPasswordHasher(PBKDF2PasswordHasher):
    """Django's default hash, worked out in the pool; raises HashingBusyError where no place is left in its queue."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Return the hash with all that is needed to check it."""
        if not _free_slots.acquire(blocking=False):
            raise HashingBusyError
        try:
            return _pool.submit(super().encode, password, salt, iterations).result()
        finally:
            _free_slots.release()
