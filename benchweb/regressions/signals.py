"""Tell rooms above of transitions and slow changes; an exception of a receiver undoes what it is told of."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.dispatch import Signal

# Sent by Alert with `alert` and `transition` (AlertTransition), inside the transaction, after each transition that
# people may be told of: not of suspects, and not of an alert that was never open.
alert_changed = Signal()
# Sent by SlowLook with `look`, inside the transaction, once it is taken and something is found.
slow_changes_found = Signal()
_is_untold: ContextVar[bool] = ContextVar("is_untold", default=False)


@contextmanager
def untold() -> Iterator[None]:
    """Let nobody be told of the transitions within: what was measured long ago is judged for its pages."""
    token = _is_untold.set(True)
    try:
        yield
    finally:
        _is_untold.reset(token)


def is_untold() -> bool:
    """Tell whether nobody is told of what happens now."""
    return _is_untold.get()
