"""What the browser's scripts say, in the reader's language; frontend/src/words.ts reads it from the page."""

from django.utils.translation import get_language, gettext, gettext_noop

from benchweb.catalog import catalog

# Each say("…") of frontend/src; a test compares.
TEXTS = (
    gettext_noop("Beginning of the time shown"),
    gettext_noop("Chart of {series}; the table below holds the same figures."),
    gettext_noop("Choose one from the list."),
    gettext_noop("Copied"),
    gettext_noop("Cut at the bottom of the axis, for they reach zero or below: {lines}."),
    gettext_noop("End of the time shown"),
    gettext_noop("Filter"),
    gettext_noop("Left out, for a log axis has no place at or below zero: {lines}."),
    gettext_noop("Linear sizes"),
    gettext_noop("Link"),
    gettext_noop("Link copied"),
    gettext_noop("CSV for Excel"),
    gettext_noop("Log scale"),
    gettext_noop("Measured live"),
    gettext_noop("Measured time of the trials shown"),
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
    gettext_noop("missing"),
    gettext_noop("no result: point at it or tap it for the reason"),
    gettext_noop("not measured"),
    gettext_noop("trial {index}"),
    gettext_noop("the latest before it"),
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
    """Give the texts and the units that are words; nothing for English, which the scripts speak by themselves."""
    if get_language() == "en":
        return {}
    units = sorted({metric.unit for metric in catalog().metrics.values() if metric.unit})
    return {text: gettext(text) for text in (*TEXTS, *units)}
