"""Sessions as Django keeps them in the database, read together with their user: every answer waits for it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.utils import timezone

from benchweb.kept import keep
from benchweb.rows import Ahead, Reading, Rows, read, read_all

USER_COLUMNS = [field.attname for field in User._meta.concrete_fields]
_IS_ACTIVE = USER_COLUMNS.index("is_active")
_SQL = f"""
SELECT s.session_data, {", ".join(f"u.{name}" for name in USER_COLUMNS)}
FROM django_session s LEFT JOIN auth_user u ON u.id = %(user)s::bigint
WHERE s.session_key = %(key)s AND s.expire_date > %(now)s
"""  # noqa: S608  (Django's own names)
# Only who a session is opened for is remembered, as a guess of what to read: nothing is believed of it.
_guesses: dict[str, int] = {}
# What a session holds, as JSON, by its signed text: what was found valid once needn't be examined again.
_read: dict[tuple[str, str], str] = {}
_MOST_KEPT = 2_000
_at_hand: ContextVar["SessionStore | None"] = ContextVar("_at_hand", default=None)


class SessionStore(db.SessionStore):
    """Django's, but for how a session is read."""

    # The row that was read beside the session; of whom it is says its id.
    user_row: tuple[Any, ...] | None = None
    # What its view is going to read; none of it is shown to who isn't allowed to see it.
    ahead: Ahead | None = None

    def load(self) -> dict[str, Any]:
        """Read the session; one that is over or not there is empty and loses its key."""
        key = self.session_key or ""
        # A cookie may hold what PostgreSQL has no text for.
        asked = {"key": key, "now": timezone.now(), "user": _guesses.get(key)}
        rows = self._rows(Reading(_SQL, asked, list)) if "\0" not in key else []
        if not rows:
            _guesses.pop(key, None)
            self._session_key = None
            return {}
        (text, *user_row) = rows[0]
        self.user_row = None if user_row[0] is None else tuple(user_row)
        found: dict[str, Any] = self.decode(text)
        if self.user_row is None or self.user_row[_IS_ACTIVE]:
            _guess(key, found)
        else:
            _guesses.pop(key, None)
        return found

    def _rows(self, session: Reading[Rows]) -> Rows:
        # A stranger's guesses at keys cost one small statement, whatever address they are made at.
        if self.ahead is None or self.ahead.found is not None or (self.session_key or "") not in _guesses:
            return read(session)
        rows, *found = read_all((session, *self.ahead.readings))
        self.ahead.found = tuple(found)
        return cast("Rows", rows)

    def save(self, must_create: bool = False) -> None:
        """Write the session."""
        super().save(must_create)
        _guess(self.session_key or "", self)

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Give what a signed text holds; nothing of one that isn't signed by this benchweb."""
        signed = (settings.SECRET_KEY, str(session_data))
        text = _read.get(signed)
        if text is not None:
            return dict(json.loads(text))
        found = dict(super().decode(session_data))
        if found:
            keep(_read, signed, json.dumps(found), most=_MOST_KEPT)
        return found


@contextmanager
def at_hand(session: Any) -> Iterator[None]:
    """Within it, the user who was read beside this session needn't be read again."""
    token = _at_hand.set(session if isinstance(session, SessionStore) else None)
    try:
        yield
    finally:
        _at_hand.reset(token)


def user_row_at_hand(user_id: Any) -> tuple[Any, ...] | None:
    """Give the row of this user's account, if it was read beside the session at hand."""
    session = _at_hand.get()
    row = session.user_row if session else None
    return row if row and row[0] == user_id else None


def _guess(key: str, session: Any) -> None:
    if SESSION_KEY in session:
        keep(_guesses, key, int(session[SESSION_KEY]), most=_MOST_KEPT)
