"""Let an engine prove that it knows a token, bound to its own certificate, before the token is sent to it."""

import hashlib
import hmac
import secrets
from typing import Any

from benchweb.catalog.reasons import Reason

_PURPOSE = b"benchweb proof v1"
_NONCE_BYTES = 32
# As many tokens as an engine may have.
_MAXIMUM_PROOFS = 64


def new_nonce() -> str:
    """Return what the next proof has to hold for."""
    return secrets.token_hex(_NONCE_BYTES)


def token_proof(token: str, nonce: str, fingerprint: str) -> str:
    """Return the proof of docs/reference/engine-protocol.md; `fingerprint` is the engine's own, "sha256:…"."""
    key = hashlib.sha256(token.encode()).digest()
    message = b"\n".join((_PURPOSE, nonce.encode(), fingerprint.encode()))
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def is_proven(document: Any, *, token: str, nonce: str, fingerprint: str) -> bool:
    """Tell whether the answer of POST /v1/proof holds a token's proof; raise ValueError for what is no such answer."""
    proofs = document.get("proofs") if isinstance(document, dict) else None
    if not isinstance(proofs, list) or len(proofs) > _MAXIMUM_PROOFS:
        raise ValueError(Reason("answer_proofs_unreadable"))
    wanted = token_proof(token, nonce, fingerprint).encode()
    return any(hmac.compare_digest(wanted, str(proof).encode(errors="replace")) for proof in proofs)
