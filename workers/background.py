"""Work that waits on the network, beside the pool of the tasks: a tick never waits behind it."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec

from workers.engines.connections import let_database_go

# Checks and probes wait seconds for a silent host: enough that a rack that is off holds up no other.
_THREADS = 32
_pool = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="background")
Parameters = ParamSpec("Parameters")
_log = logging.getLogger(__name__)


def in_background(call: Callable[Parameters, object], *arguments: Parameters.args, **named: Parameters.kwargs) -> None:
    """Call a function soon in a thread of its own; what it raises is logged."""
    _pool.submit(_called, lambda: call(*arguments, **named))


def _called(call: Callable[[], object]) -> None:
    try:
        call()
    except Exception:
        _log.exception("Work in the background failed")
    finally:
        let_database_go()
