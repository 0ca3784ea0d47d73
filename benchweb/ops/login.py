"""The demo's log-in: name and password `demo`, on this machine, while `up` runs the demo."""

from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

USERNAME = "demo"
PASSWORD = "demo"  # noqa: S105  (known to all: it opens nothing but a demo on loopback)


class DemoBackend(BaseBackend):
    """Let `demo` in from loopback; a session that demo mode opened ends with it."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **_: Any
    ) -> User | None:
        """Give the demo's user for the right name and password."""
        if not settings.DEMO or request is None or (username, password) != (USERNAME, PASSWORD):
            return None
        return self._user() if _is_loopback(request.META.get("REMOTE_ADDR", "")) else None

    def get_user(self, user_id: int) -> User | None:
        """Give the session's user while demo mode lasts."""
        user = self._user() if settings.DEMO else None
        return user if user is not None and user.pk == user_id else None

    def _user(self) -> User | None:
        return User.objects.filter(username=USERNAME, is_active=True).first()


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
