"""Render the parts of a run under way once for everyone who watches it."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

# Shorter than the pause between a message and the refresh that it causes (REFRESH_MILLISECONDS in
# frontend/src/live/page.ts): whatever the message told of was in the database before this was rendered.
FRESH_SECONDS = 0.3
_CACHE_SIZE = 64


@dataclass(frozen=True)
class PartKey:
    """What makes two readers see the same: the run, the language, and what they may do with it and everywhere."""

    run_id: int
    language: str
    may_run_it: bool
    may_run: bool


@dataclass
class _Part:
    """A rendered part, and the lock that lets one render while the others wait for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    begun_at: float = float("-inf")
    html: str = ""


_parts: OrderedDict[PartKey, _Part] = OrderedDict()
_guard = threading.Lock()


def shared_part(key: PartKey, render: Callable[[], str]) -> str:
    """Return a run's part: as another watcher just got it, else rendered now."""
    part, requested_at = _part(key), time.monotonic()
    with part.lock:
        # Against the time of asking, not of getting the lock: whoever waited takes what was rendered meanwhile.
        if part.begun_at < requested_at - FRESH_SECONDS:
            # Counted from before the first query: what is committed later belongs to the next rendering.
            begun_at = time.monotonic()
            part.html = render()
            part.begun_at = begun_at
        return part.html


def _part(key: PartKey) -> _Part:
    with _guard:
        part = _parts.setdefault(key, _Part())
        _parts.move_to_end(key)
        while len(_parts) > _CACHE_SIZE:
            _parts.popitem(last=False)
        return part
