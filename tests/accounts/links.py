"""What a page leads to: links, forms, buttons, and what htmx and the scripts ask for."""

from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from django.urls import Resolver404, resolve

from benchweb.accounts.permissions import Access
from benchweb.accounts.roles.needs import Needs, needs_of

_ASKED = {"hx-get": "GET", "hx-post": "POST", "hx-put": "PUT", "hx-patch": "PATCH", "hx-delete": "DELETE"}


@dataclass(frozen=True)
class Lead:
    """A request that a page offers to send."""

    method: str
    address: str


class _Leads(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.page = page
        self.leads: set[Lead] = set()
        self._method = "GET"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._method = values.get("method", "get").upper()
            # Without an action it goes to the page itself; one that htmx sends says where.
            if self._method in ("GET", "POST") and not _ASKED.keys() & values.keys():
                self._add(self._method, values.get("action", ""))
        if "href" in values and tag in ("a", "area"):
            self._add("GET", values["href"])
        if "formaction" in values:
            self._add(values.get("formmethod", self._method).upper(), values["formaction"])
        for name, method in _ASKED.items():
            if name in values:
                self._add(method, values[name])
        for name, value in values.items():
            if name.startswith("data-") and value.startswith("/"):
                self._add("GET", value)

    def _add(self, method: str, address: str) -> None:
        self.leads.add(Lead(method, urlsplit(urljoin(self.page, address)).path))


def leads_of(html: str, page: str) -> set[Lead]:
    """Return what a page of this address leads to."""
    parser = _Leads(page)
    parser.feed(html)
    return parser.leads


def refused_leads(html: str, page: str, access: Access) -> list[Lead]:
    """Return what a page leads to and somebody with this access may not do, wherever it is."""
    found = sorted(leads_of(html, page), key=lambda lead: (lead.address, lead.method))
    return [lead for lead in found if any(_refused(lead, access))]


def _refused(lead: Lead, access: Access) -> Iterator[bool]:
    try:
        stated = needs_of(resolve(lead.address).func)
    except Resolver404:
        return
    if isinstance(stated, Needs):
        yield not access.may(stated.of(lead.method))
