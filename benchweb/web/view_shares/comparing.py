"""A comparison, of runs or of sets, as texts and charts that can be shared."""

from collections.abc import Sequence

from django.http import HttpRequest
from django.utils.translation import gettext as _

from benchweb.charts.comparison.sets import read_sides
from benchweb.common.formatting import quantity, repetitions
from benchweb.documents.charts import ChartSpec
from benchweb.sharing.frozen_views import FrozenTable
from benchweb.web.compare.headline import Headline
from benchweb.web.compare.page import DisplayedEntry, DisplayedRow, comparison, requested_runs
from benchweb.web.compare.query import compare_query
from benchweb.web.compare.sets import sets_comparison
from benchweb.web.shared.zones import reader_zone
from benchweb.web.tags.show import params_text

ComparedTexts = tuple[str, list[str], list[ChartSpec], FrozenTable | None]


def compared_view(request: HttpRequest) -> ComparedTexts:
    """Return title, sentences, charts and table of a comparison; without two sides a title alone."""
    query = compare_query(request.GET, reader_zone(request))
    if query.sides:
        read = read_sides(query.sides, zone=query.zone, show=query.show, kind=query.kind)
        if len(read.sides) < 2:
            return _("Compare"), read.notices, [], None
        sets = sets_comparison(read, query)
        sides = [(column.label, column.headline, column.summary) for column in sets.columns]
        counted = [f"{column.words}: {column.counted}" for column in sets.columns]
        return _texts(sides, counted, sets.charts, sets.rows)
    runs = requested_runs(query)
    if len(runs) < 2:
        return _("Compare"), [], [], None
    page = comparison(runs, query)
    of_runs = [(column.label, column.headline, column.summary) for column in page.columns]
    named = [
        f"{column.label}: {column.run.plan_version} · {column.run.pair} · {column.run.pair.environment.name}"
        for column in page.columns
    ]
    return _texts(of_runs, named, page.charts, page.rows)


def _texts(
    sides: Sequence[tuple[str, Headline | None, str]],
    counted: list[str],
    charts: list[ChartSpec],
    rows: Sequence[DisplayedRow],
) -> ComparedTexts:
    labels = [label for label, _headline, _summary in sides]
    lines = list(counted)
    for label, headline, summary in sides:
        if headline is not None:
            changes = [
                f"{change.arrow} {change.change} ({change.interval}) {change.what}" for change in headline.changes
            ]
            lines.append(" · ".join(filter(None, [f"{label}: {'; '.join(changes) or summary}", headline.rest])))
    table = FrozenTable(
        title=_("Metrics"),
        columns=[_("Metric"), *labels],
        rows=[[_metric(row), *map(_cell, row.entries, [row] * len(row.entries))] for row in rows],
        numeric=list(range(1, len(labels) + 1)),
    )
    return f"{' / '.join(labels)} · {_('Compare')}", lines, charts, table


def _metric(row: DisplayedRow) -> str:
    measure = row.measure
    return " · ".join([measure.metric.label, measure.kind.label, params_text(measure.kind.name, measure.params)])


def _cell(entry: DisplayedEntry, row: DisplayedRow) -> str:
    summary, unit = entry.entry.summary, row.measure.metric.unit
    if summary is None:
        return f"— {entry.missing}"
    parts = [f"{quantity(summary.median, unit)} · {repetitions(summary.median, summary.extremes, unit, summary.n)}"]
    if entry.words:
        words = entry.words
        parts.append(" ".join(filter(None, [words.arrow, words.change, words.tone_words])))
        parts += filter(None, [f"({words.interval})" if words.interval else "", words.verdict])
    return " ".join(parts)
