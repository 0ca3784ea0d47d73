"""`manage.py list_permissions`: print which role each page and each call needs, as docs/reference/permissions.md."""

from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import Needs, OpenToAll
from benchweb.accounts.roles.routes import call_routes, page_routes

_ALLOWS = {
    Permission.READ: "see, compare and export; their own views, preferences, sessions and tokens",
    Permission.RUN: "also launch, cancel, schedule, import, share, report, annotate, handle alerts, mute them",
    Permission.WRITE: "also hosts, endpoints, environments, pairs, plans, thresholds, sensitivities, baselines",
    Permission.ADMIN: "also users, teams, channels, notification rules, the audit log, all users' tokens and shares",
}
_HEAD = """# Who may do what

Written by `manage.py list_permissions` from the code. How roles are given: [users and teams](../how-to/users.md).

## Roles

| role | may |
|---|---|"""
_PAGES = """
## Pages

Where it says “in its environments”, a role there is enough; all else takes the role everywhere. A page that takes more
to send than to see names both. [Who reaches what](reach.md) has each request with rows and hosts of other environments.

| address | role | |
|---|---|---|"""
_OPEN = """
## Pages that need no role

| address | why |
|---|---|"""
_CALLS = """
## REST

A token has no more than its user, and no more than its scope.

| call | role | |
|---|---|---|"""


def permissions_page() -> str:
    """Return the page."""
    routes = [(route.path, route.stated) for route in page_routes()]
    roles = [f"| {permission.role.value} | {_ALLOWS[permission]} |" for permission in Permission]
    pages = [f"| `{path}` | {_roles(stated)} | {_where(stated)} |" for path, stated in _sorted(routes)]
    opened = [f"| `{path}` | {why} |" for path, why in sorted(_open(routes).items())]
    calls = [f"| `{call}` | {_roles(stated)} | {_where(stated)} |" for call, stated in _calls().items()]
    return "\n".join([_HEAD, *roles, _PAGES, *pages, _OPEN, *opened, _CALLS, *calls])


def _open(routes: list[tuple[str, Any]]) -> dict[str, str]:
    # Of two with one address the first is reached.
    return {path: stated.why for path, stated in reversed(routes) if isinstance(stated, OpenToAll)}


def _calls() -> dict[str, Needs]:
    return {f"{method} {path}": stated for method, path, stated in call_routes() if stated is not None}


def _sorted(routes: list[tuple[str, Any]]) -> Iterator[tuple[str, Needs]]:
    yield from ((path, stated) for path, stated in sorted(routes, key=_path) if isinstance(stated, Needs))


def _path(route: tuple[str, Any]) -> str:
    return route[0]


def _roles(stated: Needs) -> str:
    read, write = stated.read.role.value, stated.write.role.value
    return read if read == write else f"{read}; {write} to send"


def _where(stated: Needs) -> str:
    return "in its environments" if stated.within or stated.checked_by_view else ""


class Command(BaseCommand):
    """Print the page."""

    help = "Print which role each page and each call needs, as docs/reference/permissions.md lists them."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print it."""
        self.stdout.write(permissions_page())
