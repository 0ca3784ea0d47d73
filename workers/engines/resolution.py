"""Find the IP addresses at which an endpoint's engine may be contacted, by BENCHWEB_ENGINE_NETWORKS."""

import ipaddress
import logging
import socket

from django.db.models import Q

from benchweb.catalog.reasons import Reason, reason_of_error
from benchweb.hosts import addresses
from benchweb.hosts.addresses import AddressError, network_policy
from benchweb.hosts.models import Endpoint
from workers.engine_client import EngineRefused, EngineUnreachable
from workers.engine_client.dialing import interleaved
from workers.engine_client.faults import engine_name, undisclosed

_log = logging.getLogger(__name__)


def control_address(endpoint: Endpoint) -> tuple[str, int]:
    """Return host and port of the engine's control API; raise EngineRefused for what earlier versions accepted."""
    try:
        return addresses.control_address(endpoint.control_address)
    except AddressError as error:
        raise EngineRefused(
            Reason("control_address_unusable", endpoint=str(endpoint), error=reason_of_error(error)), code="address"
        ) from error


def data_host(endpoint: Endpoint) -> str:
    """Return the host name or address that test traffic to the endpoint uses; raise EngineRefused."""
    if not endpoint.data_address:
        return control_address(endpoint)[0]
    try:
        return addresses.data_address(endpoint.data_address)
    except AddressError as error:
        raise EngineRefused(
            Reason("data_address_unusable", endpoint=str(endpoint), error=reason_of_error(error)), code="address"
        ) from error


def data_addresses(endpoint: Endpoint, control: str) -> list[str]:
    """Return the addresses that test traffic to the endpoint may use, the likeliest first.

    Where its name is that of its engine, `control`, the address that answered, goes before the others.
    """
    host = data_host(endpoint)
    addresses = addresses_of(endpoint, host)
    if host != control_address(endpoint)[0]:
        return _at_this_host(endpoint, host, addresses, control)
    return [control, *(address for address in addresses if address != control)]


def _at_this_host(endpoint: Endpoint, host: str, addresses: list[str], control: str) -> list[str]:
    """Leave out addresses at which traffic reaches another engine, or each machine itself; raise where none is left.

    Where the endpoint was entered they were refused already, but a name may mean something else since.
    """
    faults = {address: _fault_of(endpoint, host, address, control) for address in addresses}
    left = [address for address, fault in faults.items() if not fault]
    if left:
        return left
    raise EngineRefused(faults[addresses[0]], code="data_address")


def _fault_of(endpoint: Endpoint, host: str, address: str, control: str) -> str:
    if _is_loopback(address):
        if _is_loopback(control):
            return ""
        return Reason("data_address_loopback", host=host, endpoint=str(endpoint), address=address)
    beginning = f"[{address}]:" if ":" in address else f"{address}:"
    at_address = Q(answered_address__startswith=beginning) | Q(control_address__istartswith=beginning)
    others = Endpoint.objects.filter(at_address, archived_at=None).exclude(host=endpoint.host_id)
    other = next((other for other in others.select_related("host") if not _is_one_machine(other, endpoint)), None)
    if other is None or address == control:
        return ""
    meant = {"host": host, "endpoint": str(endpoint), "address": address}
    return Reason("data_address_of_other_engine", other=str(other), **meant)


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


def _is_one_machine(one: Endpoint, other: Endpoint) -> bool:
    return one.host.machine_key == other.host.machine_key


def addresses_of(endpoint: Endpoint, host: str) -> list[str]:
    """Resolve a host of the endpoint's, and return the addresses that engines may have, in the order to try them.

    Raises EngineUnreachable when it has none, EngineUndisclosed when no engine may be at any of them.
    """
    resolved = _resolved_addresses(endpoint, host)
    policy = network_policy()
    admitted = [address for address in resolved if policy.admits(address)]
    if not admitted:
        _log.warning(
            "Endpoint %s (%s) is not contacted: BENCHWEB_ENGINE_NETWORKS admits no engine at %s (%s)",
            endpoint.pk, endpoint, host, ", ".join(resolved),
        )  # fmt: skip
        raise undisclosed(engine_name(str(endpoint), *control_address(endpoint)))
    return interleaved(admitted)


def _resolved_addresses(endpoint: Endpoint, host: str) -> list[str]:
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        strerror = getattr(error, "strerror", None) or error
        raise EngineUnreachable(
            Reason("address_unresolved", host=host, endpoint=str(endpoint), error=strerror)
        ) from error
    # A link-local address comes with its zone, and is admitted by no policy.
    return list(dict.fromkeys(_with_zone(sockaddr) for *_, sockaddr in entries))


def _with_zone(sockaddr: tuple[object, ...]) -> str:
    address = str(sockaddr[0])
    is_zoned = len(sockaddr) == 4 and sockaddr[3] and "%" not in address
    return f"{address}%{sockaddr[3]}" if is_zoned else address
