"""Sessions that know whose they are: Django's own in the database, which their users list and end."""

import hashlib
from datetime import datetime
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends import db
from django.db.models import QuerySet
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from benchweb.accounts.addresses import client_address
from benchweb.accounts.models import UserSession

_LOGGED_IN, _ADDRESS, _CLIENT = "logged_in_at", "address", "client"
_LONGEST_CLIENT = 300
# Of one user; the earliest ends where another begins.
MOST_SESSIONS = 100
# What a stranger leaves behind: a log-in that was begun, a passkey's challenge.
STRANGER_SECONDS = 15 * 60
_REMOVED_AT_ONCE = 10_000


class SessionStore(db.SessionStore):
    """Django's store of sessions in the database, with columns for what a list of them shows."""

    @classmethod
    def get_model_class(cls) -> type[UserSession]:
        """Return the model that sessions are stored as."""
        return UserSession

    def get_session_cookie_age(self) -> int:
        """Return how many seconds it lasts: without a user only as long as a log-in may take."""
        return settings.SESSION_COOKIE_AGE if SESSION_KEY in self else STRANGER_SECONDS

    def create_model_instance(self, data: dict[str, Any]) -> UserSession:
        """Return the row, with what the session itself holds of its log-in."""
        row = cast(UserSession, super().create_model_instance(data))
        row.user_id = data.get(SESSION_KEY)
        row.logged_in_at = datetime.fromisoformat(data[_LOGGED_IN]) if _LOGGED_IN in data else None
        row.address, row.client = data.get(_ADDRESS, ""), data.get(_CLIENT, "")
        return row


@receiver(user_logged_in, dispatch_uid="sessions")
def _session_begun(*, request: HttpRequest, user: User, **_: Any) -> None:
    """Note in a session that has just been logged in from where that was, whatever way it was."""
    surplus = (
        UserSession.objects.filter(user=user)
        .order_by("-logged_in_at")
        .values_list("pk", flat=True)[MOST_SESSIONS - 1 :]
    )
    earliest = UserSession.objects.filter(pk__in=list(surplus))
    # Over by then, so that no entry of the audit log is made of it: a client that keeps no cookie begins one each time.
    earliest.update(expire_date=timezone.now())
    earliest.delete()
    request.session[_LOGGED_IN] = timezone.now().isoformat()
    request.session[_ADDRESS] = client_address(request)
    request.session[_CLIENT] = request.headers.get("User-Agent", "")[:_LONGEST_CLIENT]


def logged_in_at(request: HttpRequest) -> datetime | None:
    """Return when a request's session was logged in."""
    return datetime.fromisoformat(request.session[_LOGGED_IN]) if _LOGGED_IN in request.session else None


def sessions_of(user: User) -> "QuerySet[UserSession]":
    """Return a user's sessions that last, the latest log-in first."""
    return UserSession.objects.filter(user=user, expire_date__gt=timezone.now()).order_by(
        "-logged_in_at", "session_key"
    )


def session_handle(row: UserSession) -> str:
    """Return what a page calls a session by: its key would open it."""
    return hashlib.sha256(row.session_key.encode()).hexdigest()[:24]


def session_end(*, user: User, handle: str) -> bool:
    """End one of a user's sessions; False when there is none such."""
    keys = [row.session_key for row in sessions_of(user) if session_handle(row) == handle]
    return bool(UserSession.objects.filter(session_key__in=keys).delete()[0])


def sessions_end_others(*, user: User, key: str | None) -> int:
    """End all of a user's sessions but the one of this key; return how many."""
    return UserSession.objects.filter(user=user).exclude(session_key=key).delete()[0]


def sessions_remove_ended() -> int:
    """Remove some of those that have ended; return how many."""
    ended = UserSession.objects.filter(expire_date__lt=timezone.now()).order_by("expire_date")
    return UserSession.objects.filter(pk__in=ended.values("pk")[:_REMOVED_AT_ONCE]).delete()[0]
