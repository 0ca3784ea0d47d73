"""Whose session or token a request brings, looked up before its body is read."""

import hashlib

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.db import close_old_connections
from django.http import HttpRequest

from benchweb.accounts.addresses import client_address
from benchweb.accounts.services import TokenRefused, token_in_use
from benchweb.accounts.sessions import SessionStore

_BEARER = "Bearer "


def credential_of(request: HttpRequest) -> str:
    """Return a digest of the token or session that a request brings, valid or not; empty without any."""
    brought = request.headers.get("Authorization") or request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    return hashlib.sha256(brought.encode(errors="replace")).hexdigest() if brought else ""


@sync_to_async(thread_sensitive=False)
def sender_of(request: HttpRequest) -> int | None:
    """Return the id of the user whose token or session holds, None without one that does."""
    try:
        return _user_by_token(request) or _user_by_session(request)
    finally:
        close_old_connections()


def _user_by_token(request: HttpRequest) -> int | None:
    header = request.headers.get("Authorization", "")
    if not header.startswith(_BEARER):
        return None
    try:
        token = token_in_use(secret=header.removeprefix(_BEARER).strip(), address=client_address(request))
    except TokenRefused:
        return None
    return token.user_id if token else None


def _user_by_session(request: HttpRequest) -> int | None:
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not key:
        return None
    request.session = SessionStore(key)
    user = get_user(request)
    return user.pk if user.is_authenticated and user.is_active else None
