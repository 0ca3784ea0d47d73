"""Tell of an address at which no engine was ever seen one sentence, after one time, whatever is there.

Whoever may edit an endpoint could else tell closed ports from filtered ones and from other services in the workers'
network. Once an engine has answered at an address with the endpoint's token, all is told of that address.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from benchweb.catalog.reasons import Reason
from benchweb.hosts.models import Endpoint
from workers.engine_client import (
    EngineError,
    EngineGarbage,
    EngineRefused,
    EngineUndisclosed,
    PresentedCertificate,
    presented_certificate,
)
from workers.engine_client.faults import engine_name, undisclosed
from workers.engines.resolution import control_address

# Longer than a connection without an answer takes, and a handshake or a call after it.
UNDISCLOSED_SECONDS = 6.0
# Refusals that tell of nothing but an engine, or of what was entered.
_OF_ENGINES = ("address", "copy", "unauthorized", "unproven", "same_machine")
_log = logging.getLogger(__name__)


class Contact:
    """The addresses of an endpoint that were contacted."""

    def __init__(self) -> None:
        self.addresses_tried: set[str] = set()

    def add(self, addresses: Sequence[str], port: int) -> None:
        """Note addresses before they are connected to."""
        self.addresses_tried.update(address_with_port(address, port) for address in addresses)


@contextmanager
def discreet(endpoint: Endpoint) -> Iterator[Contact]:
    """Let errors of the contact pass where they may be told; any other becomes EngineUndisclosed, after some time."""
    started, contact = time.monotonic(), Contact()
    try:
        yield contact
    except EngineError as error:
        if _may_disclose(endpoint, contact, error):
            raise
        _log.warning(
            "Endpoint %s at %s: %s", endpoint.pk, ", ".join(sorted(contact.addresses_tried)) or "no address", error
        )
        time.sleep(max(0.0, started + UNDISCLOSED_SECONDS - time.monotonic()))
        raise undisclosed(engine_name(str(endpoint), *control_address(endpoint))) from None


def is_known(endpoint: Endpoint, addresses_tried: set[str]) -> bool:
    """Tell whether the endpoint's engine has answered at all of these places, with its token."""
    return bool(endpoint.answered_address) and addresses_tried <= {endpoint.answered_address}


def address_with_port(address: str, port: int) -> str:
    """Write an IP address and a port as one."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def require_engine(endpoint: Endpoint, presented: PresentedCertificate) -> None:
    """Raise EngineGarbage where a certificate is another service's; nothing is sent to find out."""
    host, port = control_address(endpoint)
    if not presented.is_engines and not is_known(endpoint, {address_with_port(presented.address, port)}):
        who = engine_name(str(endpoint), host, port, presented.address)
        raise EngineGarbage(Reason("engine_certificate_unknown", engine=who))


def _may_disclose(endpoint: Endpoint, contact: Contact, error: EngineError) -> bool:
    if isinstance(error, EngineUndisclosed):
        return False
    if isinstance(error, EngineRefused) and (error.may_pass or error.code in _OF_ENGINES):
        return True
    if is_known(endpoint, contact.addresses_tried):
        return True
    return isinstance(error, EngineRefused) and error.code == "fingerprint" and _shows_engine(endpoint, contact)


def _shows_engine(endpoint: Endpoint, contact: Contact) -> bool:
    host, port = control_address(endpoint)
    addresses = [address.rpartition(":")[0].strip("[]") for address in sorted(contact.addresses_tried)]
    try:
        return presented_certificate(name=str(endpoint), host=host, port=port, addresses=addresses).is_engines
    except EngineError:
        return False
