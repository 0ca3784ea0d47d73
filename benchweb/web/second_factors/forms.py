"""django-allauth's forms of passkeys, by which a text that is none is a wrong passkey, whatever it fails with."""

from collections.abc import Callable
from struct import error as StructError
from typing import Any

from allauth.mfa.adapter import get_adapter
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

# What its reader and fido2's raise for texts of any shape, and for signatures of another key.
_UNREADABLE = (LookupError, AttributeError, TypeError, ValueError, StructError, InvalidSignature, UnsupportedAlgorithm)


def _read(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except _UNREADABLE as error:
        raise get_adapter().validation_error("incorrect_code") from error


class _ReadsPasskey:
    def clean_credential(self) -> Any:
        """Return the passkey that is shown; ValidationError for what is none."""
        return _read(super().clean_credential)  # type: ignore[misc]


class CodePasskeyForm(_ReadsPasskey, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey after the password."""


class LoginPasskeyForm(_ReadsPasskey, LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey alone."""


class ConfirmPasskeyForm(_ReadsPasskey, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey once more, before factors are changed."""


class NewPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    """A passkey that is added."""

    def clean(self) -> Any:
        """Return the entries; ValidationError for what is no passkey."""
        return _read(super().clean)
