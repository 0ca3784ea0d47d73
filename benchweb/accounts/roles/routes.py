"""Tell what each address of the pages needs, by the views behind them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from django.urls import URLPattern, URLResolver, get_resolver

from benchweb.accounts.roles.needs import ByMethod, Needs, OpenToAll, needs_of

_API = "/api/"


@dataclass(frozen=True)
class Route:
    """An address as it stands in urls.py, and what its view says that it needs."""

    name: str
    path: str
    stated: Needs | ByMethod | OpenToAll | None

    def path_with(self, value: str) -> str:
        """Return the address with a value in place of whatever it names."""
        return re.sub(r"<[^>]+>", value, self.path)


def page_routes() -> list[Route]:
    """Return all that is not below /api/."""
    return [route for route in _walk(get_resolver(), "/") if not route.path.startswith(_API)]


def call_routes() -> list[tuple[str, str, Needs | None]]:
    """Return the method, path and needs of every call of the API."""
    return [
        (method, route.path, stated)
        for route in _walk(get_resolver(), "/")
        if isinstance(route.stated, ByMethod)
        for method, stated in route.stated.methods.items()
    ]


def first_parts() -> set[str]:
    """Return what the addresses of pages and calls begin with, such as runs and api."""
    return {route.path.split("/")[1] for route in _walk(get_resolver(), "/")}


@cache
def needs_by_name() -> dict[str, Needs]:
    """Return what the pages need that not everybody may open, by the names of their URLs."""
    return {route.name: route.stated for route in page_routes() if isinstance(route.stated, Needs)}


def _walk(resolver: URLResolver, prefix: str) -> Iterator[Route]:
    for pattern in resolver.url_patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield Route(pattern.name or path, path, needs_of(pattern.callback))
        else:
            yield from _walk(pattern, path)
