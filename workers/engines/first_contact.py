"""First contact with an engine of which no certificate is pinned: it gets the token only once it proved to know it."""

from collections.abc import Sequence

from benchweb.catalog.reasons import Reason
from benchweb.hosts.models import Endpoint
from benchweb.hosts.secrets import decrypted
from workers.engine_client import EngineClient, EngineRefused, Shown, presented_certificate
from workers.engines.discretion import require_engine
from workers.engines.resolution import control_address


def proven_certificate(endpoint: Endpoint, addresses: Sequence[str]) -> Shown:
    """Return the certificate with which the endpoint's engine proves that it knows the endpoint's token.

    The proof is bound to that certificate: somebody in between, who passes on what the engine answers, proves nothing.
    """
    host, port = control_address(endpoint)
    shown = presented_certificate(name=str(endpoint), host=host, port=port, addresses=addresses)
    require_engine(endpoint, shown)
    with EngineClient(
        name=str(endpoint), host=host, port=port, token="", fingerprint=shown.fingerprint, address=shown.address
    ) as stranger:
        _require_proof(stranger, decrypted(endpoint.token_encrypted))
    return shown


def _require_proof(stranger: EngineClient, token: str) -> None:
    # Whoever knows no token can prove to know an empty one.
    if not token:
        raise EngineRefused(Reason("engine_without_token", engine=stranger.name), code="unauthorized")
    if not stranger.proves(token):
        raise EngineRefused(Reason("engine_knows_other_token", engine=stranger.name), code="unauthorized")
