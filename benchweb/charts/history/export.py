"""The points behind a look at the history as CSV: every one, as it was measured."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from benchweb.charts.export import PAIR_IDS, pair_ids
from benchweb.charts.history.lines import HistoryLine, Selection
from benchweb.charts.history.query import HistoryQuery
from benchweb.documents.csv_file import csv_parts
from benchweb.results.selectors import point_parts

_COLUMNS = ("series", "pair", "environment", "kind", "parameters", "metric", "unit", "at", "value", "run", "trial")


def history_csv(query: HistoryQuery, selection: Selection, lines: Sequence[HistoryLine]) -> Iterator[str]:
    """Return the file part by part; a query for each part of each series."""
    return csv_parts([*_COLUMNS, *PAIR_IDS], _parts(query, selection, lines))


def _parts(
    query: HistoryQuery, selection: Selection, lines: Sequence[HistoryLine]
) -> Iterator[Iterator[Sequence[Any]]]:
    first, last = query.span
    for line in lines:
        ids = pair_ids(line.pair).values()
        for metric in [*selection.metrics, *filter(None, [selection.strip])]:
            if metric not in line.series:
                continue
            names = (
                line.series[metric],
                line.pair_words,
                line.pair.environment,
                selection.kind.name,
                json.dumps(line.identity, sort_keys=True),
                metric,
                selection.kind.metrics[metric].unit,
            )
            for rows in point_parts(series_id=line.series[metric], from_time=first, to_time=last, plan=query.plan):
                yield ([*names, row.at, row.value, row.run, row.trial, *ids] for row in rows)
