"""What the shell around every page needs."""

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import get_language, gettext, gettext_noop

from benchweb.catalog import catalog

# Each say("…") of frontend/src; a test compares.
TEXTS = (
    gettext_noop("Start of the time range"),
    gettext_noop("Chart of {series}; the table below has the same data."),
    gettext_noop("Choose one from the list."),
    gettext_noop("Copied"),
    gettext_noop("Clipped at the bottom of the axis because they reach zero or below: {lines}."),
    gettext_noop("End of the time range"),
    gettext_noop("Filter"),
    gettext_noop("Not shown, because a log axis can't show zero or negative values: {lines}."),
    gettext_noop("Linear sizes"),
    gettext_noop("Link"),
    gettext_noop("Link copied"),
    gettext_noop("CSV for Excel"),
    gettext_noop("No alert is selected: j and k move, x selects."),
    gettext_noop("The server did not answer: load the page again to see what was done."),
    gettext_noop("{number} selected"),
    gettext_noop("Log scale"),
    gettext_noop("Measured live"),
    gettext_noop("Measured time of these trials"),
    gettext_noop("Press Ctrl+C"),
    gettext_noop("Series: press to show or hide, i to show alone"),
    gettext_noop("Share of a trial's latencies in a cell:"),
    gettext_noop("Symlog scale"),
    gettext_noop("Table"),
    gettext_noop("Table: {title}"),
    gettext_noop("Trial's number"),
    gettext_noop("Until"),
    gettext_noop("about {length} left"),
    gettext_noop("finishing"),
    gettext_noop("in {number} h"),
    gettext_noop("in {hours} h {minutes} min"),
    gettext_noop("in {number} min"),
    gettext_noop("in {number} s"),
    gettext_noop("just now"),
    gettext_noop("level"),
    gettext_noop("level {value}"),
    gettext_noop("missing"),
    gettext_noop("no result: hover or tap for the reason"),
    gettext_noop("not measured"),
    gettext_noop("trial {index}"),
    gettext_noop("the latest before this one"),
    gettext_noop("{low} to {high}"),
    gettext_noop("{low} to {high}: {share} %, {count} of {total} latencies"),
    gettext_noop("{metric}, interval by interval"),
    gettext_noop("{number} h ago"),
    gettext_noop("{number} lines:"),
    gettext_noop("{number} min ago"),
    gettext_noop("{number} of {total} spreads of {line}"),
    gettext_noop("{number} of {total} values of {line}"),
    gettext_noop("{number} s ago"),
)


def script_words() -> dict[str, str]:
    """Return the texts and the units that are words; nothing for English, which the scripts speak by themselves."""
    if get_language() == "en":
        return {}
    units = sorted({metric.unit for metric in catalog().metrics.values() if metric.unit})
    return {text: gettext(text) for text in (*TEXTS, *units)}


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
    (gettext_noop("Alerts"), "web:alerts", "l"),
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
    """Return the top bar's sections, the page of API tokens, and whether this is the demo."""
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
