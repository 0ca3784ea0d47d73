"""Sessions as Django keeps them in the database, read by a statement written by hand: every answer waits for it."""

from typing import Any

from django.contrib.sessions.backends import db
from django.utils import timezone

from benchweb.rows import planned_rows

_SQL = "SELECT session_data FROM django_session WHERE session_key = %(key)s AND expire_date > %(now)s"


class SessionStore(db.SessionStore):
    """Django's, but for how a session is read."""

    def load(self) -> dict[str, Any]:
        """Read the session; one that is over or not there is empty and loses its key."""
        rows = planned_rows(_SQL, {"key": self.session_key, "now": timezone.now()})
        if not rows:
            self._session_key = None
            return {}
        return dict(self.decode(rows[0][0]))
