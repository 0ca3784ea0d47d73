"""Connect to the first of several addresses that answers: RFC 8305, "happy eyeballs"."""

import errno
import ipaddress
import os
import selectors
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import chain, zip_longest

# RFC 8305, section 5: the recommended delay between two attempts.
ATTEMPT_DELAY_SECONDS = 0.25
_UNDER_WAY = (errno.EINPROGRESS, errno.EWOULDBLOCK)


def interleaved(addresses: Sequence[str]) -> list[str]:
    """Order addresses for the attempts: families in turn, beginning with the first address's (section 4)."""
    distinct = list(dict.fromkeys(addresses))
    families = [
        [address for address in distinct if is_ipv6(address)],
        [address for address in distinct if not is_ipv6(address)],
    ]
    if distinct and not is_ipv6(distinct[0]):
        families.reverse()
    return [address for address in chain.from_iterable(zip_longest(*families)) if address is not None]


def is_ipv6(address: str) -> bool:
    """Tell the family of an IP address."""
    return ipaddress.ip_address(address).version == 6


def dial(addresses: Sequence[str], port: int, *, seconds: float) -> tuple[socket.socket, str]:
    """Connect to the address that answers first; return the connection and the address.

    Raises the error of the first address whose attempt failed when none answers within `seconds`.
    """
    with ExitStack() as stack:
        attempts = _Attempts(interleaved(addresses), port, stack)
        give_up_at = time.monotonic() + seconds
        while (now := time.monotonic()) < give_up_at and not attempts.are_over:
            won = attempts.step(min(give_up_at - now, ATTEMPT_DELAY_SECONDS))
            if won is not None:
                connection, address = won
                connection.settimeout(seconds)
                return connection, address
        raise attempts.error or TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))


class _Attempts:
    """Attempts under way, and addresses that wait for theirs; all sockets but the winner's are closed by the stack."""

    def __init__(self, addresses: Sequence[str], port: int, stack: ExitStack) -> None:
        self.error: OSError | None = None
        self._waiting = list(addresses)
        self._port = port
        self._stack = stack
        self._selector = stack.enter_context(selectors.DefaultSelector())

    @property
    def are_over(self) -> bool:
        return not self._waiting and not self._selector.get_map()

    def step(self, seconds: float) -> tuple[socket.socket, str] | None:
        """Begin the next attempt, then wait at most `seconds` for one to end; return the connection that is made."""
        if self._waiting:
            self._begin(self._waiting.pop(0))
        if not self._selector.get_map():
            return None
        for key, _ in self._selector.select(seconds):
            self._selector.unregister(key.fileobj)
            connection, address = key.data
            error = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if error == 0:
                return connection.dup(), address
            self._failed(error)
        return None

    def _begin(self, address: str) -> None:
        family = socket.AF_INET6 if is_ipv6(address) else socket.AF_INET
        try:
            connection = self._stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
        except OSError as error:
            self._failed(error.errno or errno.EAFNOSUPPORT)
            return
        connection.setblocking(False)
        error_number = connection.connect_ex((address, self._port))
        if error_number == 0 or error_number in _UNDER_WAY:
            self._selector.register(connection, selectors.EVENT_WRITE, (connection, address))
        else:
            self._failed(error_number)

    def _failed(self, error_number: int) -> None:
        # What a machine says itself tells more than that there is no way to another.
        if self.error is None or error_number == errno.ECONNREFUSED:
            self.error = OSError(error_number, os.strerror(error_number))
