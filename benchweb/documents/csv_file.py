"""CSV, the one place where it is written: cells that a spreadsheet takes as they are."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from typing import Any

from benchweb.catalog import nested_text
from benchweb.documents.charts import ChartSeries, ChartSpec
from benchweb.documents.document import Document, DocumentCell, DocumentTable, MeasuredValue, Moment
from benchweb.documents.moments import rfc3339

# What a spreadsheet takes for the start of a formula; in East Asian languages full-width signs are taken too.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")


class _WrittenLine:
    """What csv writes to: it hands each line on."""

    def write(self, text: str) -> str:
        """Return what is written."""
        return text


def csv_parts(columns: Sequence[str], parts: Iterable[Iterable[Sequence[Any]]]) -> Iterator[str]:
    """Return a file part by part: the head, then each part's rows, values in full precision."""
    writer = csv.writer(_WrittenLine())
    yield writer.writerow(columns)
    for rows in parts:
        yield "".join(writer.writerow(map(cell, row)) for row in rows)


def cell(value: Any) -> Any:
    """Write a value for a spreadsheet: in full precision, and no text as a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | float):
        return nested_text(value) if isinstance(value, dict) else repr(value)
    if isinstance(value, datetime):
        return rfc3339(value)
    # A text such as "=HYPERLINK(…)" in a host's error message must stay text in a spreadsheet.
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value


def document_csv(document: Document) -> Iterator[str]:
    """Return a document's figures, else its tables and the points of its charts, each with its name above."""
    tables = [document.figures] if document.figures else [*_named_tables(document), *_points(document.charts)]
    for table in tables:
        if len(tables) > 1:
            yield from csv_parts([table.title], [])
        yield from table_csv(table)


def table_csv(table: DocumentTable) -> Iterator[str]:
    """Return one table; a figure is its value alone."""
    return csv_parts(table.columns, [[list(map(_value, row)) for row in table.rows]])


def _value(value: DocumentCell) -> Any:
    if isinstance(value, MeasuredValue):
        return value.value
    return value.at if isinstance(value, Moment) else value


def _named_tables(document: Document) -> Iterator[DocumentTable]:
    for section in document.sections:
        for table in section.tables:
            yield replace(table, title=table.title or section.title)


def _points(charts: Sequence[ChartSpec]) -> Iterator[DocumentTable]:
    """Return a table of the points of charts; a chart that has rows of its own has them by itself."""
    drawn = [chart for chart in charts if chart.table.rows is None]
    rows = [
        [chart.title, line.label, at, chart.y.unit, *figures]
        for chart in drawn
        for line in chart.series
        for at, *figures in _in_order(line)
    ]
    if rows:
        yield DocumentTable("charts", _POINT_COLUMNS, rows)
    for chart in charts:
        if chart.table.rows is not None:
            keys = [column["key"] for column in chart.table.columns]
            yield DocumentTable(chart.title, keys, [[row.get(key) for key in keys] for row in chart.table.rows])


_POINT_COLUMNS = ("chart", "series", "x", "unit", "n", "median", "low", "high", "missing")


def _in_order(line: ChartSeries) -> list[list[Any]]:
    """Return a line's points; of one over time what was measured and its gaps are put together."""
    points = [[point.x, point.n, point.y, point.low, point.high, point.reason] for point in line.points]
    measured = [[rfc3339(row.at), row.n, row.median, row.low, row.high, ""] for row in line.measured]
    return sorted(measured + points, key=itemgetter(0)) if measured else points
