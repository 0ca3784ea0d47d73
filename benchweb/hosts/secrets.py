"""Engine tokens at rest: encrypted with a key derived from the secret key, for the dashboard must present them."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from benchweb.catalog.reasons import Reason


class SecretUnreadable(Exception):
    """The stored token was encrypted with another secret key."""


def encrypted(token: str) -> bytes:
    """Encrypt an engine's bearer token for the database."""
    return _fernet().encrypt(token.encode())


def decrypted(stored: bytes | memoryview) -> str:
    """Return an engine's bearer token in clear; empty stays empty."""
    if not stored:
        return ""
    try:
        return _fernet().decrypt(bytes(stored)).decode()
    except InvalidToken as error:
        raise SecretUnreadable(Reason("secret_key_changed")) from error


def _fernet() -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(settings.SECRET_KEY.encode()).digest()))
