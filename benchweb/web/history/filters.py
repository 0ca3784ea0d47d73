"""The history's filters as one sentence: what is drawn, of which test, between whom, since when."""

from collections.abc import Sequence
from datetime import timedelta

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.charts.axes import value_words
from benchweb.charts.history.choices import Choices, Facet
from benchweb.charts.history.query import HistoryQuery
from benchweb.web.shared.chips import Filter, FilterLine, FilterNote

# What no control changes, but a change of one must keep.
_CARRIED = ("series", "over", "from", "to", "runs")


def history_filters(query: HistoryQuery, choices: Choices, here: QueryDict, metric: str) -> FilterLine:
    """Declare the filters of a look. No query."""
    view = [("view", query.view)] if query.view != "time" else []
    return FilterLine(
        reverse("web:history"),
        "#history",
        [*_of_test(query, choices, metric), *_of_rows(query, choices), *_of_view(query)],
        carried=[*view, *((name, value) for name in _CARRIED if (value := here.get(name)))],
        notes=_notes(query, here),
        ending=period_words(query),
    )


def changed(query: QueryDict, **changes: str) -> str:
    """Return the query string with some values changed, empty ones left out."""
    values = query.dict() | changes
    present = QueryDict(mutable=True)
    present.update({name: str(value) for name, value in values.items() if value})
    return f"?{present.urlencode()}" if present else "?"


def periods() -> list[tuple[str, str]]:
    """Name how far back one may look."""
    return [
        ("7d", _("last 7 days")),
        ("30d", _("last 30 days")),
        ("90d", _("last 90 days")),
        ("1y", _("last year")),
        ("all", _("all time")),
    ]


def period_words(query: HistoryQuery) -> str:
    """Say the time that is looked at: how far back, or from when to when in the reader's zone."""
    if not query.is_zoomed:
        return dict(periods())[query.period.key]
    first, last = (at.astimezone(query.zone) for at in query.span)
    if f"{first:%H:%M:%S}" == f"{last:%H:%M:%S}" == "00:00:00":
        return " – ".join(shown_days(query).values())
    return f"{first:%Y-%m-%d %H:%M} – {last:%Y-%m-%d %H:%M}"


def shown_days(query: HistoryQuery) -> dict[str, str]:
    """Return the days shown, as a date field takes them; empty for what is not narrowed."""
    first, last = (at.astimezone(query.zone) for at in query.span)
    # The end of a day is the next one's begin.
    last -= timedelta(microseconds=1)
    return {"from": f"{first:%Y-%m-%d}", "to": f"{last:%Y-%m-%d}"} if query.is_zoomed else {}


def _of_test(query: HistoryQuery, choices: Choices, metric: str) -> list[Filter]:
    """Return the figure, the kind, and the parameters of which there are several values."""
    kind = choices.kind
    if kind is None:
        return []
    metrics = [(each.key, each.label) for each in choices.metrics] if query.view == "time" else []
    return [
        *([Filter("metric", _("Figure"), metric, metrics, is_main=True)] if metrics else []),
        Filter("kind", _("Test kind"), kind.name, [(each.name, each.label) for each in choices.kinds], is_main=True),
        *(
            _parameter(
                query, facet, choices.facets, is_main=facet.parameter.name == kind.swept_size and query.view != "sizes"
            )
            for facet in choices.facets
        ),
    ]


def _parameter(query: HistoryQuery, facet: Facet, facets: Sequence[Facet], *, is_main: bool) -> Filter:
    """Return a parameter's values: a number with its unit alone where no other has that unit, else behind its label."""
    parameter = facet.parameter
    units = [each.parameter.unit for each in facets]
    is_plain = bool(parameter.unit) and units.count(parameter.unit) == 1
    values = [(text, value_words(parameter, value)) for text, value in facet.values]
    if not is_plain:
        values = [(text, f"{parameter.label.lower()} {words}") for text, words in values]
    return Filter(
        f"p.{parameter.name}",
        parameter.label,
        query.parameters.get(parameter.name, ""),
        values,
        any=_("any {name}").format(name=parameter.label.lower()),
        is_main=is_main,
    )


def _of_rows(query: HistoryQuery, choices: Choices) -> list[Filter]:
    rows = [
        ("pair", _("Pair"), query.pair, choices.pairs, _("any pair")),
        ("environment", _("Environment"), query.environment, choices.environments, _("any environment")),
        ("host", _("Host"), query.host, choices.hosts, _("any host")),
        ("plan", _("Plan"), query.plan, choices.plans, _("any plan")),
    ]
    text = Filter("q", _("Search in series"), query.text, form="search", hint=_("Host, environment or parameter"))
    return [
        *(
            Filter(name, label, str(chosen or ""), options, any=unset, is_main=name == "pair")
            for name, label, chosen, options, unset in rows
            if options or chosen
        ),
        text,
    ]


def _of_view(query: HistoryQuery) -> list[Filter]:
    if query.view == "heat":
        return []
    if query.view == "sizes":
        overlays = [
            ("pair", _("a line for each pair")),
            ("date", _("a line for each span of dates")),
            ("run", _("a line for each of the latest runs")),
        ]
        chosen = query.overlay if query.overlay != "environment" else ""
        return [Filter("overlay", _("A line for each"), chosen, overlays, any=_("a line for each environment"))]
    splits = [
        ("host", _("a chart for each source host")),
        ("environment", _("a chart for each environment")),
        ("pair", _("a chart for each pair")),
    ]
    hidden = "" if query.has_changes else "hidden"
    return [
        Filter("split", _("A chart for each"), query.split, splits, any=_("all on one chart")),
        Filter(
            "changes",
            _("Levels and alerts"),
            hidden,
            [("hidden", _("without levels and alerts"))],
            any=_("with levels and alerts"),
        ),
    ]


def _notes(query: HistoryQuery, here: QueryDict) -> list[FilterNote]:
    notes = []
    if count := len(query.series):
        words = ngettext("%(count)s series only", "%(count)s series only", count) % {"count": count}
        notes.append(FilterNote(words, changed(here, series=""), _("All series")))
    if query.view == "sizes" and query.runs:
        runs = ", ".join(map(str, query.runs))
        words = ngettext("run %(runs)s only", "runs %(runs)s only", len(query.runs)) % {"runs": runs}
        notes.append(FilterNote(words, changed(here, runs=""), _("All runs")))
    return notes
