"""Give every page's shell what it needs."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language, gettext, gettext_noop

from benchweb.catalog import catalog
from benchweb.site.installation import copy_notice

# Each say("…") of frontend/src; a test compares.
TEXTS = (
    gettext_noop("Start of the time range"),
    gettext_noop("Chart of {series}; the table below has the same data."),
    gettext_noop("Choose one from the list."),
    gettext_noop("Copied"),
    gettext_noop("Show the imported runs"),
    gettext_noop("The pasted text"),
    gettext_noop("{done} of {total} files imported"),
    gettext_noop("Clipped at the bottom of the axis because they reach zero or below: {lines}."),
    gettext_noop("End of the time range"),
    gettext_noop("Filter"),
    gettext_noop("Generate"),
    gettext_noop("Not shown, because a log axis can't show zero or negative values: {lines}."),
    gettext_noop("Linear sizes"),
    gettext_noop("Link"),
    gettext_noop("Link copied"),
    gettext_noop("CSV for Excel"),
    gettext_noop("No alert is selected: j and k move, x selects."),
    gettext_noop("Somebody else is logged in now. Log in as before to save what you typed."),
    gettext_noop("This device's clock is {length} ahead of the server's. Ages are those of the server's clock."),
    gettext_noop("This device's clock is {length} behind the server's. Ages are those of the server's clock."),
    gettext_noop("{number} days"),
    gettext_noop("{number} h"),
    gettext_noop("{number} min"),
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
    gettext_noop("not measured yet"),
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


def shell(request: HttpRequest) -> dict[str, object]:
    """Return the texts of the scripts, whether this is the demo, and of what it is a copy."""
    return {"is_demo": settings.DEMO, "copy_notice": copy_notice(), "script_words": script_words()}
