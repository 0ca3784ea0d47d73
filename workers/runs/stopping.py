"""Stop the sessions of trials: of hundreds of runs cancelled at once, all stop before any is written."""

import logging
import threading
import time
from collections.abc import Callable

from workers.engine_client import EngineError

# The stops of a campaign come one after the other: after so long without one, all have come.
_STOPS_APART_SECONDS = 0.1
_log = logging.getLogger(__name__)


class Stops:
    """The stops that this process is sending: of hundreds of runs cancelled at once, all stop before any is written."""

    def __init__(self) -> None:
        self._open = 0
        self._latest = 0.0
        self._changed = threading.Condition()

    def send(self, call: Callable[[], None], name: str) -> None:
        """Send one in a thread of its own."""
        with self._changed:
            self._open += 1
            self._latest = time.monotonic()
        threading.Thread(target=self._sent, args=(call,), name=name, daemon=True).start()

    def let_go_first(self, seconds: float) -> None:
        """Wait until none is on its way and none follows, but no longer than this."""
        give_up_at = time.monotonic() + seconds
        with self._changed:
            while (now := time.monotonic()) < give_up_at:
                pause = self._latest + _STOPS_APART_SECONDS - now
                if self._open == 0 and pause <= 0:
                    return
                self._changed.wait(min(give_up_at - now, pause if self._open == 0 else seconds))

    def _sent(self, call: Callable[[], None]) -> None:
        try:
            quietly(call)
        finally:
            with self._changed:
                self._open -= 1
                if self._open == 0:
                    self._changed.notify_all()


stops = Stops()


def quietly(call: Callable[[], None]) -> None:
    """Call an engine whose answer nobody waits for; what fails is logged."""
    try:
        call()
    except EngineError as error:
        _log.info("%s", error)
    except Exception:
        # Nobody waits for what this call gives: the engine's own watchdogs do the same later.
        _log.exception("A call that ends a session failed")
