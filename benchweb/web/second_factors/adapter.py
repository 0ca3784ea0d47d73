"""Answer django-allauth about second factors: secrets encrypted at rest, our words."""

from typing import Any, cast

from allauth.mfa.adapter import DefaultMFAAdapter
from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from benchweb.site.secrets import decrypted, encrypted


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Keep secrets as engine tokens are kept: a copy of the database alone opens nothing."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": _lazy("This code or passkey is wrong, or was used already."),
        "cannot_generate_recovery_codes": _lazy("Set up an authenticator app or a passkey first."),
    }

    def encrypt(self, text: str) -> str:
        """Return a secret as it is stored."""
        return encrypted(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return a stored secret; SecretUnreadable after a change of the secret key."""
        return decrypted(encrypted_text.encode())

    def get_totp_label(self, user: User) -> str:
        """Return what the app calls the account."""
        return user.get_username()

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        """Return what the browser calls the account, and the handle by which it comes back."""
        entity = cast(dict[str, Any], super().get_public_key_credential_user_entity(user))
        return entity | {"name": user.get_username(), "display_name": user.get_username()}

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        """Return the name of a passkey that was given none."""
        return _("Passkey")
