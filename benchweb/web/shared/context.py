"""What the shell around every page needs."""

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext, gettext_noop

from benchweb.web.script_words import script_words


@dataclass(frozen=True)
class Section:
    """An entry of the top bar; `key` is the letter after `g` that goes there."""

    label: str
    url: str
    key: str
    current: bool


# Label, URL name, key. An entry whose page doesn't exist isn't shown.
_SECTIONS = [
    (gettext_noop("Overview"), "web:overview", "o"),
    (gettext_noop("Hosts"), "web:hosts", "h"),
    (gettext_noop("Environments"), "web:environments", "e"),
    (gettext_noop("Pairs"), "web:pairs", "a"),
    (gettext_noop("Plans"), "web:plans", "p"),
    (gettext_noop("Schedules"), "web:schedules", "s"),
    (gettext_noop("Timeline"), "web:timeline", "t"),
    (gettext_noop("Runs"), "web:runs", "r"),
    (gettext_noop("History"), "web:history", "y"),
    (gettext_noop("Matrix"), "web:matrix", "m"),
    (gettext_noop("Compare"), "web:compare", "c"),
]

# Pages without an entry of their own, by the entry that they belong to.
_BESIDE = {"web:hosts": ["/endpoints"], "web:plans": ["/launch"], "web:runs": ["/campaigns"]}


def shell(request: HttpRequest) -> dict[str, object]:
    """Give the top bar's sections, the page of API tokens, and whether this is the demo."""
    sections = [_section(request, label, name, key) for label, name, key in _SECTIONS if _url(name)]
    return {
        "sections": sections,
        "tokens_url": _url("web:tokens"),
        "is_demo": settings.DEMO,
        "script_words": script_words(),
    }


def _section(request: HttpRequest, label: str, name: str, key: str) -> Section:
    url = _url(name)
    is_current = any(_is_current(request.path, each) for each in (url, *_BESIDE.get(name, ())))
    return Section(gettext(label), url, key, is_current)


def _is_current(path: str, url: str) -> bool:
    return path == url if url == "/" else path == url or path.startswith(f"{url.rstrip('/')}/")


def _url(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
