"""Rows of a list as CSV, each with its main figure in full precision."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse

from benchweb.charts.main_figures import MainFigure
from benchweb.common.downloads import download
from benchweb.documents.csv_file import csv_parts
from benchweb.web.chosen_rows.tables import ListTable

_FIGURE = ("kind", "metric", "unit", "median", "low", "high", "n", "usual", "measured_at", "measured_in_run")


def csv_answer(request: HttpRequest, table: ListTable, ids: Sequence[int]) -> StreamingHttpResponse:
    """Answer with a file of these rows in their order."""
    return download(request, _lines(table, ids), media_type="text/csv", file_name=f"{table.name}.csv")


def _lines(table: ListTable, ids: Sequence[int]) -> Iterator[str]:
    """Return a line for each row that is still there; a missing figure is empty."""
    figures = table.figures(ids)
    rows = ([*cells, *_cells(figures.get(pk))] for pk, cells in table.rows(ids))
    return csv_parts([*table.columns, *_FIGURE], [rows])


def _cells(figure: MainFigure | None) -> list[Any]:
    if figure is None:
        return [None] * len(_FIGURE)
    named = [figure.kind.name, figure.metric.key, figure.metric.unit]
    return [*named, figure.median, *figure.extremes, figure.n, figure.baseline, figure.at, figure.run]
