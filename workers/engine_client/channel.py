"""Connections to one engine under one trust: a token, and the one certificate that it is sent to."""

import re
import ssl
from dataclasses import dataclass
from functools import cache

from urllib3.util.ssl_ import create_urllib3_context

from workers.engine_client.deadlines import AnswerSocket, EnginePool

_FINGERPRINT = re.compile(r"sha256:[0-9a-f]{64}")
_KEPT_CONNECTIONS = 8
# As many digits of a fingerprint as fit into a label of a DNS name.
_NAMED_DIGITS = 32


@dataclass(frozen=True)
class Trust:
    """An engine's token (empty for none) and the fingerprint of its certificate, sha256:…"""

    token: str
    fingerprint: str

    @property
    def is_pinned(self) -> bool:
        """Tell whether there is a certificate to hold the engine to."""
        return _FINGERPRINT.fullmatch(self.fingerprint) is not None


class EngineChannel:
    """A pool of connections, each held to the certificate before anything is sent, and the headers of the token."""

    def __init__(self, trust: Trust, address: str, port: int, pool: EnginePool | None = None) -> None:
        """Raise ValueError for an address that can't be one."""
        self.trust = trust
        self._address, self._port = address, port
        self.pool = pool or EnginePool(
            address,
            port,
            maxsize=_KEPT_CONNECTIONS,
            assert_fingerprint=trust.fingerprint.removeprefix("sha256:"),
            ssl_context=_context(),
            server_hostname=certificate_name(trust.fingerprint),
            retries=False,
        )
        authorization = {"Authorization": f"Bearer {trust.token}"} if trust.token else {}
        self.headers = {**authorization, "Content-Type": "application/json"}

    def renewed(self, trust: Trust) -> "EngineChannel":
        """Return a channel of another trust; connections to the same certificate are kept."""
        pool = self.pool if trust.fingerprint == self.trust.fingerprint else None
        return EngineChannel(trust, self._address, self._port, pool)


def certificate_name(fingerprint: str) -> str:
    """Return the server name that asks an engine for this certificate: a new one may be announced beside the old."""
    return f"{fingerprint.removeprefix('sha256:')[:_NAMED_DIGITS]}.benchweb-engine"


@cache
def _context() -> ssl.SSLContext:
    """Return the process's TLS context: with one for each connection, most of the time would go into reading CAs."""
    context = create_urllib3_context(ssl_minimum_version=ssl.TLSVersion.TLSv1_3, cert_reqs=ssl.CERT_NONE)
    # The certificate is self-signed by design, and checked by its fingerprint.
    context.check_hostname = False
    context.sslsocket_class = AnswerSocket
    return context
