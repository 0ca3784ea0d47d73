"""From an endpoint's names to the IP addresses that its engine may be contacted at, by BENCHWEB_ENGINE_NETWORKS."""

import ipaddress
import logging
import socket

from benchweb.hosts import addresses
from benchweb.hosts.addresses import AddressError
from benchweb.hosts.models import Endpoint
from benchweb.hosts.networks import network_policy
from workers.engine_client import EngineRefused, EngineUnreachable
from workers.engine_client.dialing import interleaved
from workers.engine_client.faults import engine_name, undisclosed

_log = logging.getLogger(__name__)


def control_address(endpoint: Endpoint) -> tuple[str, int]:
    """Return host and port of the engine's control API; raise EngineRefused for what earlier versions accepted."""
    try:
        return addresses.control_address(endpoint.control_address)
    except AddressError as error:
        raise EngineRefused(f"The control address of {endpoint} can't be used: {error}", code="address") from error


def data_host(endpoint: Endpoint) -> str:
    """Return the host name or address that test traffic to the endpoint uses; raise EngineRefused."""
    if not endpoint.data_address:
        return control_address(endpoint)[0]
    try:
        return addresses.data_address(endpoint.data_address)
    except AddressError as error:
        raise EngineRefused(f"The data address of {endpoint} can't be used: {error}", code="address") from error


def data_addresses(endpoint: Endpoint, control: str) -> list[str]:
    """Return the addresses that test traffic to the endpoint may use, the likeliest first.

    Where its name is that of its engine, `control`, the address that answered, goes before the others.
    """
    host = data_host(endpoint)
    found = addresses_of(endpoint, host)
    if host != control_address(endpoint)[0]:
        return found
    return [control, *(address for address in found if address != control)]


def addresses_of(endpoint: Endpoint, host: str) -> list[str]:
    """Resolve a host of the endpoint's, and return the addresses that engines may have, in the order to try them.

    Raises EngineUnreachable when it has none, EngineUndisclosed when no engine may be at any of them.
    """
    found = _resolved(endpoint, host)
    policy = network_policy()
    admitted = [address for address in found if policy.admits(address)]
    if not admitted:
        _log.warning(
            "Endpoint %s (%s) is not contacted: BENCHWEB_ENGINE_NETWORKS admits no engine at %s (%s)",
            endpoint.pk, endpoint, host, ", ".join(found),
        )  # fmt: skip
        raise undisclosed(engine_name(str(endpoint), *control_address(endpoint)))
    return interleaved(admitted)


def _resolved(endpoint: Endpoint, host: str) -> list[str]:
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        strerror = getattr(error, "strerror", None) or error
        raise EngineUnreachable(f"The address {host} of {endpoint} can't be resolved: {strerror}.") from error
    # A link-local address comes with its zone, and is admitted by no policy.
    return list(dict.fromkeys(_with_zone(sockaddr) for *_, sockaddr in found))


def _with_zone(sockaddr: tuple[object, ...]) -> str:
    address = str(sockaddr[0])
    is_zoned = len(sockaddr) == 4 and sockaddr[3] and "%" not in address
    return f"{address}%{sockaddr[3]}" if is_zoned else address
