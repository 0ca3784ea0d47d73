"""Log-in by name and password, as Django has it; a session's user is read by a statement written by hand."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User

from benchweb.rows import planned_rows

_COLUMNS = [field.attname for field in User._meta.concrete_fields]
_SQL = f"SELECT {', '.join(_COLUMNS)} FROM auth_user WHERE id = %(id)s"  # noqa: S608  (Django's own names)


class PasswordBackend(ModelBackend):
    """Django's, but for how a session's user is read."""

    def get_user(self, user_id: Any) -> User | None:
        """Give the user while the account is active."""
        rows = planned_rows(_SQL, {"id": user_id})
        if not rows:
            return None
        user = User.from_db("default", _COLUMNS, rows[0])
        return user if self.user_can_authenticate(user) else None
