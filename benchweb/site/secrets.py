"""Secrets at rest: encrypted with a key derived from the secret key, for the dashboard must present them."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from benchweb.catalog.reasons import Reason


class SecretUnreadable(Exception):
    """The stored secret was encrypted with another secret key."""


def encrypted(secret: str) -> bytes:
    """Encrypt a secret, such as an engine's bearer token, for the database."""
    return _fernet().encrypt(secret.encode())


def decrypted(stored: bytes | memoryview) -> str:
    """Return a secret in clear; empty stays empty."""
    if not stored:
        return ""
    try:
        return _fernet().decrypt(bytes(stored)).decode()
    except InvalidToken as error:
        raise SecretUnreadable(Reason("secret_key_changed")) from error


def rotated(stored: bytes | memoryview) -> bytes:
    """Return the same secret, encrypted with the present key; raise SecretUnreadable where no key fits."""
    try:
        return _fernet().rotate(bytes(stored))
    except InvalidToken as error:
        raise SecretUnreadable(Reason("secret_key_changed")) from error


def is_of_present_key(stored: bytes | memoryview) -> bool:
    """Tell whether a secret is encrypted with the present key."""
    try:
        _fernet_of(settings.SECRET_KEY).decrypt(bytes(stored))
    except InvalidToken:
        return False
    return True


def _fernet() -> MultiFernet:
    # The first encrypts, each is tried to decrypt.
    return MultiFernet([_fernet_of(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _fernet_of(key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()))
