"""What pairs gave in one test up to a time, a time for each pair: the run of then, and the medians before it."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from benchweb.common.rows import fetch
from benchweb.results.latest_medians import SeriesTest

# The run compared with, and as many before it as tell their noise.
_RUNS = 12

_REFERENCES = """
SELECT series.pair_id AS pair, latest.runs, latest.ats, latest.medians, latest.counts
FROM unnest(%(pairs)s::bigint[], %(untils)s::timestamptz[]) AS wanted(pair, until)
JOIN results_series series ON series.pair_id = wanted.pair AND series.kind = %(kind)s
  AND series.metric = %(metric)s AND series.identity_digest = %(digest)s
CROSS JOIN LATERAL (
  SELECT array_agg(run_id) AS runs, array_agg(at) AS ats, array_agg(median) AS medians, array_agg(n) AS counts FROM (
    SELECT run_id, at, median, n FROM results_runfigure
    WHERE series_id = series.id AND at <= wanted.until ORDER BY at DESC LIMIT %(runs)s
  ) figure
) latest
WHERE latest.runs IS NOT NULL
"""


class ReferenceRuns(NamedTuple):
    """A pair's runs up to a time, newest first: the first is what is compared with. The lists go together."""

    pair: int
    runs: list[int]
    ats: list[datetime]
    medians: list[float]
    counts: list[int]


def reference_runs(untils: Mapping[int, datetime], *, test: SeriesTest, metric: str) -> dict[int, ReferenceRuns]:
    """Return the runs of pairs up to the time of each, by pair; one query, index-only."""
    values = {
        "pairs": list(untils),
        "untils": list(untils.values()),
        "kind": test.kind,
        "metric": metric,
        "digest": test.digest,
        "runs": _RUNS,
    }
    return {row.pair: row for row in fetch(ReferenceRuns, _REFERENCES, values)}
