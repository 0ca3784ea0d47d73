"""How the latest run of each pair stands beside those before it, in one test: from what is kept, no run is read."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from benchweb.common.rows import fetch
from benchweb.results.latest_medians import SeriesTest

_OF_PAIRS = """
SELECT series.pair_id AS pair, recent.runs[cardinality(recent.runs)] AS run, recent.at, recent.median,
  recent.baseline, recent.score, cardinality(recent.medians) - 1 AS runs_before
FROM results_series series JOIN results_recentmedians recent ON recent.series_id = series.id
WHERE series.pair_id = ANY(%(pairs)s::bigint[]) AND series.kind = %(kind)s AND series.metric = %(metric)s
  AND series.identity_digest = %(digest)s
"""
_OF_ENVIRONMENTS = """
SELECT wanted.environment, pair.source, pair.sink, pair.source_host, pair.sink_host, recent.at, recent.median,
  recent.baseline, recent.score, cardinality(recent.medians) - 1 AS runs_before, pair.total
FROM unnest(%(environments)s::bigint[], %(kinds)s::text[], %(metrics)s::text[], %(digests)s::text[])
  AS wanted(environment, kind, metric, digest)
CROSS JOIN LATERAL (
  SELECT p.id, p.source_id AS source, p.sink_id AS sink, source_host.name AS source_host, sink_host.name AS sink_host,
    p.total
  FROM (
    SELECT id, source_id, sink_id, count(*) OVER () AS total FROM hosts_pair
    WHERE environment_id = wanted.environment AND archived_at IS NULL ORDER BY id LIMIT %(most)s
  ) p
  JOIN hosts_endpoint source ON source.id = p.source_id JOIN hosts_host source_host ON source_host.id = source.host_id
  JOIN hosts_endpoint sink ON sink.id = p.sink_id JOIN hosts_host sink_host ON sink_host.id = sink.host_id
) pair
LEFT JOIN results_series series ON series.pair_id = pair.id AND series.kind = wanted.kind
  AND series.metric = wanted.metric AND series.identity_digest = wanted.digest
LEFT JOIN results_recentmedians recent ON recent.series_id = series.id
"""


class LatestDeviation(NamedTuple):
    """A pair's latest run in a test beside those before it; `score` is None while nobody can tell their noise."""

    pair: int
    run: int
    at: datetime
    median: float
    baseline: float | None
    score: float | None
    runs_before: int


class MeshPair(NamedTuple):
    """A pair at its place in an environment, by its endpoints, and its latest run; None where it gave nothing yet."""

    environment: int
    source: int
    sink: int
    source_host: str
    sink_host: str
    at: datetime | None
    median: float | None
    baseline: float | None
    score: float | None
    runs_before: int | None
    # Of the environment, however few are read.
    total: int


def latest_deviations(pairs: Sequence[int], *, test: SeriesTest, metric: str) -> dict[int, LatestDeviation]:
    """Return how the latest run of each pair stands, by pair; one query, an entry each."""
    values = {"pairs": list(pairs), "kind": test.kind, "metric": metric, "digest": test.digest}
    return {row.pair: row for row in fetch(LatestDeviation, _OF_PAIRS, values)}


def mesh_pairs(tests: Sequence[tuple[int, str, str, str]], *, most: int) -> list[MeshPair]:
    """Return the first pairs of environments, each with its kind, metric and identity's digest; one query for all."""
    if not tests:
        return []
    environments, kinds, metrics, digests = (list(column) for column in zip(*tests, strict=True))
    values: dict[str, Any] = {
        "environments": environments,
        "kinds": kinds,
        "metrics": metrics,
        "digests": digests,
        "most": most,
    }
    return fetch(MeshPair, _OF_ENVIRONMENTS, values)
