"""A matrix as a document."""

from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.charts.matrix.export import item_label, matrix_figures
from benchweb.documents.document import Document, DocumentSection, DocumentTable
from benchweb.documents.references import Label, environment_ref, joined_label
from benchweb.web.matrix.cells import DisplayedCell
from benchweb.web.matrix.page import FilledMatrix, ShownTable, matrix_view
from benchweb.web.tags.show import kind_label, params_text


def matrix_document(filled: FilledMatrix) -> Document:
    """Return a table for each environment, and the figures of all cells. No query."""
    view, test = matrix_view(filled), filled.test
    lines: list[str] = [joined_label([kind_label(test.kind), params_text(test.kind, view.settings)])] if test else []
    for table in view.tables:
        if table.words:
            lines.append(Label(environment_ref(table.environment.name), f": {table.words}."))
    return Document(
        title=joined_label([view.metric.label, _("Matrix")]),
        lines=lines,
        sections=[_section(number, table) for number, table in enumerate(view.tables)],
        made_at=timezone.now(),
        is_synthetic=any(table.environment.is_synthetic for table in view.tables),
        figures=matrix_table(filled),
    )


def matrix_table(filled: FilledMatrix) -> DocumentTable:
    """Return the figures of all shown cells. No query."""
    return matrix_figures(
        filled.tables,
        {environment.pk: environment.name for environment in filled.query.environments},
        test=filled.test,
        metric=filled.metric,
        verdicts=filled.compared.verdicts,
    )


def _section(number: int, shown: ShownTable) -> DocumentSection:
    columns = [_("from ↓ to →"), *map(item_label, shown.columns)]
    rows = [[item_label(row.item), *map(_cell_text, row.cells)] for row in shown.rows]
    tones = [["", *map(_tone, row.cells)] for row in shown.rows]
    table = DocumentTable("", columns, rows, list(range(1, len(columns))), tones=tones)
    return DocumentSection(f"environment-{number}", environment_ref(shown.environment.name), tables=[table])


def _tone(cell: DisplayedCell) -> str:
    return f"{cell.css} is-missed" if cell.is_missed else cell.css


def _cell_text(cell: DisplayedCell) -> str:
    if cell.figure is None:
        return cell.word
    missed = _("missed") if cell.is_missed else ""
    return "\n".join(filter(None, [str(cell.figure), cell.meta, cell.change, f"{cell.target} {missed}".strip()]))
