"""Log-in by name and password; the demo's account is shut while the demo is off."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User

from benchweb.accounts.demo_account import is_shut
from benchweb.accounts.permissions import with_grants


class PasswordBackend(ModelBackend):
    """Django's, with the demo's account shut while the demo is off."""

    def user_can_authenticate(self, user: Any) -> bool:
        """Tell whether the account is active, and not the demo's while the demo is off."""
        return super().user_can_authenticate(user) and not is_shut(user)

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session while the account is active; their roles come with them."""
        user = with_grants(User.objects.filter(pk=user_id)).first()
        return user if user is not None and self.user_can_authenticate(user) else None
