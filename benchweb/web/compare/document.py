"""A comparison, of runs or of sets, as a document."""

from collections.abc import Sequence

from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog.translation import sentence_space
from benchweb.charts.comparison.export import comparison_figures, sets_figures
from benchweb.charts.comparison.sets import read_sides, sides_document
from benchweb.documents.charts import ChartSpec
from benchweb.documents.document import Document, DocumentCell, DocumentSection, DocumentTable, MeasuredValue
from benchweb.documents.references import Label, environment_ref, free_text, joined_label, pair_ref, version_ref
from benchweb.web.compare.headline import ComparedHeadline
from benchweb.web.compare.page import Comparison, DisplayedEntry, DisplayedRow, comparison, requested_runs
from benchweb.web.compare.query import CompareQuery
from benchweb.web.compare.sets import SetsComparison, sets_comparison
from benchweb.web.tags.show import params_text

_Sides = Sequence[tuple[str, ComparedHeadline | None, str]]


def compared_document(query: CompareQuery) -> Document:
    """Return a comparison's sentences, charts, table and figures; without two sides a title alone."""
    return _sets_document(query) if query.sides else _runs_document(query)


def _sets_document(query: CompareQuery) -> Document:
    read = read_sides(query.sides, zone=query.zone, show=query.show, kind=query.kind)
    if len(read.sides) < 2:
        return _document(_("Compare"), [free_text(notice) for notice in read.notices], [])
    page = sets_comparison(read, query)
    sides = [(column.label, column.headline, column.summary) for column in page.columns]
    counted = [
        Label(column.words, ": ", sentence_space().join(filter(None, [f"{column.counted}.", column.apart])))
        for column in page.columns
    ]
    figures = sets_figures(sides_document(read), page.compared)
    return _compared(sides, counted, page.charts, page.rows, figures, left_out=_left_out(page))


def _left_out(page: SetsComparison) -> DocumentSection:
    """Return the pairs that one side alone measured: with nothing to compare them with they are in no figure."""
    rows: list[Sequence[DocumentCell]] = [
        [column.label, str(column.left_out), joined_label([pair_ref(pair) for pair in column.left_out_pairs], ", ")]
        for column in page.columns
        if column.left_out
    ]
    columns = [_("Side"), _("Pairs"), _("The first of them")]
    return DocumentSection(
        "left-out", _("Measured on one side only"), tables=[DocumentTable("", columns, rows, numeric=[1])]
    )


def _runs_document(query: CompareQuery) -> Document:
    runs = requested_runs(query)
    if len(runs) < 2:
        return _document(_("Compare"), [], [])
    page = comparison(runs, query)
    sides = [(column.label, column.headline, column.summary) for column in page.columns]
    return _compared(sides, _named_runs(page), page.charts, page.rows, comparison_figures(runs, page.compared))


def _named_runs(page: Comparison) -> list[Label]:
    named = [(column.label, column.run.plan_version, column.run.pair) for column in page.columns]
    return [
        Label(
            label,
            ": ",
            joined_label(
                [
                    version_ref(version.plan.name, version.number),
                    pair_ref(pair),
                    environment_ref(pair.environment.name),
                ]
            ),
        )
        for label, version, pair in named
    ]


def _compared(
    sides: _Sides,
    counted: Sequence[str],
    charts: Sequence[ChartSpec],
    rows: Sequence[DisplayedRow],
    figures: DocumentTable,
    *,
    left_out: DocumentSection | None = None,
) -> Document:
    labels = [label for label, _headline, _summary in sides]
    changes = [_changes(*side) for side in sides]
    table = DocumentTable(
        title="",
        columns=[_("Metric"), *labels],
        rows=[[_metric(row), *(_cell_text(entry, row) for entry in row.entries)] for row in rows],
        numeric=list(range(1, len(labels) + 1)),
    )
    sections = [
        DocumentSection("charts", _("Charts"), charts=charts),
        DocumentSection("metrics", _("Metrics"), tables=[table]),
        *([left_out] if left_out else []),
    ]
    title = joined_label([joined_label(labels, " / "), _("Compare")])
    return _document(title, [*counted, *filter(None, changes)], sections, figures)


def _document(
    title: str, lines: Sequence[str], sections: Sequence[DocumentSection], figures: DocumentTable | None = None
) -> Document:
    shown = [section for section in sections if not section.is_empty]
    return Document(title=title, lines=lines, sections=shown, made_at=timezone.now(), figures=figures)


def _changes(label: str, headline: ComparedHeadline | None, summary: str) -> str:
    """Say what sets a side apart from the baseline."""
    if headline is None:
        return ""
    changes = [Label(f"{each.arrow} {each.change} ({each.interval}) ", each.what) for each in headline.changes]
    return joined_label([Label(label, ": ", joined_label(changes, "; ") or summary), headline.rest])


def _metric(row: DisplayedRow) -> Label:
    measure = row.measure
    return joined_label([measure.metric.label, measure.kind.label, params_text(measure.kind.name, measure.params)])


def _cell_text(entry: DisplayedEntry, row: DisplayedRow) -> str:
    summary, unit = entry.entry.summary, row.measure.metric.unit
    if summary is None:
        return Label("— ", entry.missing)
    parts = [str(MeasuredValue(summary.median, unit, summary.n, summary.low, summary.high))]
    if entry.words:
        words = entry.words
        parts.append(" ".join(filter(None, [words.arrow, words.change, words.tone_words])))
        parts += filter(None, [f"({words.interval})" if words.interval else "", words.verdict])
    return " ".join(parts)
