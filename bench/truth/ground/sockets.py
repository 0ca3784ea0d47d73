"""Sockets of this process that live in a namespace."""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.truth.ground.topology import Namespace

NEW_NETWORK = 0x40000000
PATIENCE_SECONDS = 10.0


@contextmanager
def _inside(space: Namespace) -> Iterator[None]:
    """Be in a namespace: sockets made in the block belong there for ever."""
    with Path("/proc/thread-self/ns/net").open("rb") as own, Path("/run/netns", space.name).open("rb") as other:
        _enter(other.fileno())
        try:
            yield
        finally:
            _enter(own.fileno())


def _enter(descriptor: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(descriptor, NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def opened(space: Namespace, family: int, kind: int, address: str = "") -> socket.socket:
    """Open a socket there, bound to a free port of `address` if one is given; it waits ten seconds at most."""
    with _inside(space):
        made = socket.socket(family, kind)
    made.settimeout(PATIENCE_SECONDS)
    if address:
        made.bind((address, 0))
    return made
