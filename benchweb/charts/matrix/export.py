"""A matrix as CSV: a row per shown cell, raw values, what is missing empty with its state beside it."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchweb.catalog import Metric
from benchweb.charts.export import PAIR_IDS
from benchweb.charts.export import cell as csv_cell
from benchweb.charts.matrix.figures import AxisItem, Cell, Key, MatrixTable
from benchweb.charts.matrix.verdicts import CellVerdict, Verdicts
from benchweb.results.latest_medians import SeriesTest

_COLUMNS = ["environment", "source", "sink", "state", "kind", "identity", "metric", "unit"]
_FIGURES = ["n", "median", "mean", "low", "high", "at", "runs", "reason"]
_VERDICTS = ["verdict", "reference", "difference_ratio", "reference_at"]


def matrix_csv(
    tables: Sequence[MatrixTable],
    environments: Mapping[int, str],
    *,
    test: SeriesTest | None,
    metric: Metric,
    verdicts: Verdicts | None = None,
) -> str:
    """Return the cells of all tables, and how each stands where they are compared; `environments` are names by id."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*_COLUMNS, *_FIGURES, *PAIR_IDS, *(_VERDICTS if verdicts is not None else ())])
    for table in tables:
        cells = [cell for line in table.cells for cell in line]
        rows = _rows(table, environments[table.axes.environment], test, metric)
        for cell, row in zip(cells, rows, strict=True):
            verdict = (
                [] if verdicts is None else _verdict(verdicts.get((table.axes.environment, cell.row, cell.column)))
            )
            writer.writerow(map(csv_cell, [*row, *verdict]))
    return out.getvalue()


def _verdict(verdict: CellVerdict | None) -> list[Any]:
    return [verdict.word, verdict.reference, verdict.ratio, verdict.at] if verdict else [None] * len(_VERDICTS)


def _rows(table: MatrixTable, environment: str, test: SeriesTest | None, metric: Metric) -> Iterator[list[Any]]:
    items = {item.key: item for item in (*table.axes.rows, *table.axes.columns)}
    test_and_metric = [test.kind if test else "", test.identity if test else "", metric.key, metric.unit]
    for line in table.cells:
        for cell in line:
            summary = cell.summary
            figures = [summary.n, summary.median, cell.mean, summary.low, summary.high] if summary else [None] * 5
            runs = " ".join(map(str, cell.runs))
            reason = cell.failures[0].reason if cell.failures else ""
            yield [
                environment,
                _name(items[cell.row]),
                _name(items[cell.column]),
                cell.state,
                *test_and_metric,
                *figures,
                cell.at,
                runs,
                reason,
                *_ids(cell, items),
                table.axes.environment,
            ]


def _name(item: AxisItem) -> str:
    return f"{item.label} ({item.detail})" if item.detail else item.label


def _ids(cell: Cell, items: Mapping[Key, AxisItem]) -> list[Any]:
    """Return the ids of a cell's pairs, and of its hosts and endpoints where it is of two endpoints."""
    ends = [items[key] for key in (cell.row, cell.column)]
    hosts_and_endpoints = [key for end in ends for key in (end.host, end.key if end.host else None)]
    return [" ".join(map(str, cell.pairs)), *hosts_and_endpoints]
