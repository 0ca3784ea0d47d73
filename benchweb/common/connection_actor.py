"""A connection's setting `benchweb.actor`, which the triggers of the audit log read; imports no room."""

from typing import Any
from weakref import WeakSet

import psycopg

_SET = "SELECT set_config('benchweb.actor', %s, false)"
# Connections whose setting names somebody: they are cleared before the pool gives them to anybody else.
_named: "WeakSet[psycopg.Connection[Any]]" = WeakSet()


def name_actor(of: "psycopg.Connection[Any]", actor: str) -> None:
    """Let what a connection changes from now on be the actor's."""
    of.execute(_SET, [actor])
    _named.add(of)


def forget_actor(of: "psycopg.Connection[Any]") -> None:
    """Let it be nobody's; what the pool does with a connection that comes back."""
    if of in _named:
        of.execute(_SET, [""])
        _named.discard(of)
