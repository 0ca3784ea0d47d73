"""From an endpoint's row to a client of its engine."""

import ipaddress
import socket

from django.db import connection

from benchweb.hosts.addresses import control_address
from benchweb.hosts.models import Endpoint
from benchweb.hosts.secrets import decrypted
from workers.engine_client import EngineClient, EngineUnreachable, seen_fingerprint


def client_for(endpoint: Endpoint) -> EngineClient:
    """Give a client of the endpoint's engine; on first contact pin the certificate that the engine shows."""
    host, port = control_address(endpoint.control_address)
    name = str(endpoint)
    if not endpoint.fingerprint:
        fingerprint = seen_fingerprint(name=name, host=host, port=port)
        Endpoint.objects.filter(pk=endpoint.pk, fingerprint="").update(fingerprint=fingerprint)
        endpoint.refresh_from_db(fields=["fingerprint"])
    token = decrypted(endpoint.token_encrypted)
    return EngineClient(name=name, host=host, port=port, token=token, fingerprint=endpoint.fingerprint)


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
