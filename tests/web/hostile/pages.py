"""Every page that there is, by its links and by its address, and what hostile text has become in it."""

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit
from xml.etree import ElementTree

from django.db import models
from django.test import Client
from django.urls import Resolver404, resolve

from benchweb.accounts.roles.routes import page_routes
from tests.web.hostile.planted import project_models

# Of one address with other parameters, and of those with the same ones.
_MOST_OF_A_VIEW, _MOST_ALIKE = 8, 2
# They end the session, or never end themselves.
_LEFT_OUT = {"web:logout", "web:live", "web:run_events", "web:help_document"}
_ID = re.compile(r"<int:(\w+?)(?:_id)?>")
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# Where htmx does nothing, as frontend/src/app.ts has it; it reads these attributes of what it swaps itself.
_APP = (Path(__file__).resolve().parents[3] / "frontend" / "src" / "app.ts").read_text()
DATA = set(re.findall(r'disableSelector = "([^"]+)"', _APP)[0].split(", "))
_TOLD_BY_THE_ANSWER = {"hx-swap-oob", "hx-boost", "hx-preserve"}
# What addresses call some models.
_CALLED = {"token": "apitoken", "view": "savedview", "window": "maintenancewindow", "session": "usersession"}


class Markup(HTMLParser):
    """A page's links, what only planted text can have brought into it, and what htmx would leave alone within data."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.planted: list[str] = []
        self.dead: list[str] = []
        self._within: list[tuple[str, bool]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values, text = dict(attrs), self.get_starttag_text() or tag
        self.links += [link for name in ("href", "hx-get", "src", "data-parts") if (link := values.get(name))]
        if tag in ("plaintext", "s") or "onx" in values or (tag == "p" and "hx-post" in values):
            self.planted.append(text)
        is_data = tag in DATA or any(f".{name}" in DATA for name in (values.get("class") or "").split())
        if is_data or any(outer for _tag, outer in self._within):
            self.dead += [text for name in values if name.startswith("hx-") and name not in _TOLD_BY_THE_ANSWER]
        if tag not in _VOID:
            self._within.append((tag, is_data))

    def handle_endtag(self, tag: str) -> None:
        if any(tag == opened for opened, _is_data in self._within):
            while self._within.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        # What a template within the text would have become.
        if "onx49" in data:
            self.planted.append(data)


@dataclass(frozen=True)
class Answer:
    """What came of a request, read once: files are streams."""

    url: str
    status: int
    kind: str
    text: str

    @classmethod
    def of(cls, client: Client, url: str) -> "Answer":
        """Ask for a page; whatever no browser draws by itself must not be taken for a page either."""
        response = client.get(url)
        assert response.status_code == 302 or response["X-Content-Type-Options"] == "nosniff", url
        text = response.getvalue().decode(errors="replace")
        return cls(url, response.status_code, response.get("Content-Type", ""), text)

    @cached_property
    def markup(self) -> Markup | None:
        """Read a page; None for what is none."""
        return Markup(self.text) if self.kind.startswith("text/html") else None

    @property
    def view(self) -> str:
        """Name the view that answered."""
        return resolve(urlsplit(self.url).path).view_name

    @property
    def planted(self) -> list[str]:
        """Return what became markup, for a browser or for a reader of Markdown."""
        if self.markup:
            return self.markup.planted
        if "svg" in self.kind:
            return [element.tag for element in ElementTree.fromstring(self.text).iter() if "onx" in element.attrib]
        return re.findall(r"(?<!\\)<(?:s|p|plaintext|script)\b.*", self.text) if "markdown" in self.kind else []

    @property
    def dead(self) -> list[str]:
        """Return our own elements that htmx is to act on and won't, for they stand within data."""
        return self.markup.dead if self.markup else []

    @property
    def is_telling(self) -> bool:
        """Tell whether planted text is in it at all."""
        return any(form in self.text for form in ("&lt;s/onx", "\\u003Cs/onx", "\\<s/onx", "<s/onx"))


def every_answer(client: Client) -> Iterator[Answer]:
    """Open what pages link to, from the first one on, and every other address with a row that there is."""
    opened: Counter[object] = Counter()
    waiting = deque(["/", *_addresses()])
    while waiting:
        url = waiting.popleft()
        if not (alike := _alike(url)) or opened[alike] >= _MOST_ALIKE or opened[alike[0]] >= _MOST_OF_A_VIEW:
            continue
        opened.update([alike, alike[0]])
        answer = Answer.of(client, url)
        yield answer
        waiting.extend(answer.markup.links if answer.markup else [])


def _alike(url: str) -> tuple[str, frozenset[str]] | None:
    """Return an address's view and the parameters in it; None for what is none of our pages."""
    parts = urlsplit(url)
    if parts.scheme or parts.netloc or not parts.path.startswith("/"):
        return None
    try:
        name = resolve(parts.path).view_name
    except Resolver404:
        return None
    return None if name in _LEFT_OUT else (name, frozenset(key for key, _ in parse_qsl(parts.query)))


def _addresses() -> Iterator[str]:
    rows = {model.__name__.lower(): model for model in project_models()}
    for route in page_routes():
        path = _ID.sub(lambda found: _last_id(rows.get(_CALLED.get(found[1], found[1]))), route.path)
        yield re.sub(r"<[^>]+>", "1", path)


def _last_id(model: type[models.Model] | None) -> str:
    last = model._default_manager.order_by("-pk").first() if model else None
    return str(last.pk if last else 1)
