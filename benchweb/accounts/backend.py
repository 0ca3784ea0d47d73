"""Log-in by name and password; the demo's account is shut while the demo is off."""

from typing import Any

from django.contrib.auth.backends import ModelBackend

from benchweb.accounts.demo_account import is_shut


class PasswordBackend(ModelBackend):
    """Django's, with the demo's account shut while the demo is off."""

    def user_can_authenticate(self, user: Any) -> bool:
        """Tell whether the account is active, and not the demo's while the demo is off."""
        return super().user_can_authenticate(user) and not is_shut(user)
