"""The points behind a look at the history as CSV: every one, as it was measured."""

import csv
import json
from collections.abc import Iterator, Sequence

from benchweb.charts.export import PAIR_IDS, Line, cell, pair_ids
from benchweb.charts.history.lines import HistoryLine
from benchweb.charts.history.query import HistoryQuery
from benchweb.charts.history.series import Selection
from benchweb.documents.moments import rfc3339
from benchweb.results.selectors import point_parts

_COLUMNS = ("series", "pair", "environment", "kind", "parameters", "metric", "unit", "at", "value", "run", "trial")


def history_csv(query: HistoryQuery, selection: Selection, lines: Sequence[HistoryLine]) -> Iterator[str]:
    """Return the file part by part; a query for each part of each series."""
    writer = csv.writer(Line())
    yield writer.writerow([*_COLUMNS, *PAIR_IDS])
    for line in lines:
        ids = pair_ids(line.pair).values()
        for metric in [*selection.metrics, *filter(None, [selection.strip])]:
            if metric not in line.series:
                continue
            names = (
                line.series[metric],
                cell(line.pair_words),
                cell(line.pair.environment),
                selection.kind.name,
                json.dumps(line.identity, sort_keys=True),
                metric,
                selection.kind.metrics[metric].unit,
            )
            first, last = query.span
            parts = point_parts(series_id=line.series[metric], from_time=first, to_time=last, plan=query.plan)
            for rows in parts:
                values = ([*names, rfc3339(row.at), row.value, row.run, row.trial, *ids] for row in rows)
                yield "".join(writer.writerow(row) for row in values)
