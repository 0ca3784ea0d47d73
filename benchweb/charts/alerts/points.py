"""The runs around the change of each series of an alert."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from benchweb.common.rows import fetch
from benchweb.documents.charts import Measured

# On each side of the first bad run: what was judged, and what came of it.
RUNS_BEFORE = 40
RUNS_AFTER = 40

_SQL = """
SELECT part.id AS part_id,
  (SELECT count(*) FROM results_series o WHERE o.kind = s.kind AND o.metric = s.metric AND o.id < s.id) AS position,
  figure.at, figure.median, figure.n, figure.low, figure.high, figure.run_id
FROM regressions_alertseries part JOIN results_series s ON s.id = part.series_id
JOIN results_runfigure bad ON bad.run_id = part.first_bad_run_id AND bad.series_id = part.series_id
CROSS JOIN LATERAL (
  (SELECT at, median, n, low, high, run_id FROM results_runfigure
    WHERE series_id = part.series_id AND at < bad.at ORDER BY at DESC LIMIT %(before)s)
  UNION ALL
  (SELECT at, median, n, low, high, run_id FROM results_runfigure
    WHERE series_id = part.series_id AND at >= bad.at ORDER BY at LIMIT %(after)s)
) figure
WHERE part.id = ANY(%(parts)s)
ORDER BY part.id, figure.at, figure.run_id
"""


class Around(NamedTuple):
    """A series' figures, and its place among all of its metric, which binds its colour."""

    position: int
    figures: list[Measured]


class _Row(NamedTuple):
    part_id: int
    position: int
    at: datetime
    median: float
    n: int
    low: float
    high: float
    run_id: int


def around(part_ids: Sequence[int]) -> dict[int, Around]:
    """Return by part the figures of the runs around its change, oldest first; one query."""
    by_part: dict[int, Around] = {}
    for row in fetch(_Row, _SQL, {"parts": list(part_ids), "before": RUNS_BEFORE, "after": RUNS_AFTER}):
        figures = by_part.setdefault(row.part_id, Around(row.position, [])).figures
        figures.append(Measured(row.at, row.median, row.n, row.low, row.high, row.run_id))
    return by_part
