"""Make a client of an engine from its endpoint's row."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import DatabaseError, connection

from benchweb.catalog.reasons import Reason
from benchweb.hosts.endpoints.services import endpoint_pin_first
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint
from benchweb.site.installation import QUIET, is_copy
from benchweb.site.secrets import SecretUnreadable, decrypted
from workers.engine_client import EngineClient, EngineRefused, PresentedCertificate, Trust, presented_certificate
from workers.engines.discretion import Contact, require_engine
from workers.engines.resolution import addresses_of, control_address

# An engine closes what was silent for 60 s; a client that nobody uses goes before that.
_IDLE_SECONDS = 45.0
_log = logging.getLogger(__name__)


def client_for(endpoint: Endpoint, contact: Contact | None = None) -> EngineClient:
    """Return a client of the endpoint's engine; on first contact pin the certificate that proves it."""
    pinned, address = _pinned_endpoint(endpoint, _addresses(endpoint, "", contact))
    return _client(pinned, address)


@contextmanager
def shared_client(endpoint: Endpoint, address: str = "", contact: Contact | None = None) -> Iterator[EngineClient]:
    """Return a client that this process's other runs use too: its connections are kept from run to run.

    They are those to one IP address: of a name that has moved since, new ones are made. A run that another worker
    began goes on at the `address` that it began with.
    """
    addresses = _addresses(endpoint, address, contact)
    shared = _borrowed_client(endpoint, addresses)
    if shared is None:
        pinned, chosen = _pinned_endpoint(endpoint, addresses)
        shared = _shared.lend(_key(pinned, chosen), _client(pinned, chosen))
    try:
        yield shared.client
    finally:
        _shared.give_back(shared)


def seen_fingerprint(endpoint: Endpoint, contact: Contact | None = None) -> str:
    """Return the fingerprint of the certificate that the engine shows: the pinned one where any address shows it."""
    host, port = control_address(endpoint)
    name, addresses = str(endpoint), _addresses(endpoint, "", contact)
    pinned = endpoint.fingerprint
    try:
        presented = presented_certificate(name=name, host=host, port=port, addresses=addresses, fingerprint=pinned)
    except EngineRefused:
        presented = presented_certificate(name=name, host=host, port=port, addresses=addresses)
    if presented.fingerprint != pinned:
        require_engine(endpoint, presented)
    return presented.fingerprint


def _addresses(endpoint: Endpoint, address: str, contact: Contact | None) -> list[str]:
    """Return the addresses of an engine, on the way of every contact with one; raise EngineRefused in a copy."""
    if is_copy():
        raise EngineRefused(QUIET, code="copy")
    host, port = control_address(endpoint)
    addresses = addresses_of(endpoint, address or host)
    if contact is not None:
        contact.add(addresses, port)
    return addresses


def _borrowed_client(endpoint: Endpoint, addresses: Sequence[str]) -> "_Shared | None":
    if not endpoint.fingerprint:
        return None
    borrowed = (_shared.borrow(_key(endpoint, address)) for address in addresses)
    return next((shared for shared in borrowed if shared is not None), None)


def _key(endpoint: Endpoint, address: str) -> tuple[object, ...]:
    token = bytes(endpoint.token_encrypted)
    return (endpoint.control_address, address, endpoint.fingerprint, token, str(endpoint))


def _pinned_endpoint(endpoint: Endpoint, addresses: Sequence[str]) -> tuple[Endpoint, str]:
    """Return the endpoint with the certificate that its token may go to, and which of the addresses shows it."""
    if endpoint.fingerprint and len(addresses) == 1:
        return endpoint, addresses[0]
    if endpoint.fingerprint:
        host, port = control_address(endpoint)
        presented = presented_certificate(
            name=str(endpoint), host=host, port=port, addresses=addresses, fingerprint=endpoint.fingerprint
        )
        return endpoint, presented.address
    presented = proven_certificate(endpoint, addresses)
    try:
        # Only with the token that was proven: another may have been entered meanwhile.
        pinned = endpoint_pin_first(endpoint=endpoint, fingerprint=presented.fingerprint)
    except HostsError as error:
        raise EngineRefused(
            Reason("endpoint_not_pinned", endpoint=str(endpoint), reason=error.message), code="same_machine"
        ) from error
    is_same = pinned.control_address == endpoint.control_address
    return pinned, presented.address if is_same else addresses_of(pinned, control_address(pinned)[0])[0]


def _client(endpoint: Endpoint, address: str) -> EngineClient:
    # All are of one row: a token goes to the address and the certificate that it was entered for.
    host, port = control_address(endpoint)
    return EngineClient(
        name=str(endpoint),
        host=host,
        port=port,
        token=decrypted(endpoint.token_encrypted),
        fingerprint=endpoint.fingerprint,
        address=address,
        read_trust=lambda: _stored_trust(endpoint),
    )


def _stored_trust(endpoint: Endpoint) -> Trust | None:
    """Read what is stored by now for the same address; None when there is none to be had."""
    same = Endpoint.objects.filter(pk=endpoint.pk, control_address=endpoint.control_address)
    try:
        # Of one row: the token goes to the certificate that it is stored with.
        stored = same.values_list("token_encrypted", "fingerprint").first()
        return None if stored is None else Trust(decrypted(stored[0]), stored[1])
    except (DatabaseError, SecretUnreadable) as error:
        _log.warning("The token of %s can't be read again: %s", endpoint, error)
        return None
    finally:
        let_database_go()


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


def let_database_go() -> None:
    """Give this thread's database connection back to the pool before a wait on the network."""
    connection.close()


def proven_certificate(endpoint: Endpoint, addresses: Sequence[str]) -> PresentedCertificate:
    """Return the certificate with which the endpoint's engine proves that it knows the endpoint's token.

    The proof is bound to that certificate: somebody in between, who passes on what the engine answers, proves nothing.
    """
    host, port = control_address(endpoint)
    presented = presented_certificate(name=str(endpoint), host=host, port=port, addresses=addresses)
    require_engine(endpoint, presented)
    with EngineClient(
        name=str(endpoint), host=host, port=port, token="", fingerprint=presented.fingerprint, address=presented.address
    ) as stranger:
        _require_proof(stranger, decrypted(endpoint.token_encrypted))
    return presented


def _require_proof(stranger: EngineClient, token: str) -> None:
    # Whoever knows no token can prove to know an empty one.
    if not token:
        raise EngineRefused(Reason("engine_without_token", engine=stranger.name), code="unauthorized")
    if not stranger.proves(token):
        raise EngineRefused(Reason("engine_knows_other_token", engine=stranger.name), code="unauthorized")
