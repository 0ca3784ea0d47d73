"""Tell every template what the reader may do, as `can`."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.urls import resolve, reverse
from django.utils.functional import SimpleLazyObject

from benchweb.accounts.permissions import Access, Permission, access_of
from benchweb.accounts.roles.needs import Needs, needs_of
from benchweb.accounts.roles.routes import needs_by_name
from benchweb.common.addresses import path_within


@dataclass(frozen=True)
class Can:
    """Everywhere, by permission; in some environment; and what a page of a name needs, wherever that is."""

    access: Access

    @property
    def run(self) -> bool:
        return self.access.may(Permission.RUN)

    @property
    def write(self) -> bool:
        return self.access.may(Permission.WRITE)

    @property
    def admin(self) -> bool:
        return self.access.may(Permission.ADMIN)

    @property
    def run_somewhere(self) -> bool:
        return self.access.may_somewhere(Permission.RUN)

    @property
    def write_somewhere(self) -> bool:
        return self.access.may_somewhere(Permission.WRITE)

    def open(self, name: str) -> bool:
        """Tell whether the reader may open a page that names no row."""
        stated = needs_by_name().get(name)
        return stated is None or stated.allows(self.access, "GET", {})

    def send(self, name: str, *arguments: object) -> bool:
        """Tell whether the reader may post to the page of a row; queries only for who has roles in environments."""
        stated = needs_by_name()[name]
        if self.access.may(stated.write) or not self.access.may_somewhere(stated.write):
            return self.access.may(stated.write)
        # Without a row the view itself looks at those that a form names.
        named = resolve(path_within(reverse(f"web:{name}", args=arguments))).kwargs if arguments else {}
        return stated.allows(self.access, "POST", named)

    def address(self, name: str) -> str:
        """Return where a form is posted to that names its rows itself; empty where the reader may not post."""
        return reverse(f"web:{name}") if self.send(name) else ""

    def leads(self, address: str) -> bool:
        """Tell whether the reader may open a page of the dashboard by its address."""
        view = resolve(path_within(urlsplit(address).path))
        stated = needs_of(view.func)
        return not isinstance(stated, Needs) or stated.allows(self.access, "GET", view.kwargs)


def can_of(user: User | AnonymousUser) -> Can:
    """Return what a user may do, as templates read it."""
    return Can(access_of(user))


def can(request: HttpRequest) -> dict[str, Can | Callable[[], Can]]:
    """Return it for the reader, worked out when a template asks."""
    return {"can": SimpleLazyObject(lambda: can_of(request.user))}  # type: ignore[dict-item]
