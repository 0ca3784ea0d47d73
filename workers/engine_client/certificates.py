"""Ask for the certificate that an engine shows, sending nothing secret."""

import hashlib
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography import x509

from benchweb.catalog.reasons import Reason
from workers.engine_client import dialing
from workers.engine_client.channel import certificate_name
from workers.engine_client.errors import EngineDown, EngineError, EngineGarbage, EngineRefused
from workers.engine_client.faults import engine_name, unreachable, unreachable_text

CONNECT_SECONDS = 3.0
# Whom an engine makes its certificate out to.
ENGINE_NAME = "benchweb-engine"


@dataclass(frozen=True)
class PresentedCertificate:
    """A certificate's fingerprint, sha256:…, the IP address that showed it, and whether it is made out to an engine."""

    fingerprint: str
    address: str
    is_engines: bool = True


def presented_certificate(
    *, name: str, host: str, port: int, addresses: Sequence[str], fingerprint: str = ""
) -> PresentedCertificate:
    """Return the certificate of the first address that shows one; where `fingerprint` is given, that one.

    An address that shows another certificate, or none, is passed over as one that doesn't answer.
    """
    left = list(addresses)
    fault: EngineError | None = None
    give_up_at = time.monotonic() + 2 * CONNECT_SECONDS
    while left and (fault is None or time.monotonic() < give_up_at):
        try:
            connection, address = dialing.dial(left, port, seconds=CONNECT_SECONDS)
        except OSError as error:
            raise fault or unreachable(engine_name(name, host, port, _only_address(left)), error) from error
        who = engine_name(name, host, port, address)
        try:
            certificate = _certificate(who, connection, fingerprint)
            digest = hashlib.sha256(certificate).hexdigest()
            presented = PresentedCertificate(f"sha256:{digest}", address, _is_engines(certificate))
            if fingerprint in ("", presented.fingerprint):
                return presented
            fault = fault or other_certificate(who)
        except EngineError as error:
            fault = fault or error
        left.remove(address)
    raise fault or EngineGarbage(Reason("host_without_address", host=host))


def other_certificate(who: str) -> EngineRefused:
    """Say that an engine shows another certificate than its endpoint's."""
    return EngineRefused(Reason("engine_other_certificate", engine=who), code="fingerprint")


def _certificate(who: str, connection: socket.socket, fingerprint: str) -> bytes:
    named = certificate_name(fingerprint) if fingerprint else None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    # Self-signed by design: the fingerprint is what gets checked, by whoever asks.
    context.verify_mode = ssl.CERT_NONE
    try:
        with connection, context.wrap_socket(connection, server_hostname=named) as wrapped:
            return wrapped.getpeercert(binary_form=True) or b""
    except ssl.SSLError as error:
        raise EngineGarbage(Reason("engine_speaks_no_tls", engine=who)) from error
    except OSError as error:
        raise EngineDown(unreachable_text(who, error)) from error


def _is_engines(certificate: bytes) -> bool:
    try:
        extensions = x509.load_der_x509_certificate(certificate).extensions
        names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return False
    return ENGINE_NAME in names.get_values_for_type(x509.DNSName)


def _only_address(addresses: Sequence[str]) -> str:
    return addresses[0] if len(addresses) == 1 else ""
