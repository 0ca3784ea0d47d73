"""The demo's log-in: name and password `demo`, on this machine, while `up` runs the demo."""

from typing import Any

from django.conf import settings
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

from benchweb.accounts.addresses import is_from_this_machine
from benchweb.accounts.demo_account import USERNAME
from benchweb.accounts.permissions import with_grants

PASSWORD = "demo"  # noqa: S105  (known to all: it opens nothing but a demo on loopback)


class DemoBackend(BaseBackend):
    """Let `demo` in from this machine, asked by a loopback name; a session that demo mode opened ends with it."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **_: Any
    ) -> User | None:
        """Return the demo's user for the right name and password."""
        if not settings.DEMO or request is None or (username, password) != (USERNAME, PASSWORD):
            return None
        # The Host header too: another site's name may be made to lead here (DNS rebinding), and a proxy may pass on.
        return self._user() if is_from_this_machine(request) else None

    def get_user(self, user_id: int) -> User | None:
        """Return the session's user while demo mode lasts."""
        user = self._user() if settings.DEMO else None
        return user if user is not None and user.pk == user_id else None

    def _user(self) -> User | None:
        return with_grants(User.objects.filter(username=USERNAME, is_active=True)).first()
