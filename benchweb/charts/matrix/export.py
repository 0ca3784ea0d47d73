"""A matrix as a table of figures: a row per shown cell, raw values, what is missing empty with its state beside it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchweb.catalog import Metric, nested_text
from benchweb.charts.export import PAIR_IDS
from benchweb.charts.matrix.figures import AxisItem, Cell, Key, MatrixTable
from benchweb.charts.matrix.verdicts import CellVerdict, Verdicts
from benchweb.documents.document import DocumentCell, DocumentTable, RowId
from benchweb.documents.references import (
    Label,
    Reference,
    environment_ref,
    host_ref,
    joined_label,
    mode_ref,
    numbered_ref,
    reason_part,
    value_ref,
)
from benchweb.results.latest_medians import SeriesTest

_COLUMNS = ["environment", "source", "sink", "state", "kind", "identity", "metric", "unit"]
_FIGURES = ["n", "median", "mean", "low", "high", "at", "runs", "reason"]
_VERDICTS = ["verdict", "reference", "difference_ratio", "reference_at"]


def matrix_figures(
    tables: Sequence[MatrixTable],
    environments: Mapping[int, str],
    *,
    test: SeriesTest | None,
    metric: Metric,
    verdicts: Verdicts | None = None,
) -> DocumentTable:
    """Return the cells of all tables, and how each stands where they are compared; `environments` are names by id."""
    rows: list[list[DocumentCell]] = []
    for table in tables:
        cells = [cell for line in table.cells for cell in line]
        figures = _rows(table, environments[table.axes.environment], test, metric)
        for cell, row in zip(cells, figures, strict=True):
            verdict = (
                [] if verdicts is None else _verdict(verdicts.get((table.axes.environment, cell.row, cell.column)))
            )
            rows.append([*row, *verdict])
    return DocumentTable(
        "matrix", [*_COLUMNS, *_FIGURES, *PAIR_IDS, *(_VERDICTS if verdicts is not None else ())], rows
    )


def item_label(item: AxisItem) -> Label:
    """Name an endpoint or a network mode on an axis."""
    if item.host is None:
        return mode_ref(item.label)
    host = host_ref(item.host, item.label)
    return Label(host, " (", Reference("endpoint", item.detail, item.detail), ")") if item.detail else host


def _verdict(verdict: CellVerdict | None) -> list[Any]:
    return [verdict.word, verdict.reference, verdict.ratio, verdict.at] if verdict else [None] * len(_VERDICTS)


def _rows(table: MatrixTable, environment: str, test: SeriesTest | None, metric: Metric) -> Iterator[list[Any]]:
    items = {item.key: item for item in (*table.axes.rows, *table.axes.columns)}
    identity = value_ref(nested_text(test.identity)) if test else ""
    test_and_metric = [test.kind if test else "", identity, metric.key, metric.unit]
    for line in table.cells:
        for cell in line:
            summary = cell.summary
            figures = [summary.n, summary.median, cell.mean, summary.low, summary.high] if summary else [None] * 5
            runs = joined_label([numbered_ref("run", run) for run in cell.runs], " ")
            reason = reason_part(cell.failures[0].reason) if cell.failures else ""
            yield [
                environment_ref(environment),
                item_label(items[cell.row]),
                item_label(items[cell.column]),
                cell.state,
                *test_and_metric,
                *figures,
                cell.at,
                runs,
                reason,
                *_ids(cell, items),
                RowId(table.axes.environment),
            ]


def _ids(cell: Cell, items: Mapping[Key, AxisItem]) -> list[Any]:
    """Return the ids of a cell's pairs, and of its hosts and endpoints where it is of two endpoints."""
    ends = [items[key] for key in (cell.row, cell.column)]
    pairs = joined_label([numbered_ref("pair", pair) for pair in cell.pairs], " ")
    return [pairs, *(RowId(key) if end.host else None for end in ends for key in (end.host or 0, end.key))]
