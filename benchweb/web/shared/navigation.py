"""The navigation beside every page: five groups of sections, the last as one entry."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext, gettext_noop

from benchweb.common.addresses import site_path
from benchweb.web.access.context import can_of


@dataclass(frozen=True)
class NavigationEntry:
    """An entry of the navigation; `key` is the letter after `g` that goes there, `name` that of its URL."""

    label: str
    url: str
    key: str
    current: bool
    name: str


@dataclass(frozen=True)
class NavigationGroup:
    """A group of sections; `icon` is the path of its drawing in a square of 20."""

    key: str
    label: str
    icon: str
    sections: list[NavigationEntry]
    # One entry of the navigation, whose sections stand beside its own pages.
    is_one_entry: bool = False

    @property
    def current(self) -> bool:
        return any(section.current for section in self.sections)


# Key, label, icon, and the sections as label, URL name, key. A section is left out whose page doesn't exist
# or may not be opened.
_GROUPS = [
    (
        "today",
        gettext_noop("Today"),
        "M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14M10 6v4l3 2",
        [
            (gettext_noop("Overview"), "web:overview", "o"),
            (gettext_noop("Last night"), "web:morning", "z"),
            (gettext_noop("Alerts"), "web:alerts", "l"),
        ],
    ),
    (
        "explore",
        gettext_noop("Explore"),
        "M3 3v14h14M6 13l3-4l3 2l4-6",
        [
            (gettext_noop("History"), "web:history", "y"),
            (gettext_noop("Matrix"), "web:matrix", "m"),
            (gettext_noop("Compare"), "web:compare", "c"),
            (gettext_noop("Dashboards"), "web:dashboards", "q"),
            (gettext_noop("Saved views"), "web:saved_views", "v"),
            (gettext_noop("Reports"), "web:reports", "b"),
        ],
    ),
    (
        "tests",
        gettext_noop("Tests"),
        "M3.5 14.5a7 7 0 1 1 13 0M10 12l3.5-4.5",
        [
            (gettext_noop("Runs"), "web:runs", "r"),
            (gettext_noop("Plans"), "web:plans", "p"),
            (gettext_noop("Schedules"), "web:schedules", "s"),
            (gettext_noop("Calendar"), "web:timeline", "t"),
        ],
    ),
    (
        "inventory",
        gettext_noop("Inventory"),
        "M3.5 4h13v5h-13zM3.5 11h13v5h-13zM6.5 6.5h.01M6.5 13.5h.01",
        [
            (gettext_noop("Hosts"), "web:hosts", "h"),
            (gettext_noop("Pairs"), "web:pairs", "a"),
            (gettext_noop("Environments"), "web:environments", "e"),
            (gettext_noop("Fact changes"), "web:fact_changes", "f"),
        ],
    ),
    (
        "settings",
        gettext_noop("Settings"),
        "M3 6.5h8M15 6.5h2M3 13.5h2M9 13.5h8M13 4.5v4M7 11.5v4",
        [
            (gettext_noop("Account"), "web:account", "u"),
            (gettext_noop("API tokens"), "web:tokens", "k"),
            (gettext_noop("Notifications"), "web:notifications", "n"),
            (gettext_noop("Shares"), "web:shares", "d"),
            (gettext_noop("Users"), "web:users", "x"),
            (gettext_noop("Audit log"), "web:audit", "j"),
            (gettext_noop("Site settings"), "web:site_settings", "w"),
            (gettext_noop("Health"), "web:health", "g"),
            (gettext_noop("Help"), "web:help", "i"),
        ],
    ),
]

_ONE_ENTRY = "settings"

# Pages without a section of their own, by the section that they belong to.
_BESIDE = {
    "web:alerts": ["/thresholds", "/sensitivities", "/baselines"],
    "web:hosts": ["/endpoints"],
    "web:plans": ["/launch"],
    "web:users": ["/teams", "/invitations"],
    "web:runs": ["/campaigns", "/imports", "/own-kinds"],
}


def navigation(request: HttpRequest) -> dict[str, Callable[[], list[NavigationGroup]]]:
    """Return the groups, made once and only for a page that draws its frame; no view has a name like theirs."""

    @cache
    def groups() -> list[NavigationGroup]:
        return [group for each in _GROUPS if (group := _group(request, *each)).sections]

    return {"navigation_groups": groups}


def _group(
    request: HttpRequest, key: str, label: str, icon: str, sections: list[tuple[str, str, str]]
) -> NavigationGroup:
    reader = can_of(request.user)
    entries = [
        _section(request, url, label, name, key)
        for label, name, key in sections
        if (url := _url(name)) and reader.open(name.removeprefix("web:"))
    ]
    return NavigationGroup(key, gettext(label), icon, entries, is_one_entry=key == _ONE_ENTRY)


def _section(request: HttpRequest, url: str, label: str, name: str, key: str) -> NavigationEntry:
    is_current = any(_is_current(request.path, each) for each in (url, *map(site_path, _BESIDE.get(name, ()))))
    return NavigationEntry(gettext(label), url, key, is_current, name.removeprefix("web:"))


def _is_current(path: str, url: str) -> bool:
    return path == url if url == site_path("/") else path == url or path.startswith(f"{url.rstrip('/')}/")


def _url(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
