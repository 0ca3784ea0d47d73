"""From an endpoint's row to a client of its engine."""

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection

from benchweb.hosts.addresses import control_address
from benchweb.hosts.models import Endpoint
from benchweb.hosts.secrets import decrypted
from benchweb.hosts.services import endpoint_pin_first
from workers.engine_client import EngineClient, EngineUnreachable, seen_fingerprint

# An engine closes what was silent for 60 s; a client that nobody uses goes before that.
_IDLE_SECONDS = 45.0


def client_for(endpoint: Endpoint) -> EngineClient:
    """Give a client of the endpoint's engine; on first contact pin the certificate that the engine shows."""
    return _client(_pinned(endpoint))


@contextmanager
def shared_client(endpoint: Endpoint) -> Iterator[EngineClient]:
    """Give a client that this process's other runs use too: its connections are kept from run to run."""
    pinned = _pinned(endpoint)
    key = (pinned.control_address, pinned.fingerprint, bytes(pinned.token_encrypted), str(pinned))
    shared = _shared.borrow(key) or _shared.lend(key, _client(pinned))
    try:
        yield shared.client
    finally:
        _shared.give_back(shared)


def _pinned(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint with the certificate that its token may go to."""
    if endpoint.fingerprint:
        return endpoint
    host, port = control_address(endpoint.control_address)
    seen = seen_fingerprint(name=str(endpoint), host=host, port=port)
    return endpoint_pin_first(endpoint=endpoint, fingerprint=seen)


def _client(endpoint: Endpoint) -> EngineClient:
    # All three are of one row: a token goes to the address and the certificate that it was entered for.
    host, port = control_address(endpoint.control_address)
    token = decrypted(endpoint.token_encrypted)
    return EngineClient(name=str(endpoint), host=host, port=port, token=token, fingerprint=endpoint.fingerprint)


@dataclass
class _Shared:
    client: EngineClient
    users: int = 0
    idle_since: float = 0.0


class _Clients:
    """Clients by all that they depend on; those that nobody used for a while are closed."""

    def __init__(self) -> None:
        self._clients: dict[tuple[object, ...], _Shared] = {}
        self._lock = threading.Lock()

    def borrow(self, key: tuple[object, ...]) -> _Shared | None:
        with self._lock:
            self._close_idle()
            shared = self._clients.get(key)
            if shared is not None:
                shared.users += 1
            return shared

    def lend(self, key: tuple[object, ...], client: EngineClient) -> _Shared:
        """Add a client, or close it where another thread was quicker."""
        with self._lock:
            shared = self._clients.setdefault(key, _Shared(client))
            shared.users += 1
        if shared.client is not client:
            client.close()
        return shared

    def give_back(self, shared: _Shared) -> None:
        with self._lock:
            shared.users -= 1
            shared.idle_since = time.monotonic()

    def _close_idle(self) -> None:
        now = time.monotonic()
        for key, shared in list(self._clients.items()):
            if shared.users == 0 and now - shared.idle_since > _IDLE_SECONDS:
                del self._clients[key]
                shared.client.close()


_shared = _Clients()


def data_address(endpoint: Endpoint) -> str:
    """Give the IP address that test traffic to the endpoint uses; a name is resolved here, once, for both ends."""
    host = endpoint.data_address or control_address(endpoint.control_address)[0]
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise EngineUnreachable(f"The address {host} of {endpoint} can't be resolved: {error.strerror}.") from error


def let_database_go() -> None:
    """Give this thread's database connection back to the pool before a wait on the network."""
    connection.close()
