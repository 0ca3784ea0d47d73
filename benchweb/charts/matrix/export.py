"""A matrix as CSV: a row per shown cell, raw values, what is missing empty with its state beside it."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchweb.catalog import Metric
from benchweb.charts.export import PAIR_IDS
from benchweb.charts.export import cell as csv_cell
from benchweb.charts.matrix.figures import AxisItem, Cell, Key, MatrixTable
from benchweb.results.latest_medians import SeriesTest

_COLUMNS = ["environment", "source", "sink", "state", "kind", "identity", "metric", "unit"]
_FIGURES = ["n", "median", "mean", "low", "high", "at", "runs", "reason"]


def matrix_csv(
    tables: Sequence[MatrixTable], environments: Mapping[int, str], *, test: SeriesTest | None, metric: Metric
) -> str:
    """Return the cells of all tables; `environments` names them by id. No query."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*_COLUMNS, *_FIGURES, *PAIR_IDS])
    for table in tables:
        for row in _rows(table, environments[table.axes.environment], test, metric):
            writer.writerow(map(csv_cell, row))
    return out.getvalue()


def _rows(table: MatrixTable, environment: str, test: SeriesTest | None, metric: Metric) -> Iterator[list[Any]]:
    items = {item.key: item for item in (*table.axes.rows, *table.axes.columns)}
    asked = [test.kind if test else "", test.identity if test else "", metric.key, metric.unit]
    for line in table.cells:
        for cell in line:
            found = cell.found
            figures = [found.n, found.median, cell.mean, found.low, found.high] if found else [None] * 5
            runs = " ".join(map(str, cell.runs))
            reason = cell.failures[0].reason if cell.failures else ""
            yield [
                environment,
                _name(items[cell.row]),
                _name(items[cell.column]),
                cell.state,
                *asked,
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
    hosts_and_endpoints = [each for end in ends for each in (end.host, end.key if end.host else None)]
    return [" ".join(map(str, cell.pairs)), *hosts_and_endpoints]
