"""Log-in by name and password; the demo's account is shut while the demo is off."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User

from benchweb.accounts.login.users import may_log_in, user_of_session


class PasswordBackend(ModelBackend):
    """Django's, with the demo's account shut while the demo is off."""

    def user_can_authenticate(self, user: Any) -> bool:
        """Tell whether the account is active, and not the demo's while the demo is off."""
        return may_log_in(user)

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session while the account is active; their roles come with them."""
        return user_of_session(user_id)
