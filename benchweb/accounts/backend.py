"""Log-in by name and password; the demo's account is shut while the demo is off."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

from benchweb.accounts.login.users import may_log_in, user_of_session
from benchweb.accounts.user_names import stored_spelling


class PasswordBackend(ModelBackend):
    """Django's, with one account for all spellings of a name, and the demo's shut while the demo is off."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **named: Any
    ) -> User | None:
        """Return the user whose password it is, however the name is spelled."""
        name = None if username is None else stored_spelling(username)
        return super().authenticate(request, name, password, **named)

    def user_can_authenticate(self, user: Any) -> bool:
        """Tell whether the account is active, and not the demo's while the demo is off."""
        return may_log_in(user)

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session while the account is active; their roles come with them."""
        return user_of_session(user_id)
