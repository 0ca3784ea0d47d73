"""What the shell around every page needs."""

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse


@dataclass(frozen=True)
class Section:
    """An entry of the top bar; `key` is the letter after `g` that goes there."""

    label: str
    url: str
    key: str
    current: bool


# Label, URL name, key. An entry whose page doesn't exist isn't shown.
_SECTIONS = [
    ("Overview", "web:overview", "o"),
    ("Hosts", "web:hosts", "h"),
    ("Environments", "web:environments", "e"),
    ("Pairs", "web:pairs", "a"),
    ("Plans", "web:plans", "p"),
    ("Schedules", "web:schedules", "s"),
    ("Timeline", "web:timeline", "t"),
    ("Runs", "web:runs", "r"),
]

# Pages without an entry of their own, by the entry that they belong to.
_BESIDE = {"web:runs": ["/campaigns"]}


def shell(request: HttpRequest) -> dict[str, object]:
    """Give the top bar's sections, the page of API tokens, and whether this is the demo."""
    sections = [
        Section(label, url, key, any(_is_current(request.path, each) for each in (url, *_BESIDE.get(name, ()))))
        for label, name, key in _SECTIONS
        if (url := _url(name))
    ]
    return {"sections": sections, "tokens_url": _url("web:tokens"), "is_demo": settings.DEMO}


def _is_current(path: str, url: str) -> bool:
    return path == url if url == "/" else path == url or path.startswith(f"{url.rstrip('/')}/")


def _url(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
