"""Log-in by name and password, as Django has it; a session's user is read by a statement written by hand."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User

from benchweb.accounts.demo_account import is_shut
from benchweb.accounts.sessions import USER_COLUMNS, user_row_at_hand
from benchweb.rows import planned_rows

_SQL = f"SELECT {', '.join(USER_COLUMNS)} FROM auth_user WHERE id = %(id)s"  # noqa: S608  (Django's own names)


class PasswordBackend(ModelBackend):
    """Django's, but for how a session's user is read."""

    def get_user(self, user_id: Any) -> User | None:
        """Give the user while the account is active."""
        row = user_row_at_hand(user_id) or next(iter(planned_rows(_SQL, {"id": user_id})), None)
        if row is None:
            return None
        user = User.from_db("default", USER_COLUMNS, row)
        return user if self.user_can_authenticate(user) else None

    def user_can_authenticate(self, user: Any) -> bool:
        """Tell whether the account is active, and not the demo's while the demo is off."""
        return super().user_can_authenticate(user) and not is_shut(user)
