"""Bound where messages may go and how long that may take, for code that isn't ours too.

Every connection that a guarded call makes is checked where Python makes it, by the IP address that it is made to: a
redirect, or a name that resolves anew, leads nowhere else. docs/decisions/0026-egress-of-notifications.md.
"""

import os
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from benchweb.catalog.reasons import Reason
from benchweb.hosts.addresses import NetworkPolicy, parsed_networks, reached_addresses
from benchweb.site.values import is_locked, site_setting

T = TypeVar("T")
# Deliveries wait on silent receivers; more than the workers and the pages ever send at a time.
_THREADS = 32
_CONNECTING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_STARTING = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"})


class EgressRefused(Exception):
    """The message would have gone where none may go."""


def admits(address: str) -> bool:
    """Tell whether messages may go to this IP address: a public one, or one in BENCHWEB_NOTIFY_PRIVATE_NETWORKS."""
    policy = _policy(site_setting("NOTIFY_PRIVATE_NETWORKS"))
    return policy.admits(address) and all(
        reached.is_global or any(reached in network for network in policy.added)
        for reached in reached_addresses(address)
    )


def admits_mail_server(address: str) -> bool:
    """Tell whether the site's mail server may be at this IP address: one of the page in no network that is denied.

    It is usually in a network of the admins', where no other message may go.
    """
    denied = _policy(site_setting("NOTIFY_PRIVATE_NETWORKS")).denied
    return is_locked("EMAIL_HOST") or not any(
        reached in network for reached in reached_addresses(address) for network in denied
    )


def resolved(host: str, port: int) -> list[str]:
    """Return the IP addresses of a host that messages may go to; raise EgressRefused where there is none."""
    addresses = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    admitted = [address for address in dict.fromkeys(addresses) if admits(address)]
    if not admitted:
        raise EgressRefused(refusal(host))
    return admitted


def refusal(host: str) -> str:
    """Say why nothing is sent to a host, and what to do."""
    return Reason("receiver_refused_address", host=host)


def guarded(call: Callable[[], T], *, seconds: float, admitted: Callable[[str], bool] = admits) -> T:
    """Call something that uses the network in another thread; raise TimeoutError when it takes longer.

    What it has open by then is shut. EgressRefused is raised for an address that isn't admitted.
    """
    _install()
    guard = _Guard(seconds, admitted)
    future = _pool.submit(guard.run, call)
    try:
        return future.result(seconds)
    except TimeoutError as error:
        if future.done():
            raise
        raise TimeoutError(Reason("receiver_too_slow", seconds=seconds)) from error
    except Exception:
        # Libraries turn what stopped them into errors of their own.
        if guard.refused:
            raise EgressRefused(refusal(guard.refused)) from None
        raise
    finally:
        future.cancel()
        guard.end()


def require_no_refusal() -> None:
    """Raise EgressRefused where a guarded call was refused an address, and a library kept that to itself."""
    guard = _current.get()
    if guard is not None and guard.refused:
        raise EgressRefused(refusal(guard.refused))


class _Guard:
    """The bounds of one call; ended, it may connect nowhere."""

    def __init__(self, seconds: float, admitted: Callable[[str], bool]) -> None:
        self.refused = ""
        self._give_up_at = time.monotonic() + seconds
        self._admitted = admitted
        self._open: list[socket.socket] = []

    def run(self, call: Callable[[], T]) -> T:
        token = _current.set(self)
        try:
            return call()
        finally:
            _current.reset(token)

    def connecting(self, connection: socket.socket, address: Any) -> None:
        """Refuse an address, or keep a second handle of the connection to shut it by."""
        if time.monotonic() > self._give_up_at:
            raise TimeoutError("no time is left")
        if address is None:
            return
        if not (isinstance(address, tuple) and self._admitted(str(address[0]))):
            self.refused = str(address[0] if isinstance(address, tuple) else address)
            raise EgressRefused(refusal(self.refused))
        # TLS takes the descriptor away from the object that connects.
        self._open.append(socket.socket(fileno=os.dup(connection.fileno())))

    def end(self) -> None:
        """Shut what is still open: a receiver that sends a byte now and then holds no thread."""
        self._give_up_at = 0.0
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _CONNECTING and event not in _STARTING:
        return
    guard = _current.get()
    if guard is None:
        return
    if event in _STARTING:
        raise EgressRefused("a notification starts no program")
    guard.connecting(arguments[0], arguments[1])


_current: ContextVar[_Guard | None] = ContextVar("notification_guard", default=None)
_pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="notification")


@cache
def _install() -> None:
    sys.addaudithook(_audit)


@cache
def _policy(text: str) -> NetworkPolicy:
    read = parsed_networks(text)
    return NetworkPolicy(denied=read.denied, added=read.allowed)
