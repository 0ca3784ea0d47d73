"""Who stands on the axes of a matrix, and the pairs between: each one query, by index."""

from collections.abc import Sequence
from typing import NamedTuple

from benchweb.common.names import name_key
from benchweb.common.rows import fetch

# Scalar, not EXISTS: that would be answered by reading all pairs once, instead of an index's first entry each.
# The + 0 keeps the planner from an environment's index, which for no sink there means all of its pairs.
_ENDPOINTS = """
SELECT * FROM (
  SELECT environment.id AS environment, endpoint.id, host.name AS host, endpoint.name, endpoint.network_mode,
    host.id AS host_id,
    (SELECT true FROM hosts_pair pair WHERE pair.source_id = endpoint.id
     AND pair.environment_id = environment.id AND pair.archived_at IS NULL LIMIT 1) IS NOT NULL AS is_source,
    (SELECT true FROM hosts_pair pair WHERE pair.sink_id = endpoint.id
     AND pair.environment_id + 0 = environment.id AND pair.archived_at IS NULL LIMIT 1) IS NOT NULL AS is_sink
  FROM unnest(%(environments)s::bigint[]) AS environment (id) CROSS JOIN hosts_endpoint endpoint
  JOIN hosts_host host ON host.id = endpoint.host_id
  WHERE endpoint.archived_at IS NULL AND host.name_key LIKE %(like)s
) AS found WHERE is_source OR is_sink ORDER BY lower(host), id
"""

_PAIRS = """
SELECT environment_id AS environment, source_id AS source, sink_id AS sink, id FROM hosts_pair
WHERE archived_at IS NULL AND environment_id = ANY(%(environments)s) AND source_id = ANY(%(sources)s)
  AND sink_id = ANY(%(sinks)s)
"""

_PAIRS_BY_MODE = """
SELECT cell.environment, cell.source, cell.sink, pair.id
FROM unnest(%(environments)s::bigint[], %(sources)s::text[], %(sinks)s::text[]) AS cell (environment, source, sink)
CROSS JOIN LATERAL (
  SELECT pair.id FROM hosts_pair pair
  JOIN hosts_endpoint source ON source.id = pair.source_id JOIN hosts_endpoint sink ON sink.id = pair.sink_id
  WHERE pair.environment_id = cell.environment AND pair.archived_at IS NULL
    AND source.network_mode = cell.source AND sink.network_mode = cell.sink
  LIMIT %(most)s
) AS pair
"""


class GridEndpoint(NamedTuple):
    """An endpoint of an environment, and whether it is the source or the sink of any pair there."""

    environment: int
    id: int
    host: str
    name: str
    network_mode: str
    host_id: int
    is_source: bool
    is_sink: bool


class GridPair(NamedTuple):
    """A pair's id at its place: endpoint ids, or network modes."""

    environment: int
    source: int | str
    sink: int | str
    id: int


def grid_endpoints(*, environments: Sequence[int], text: str = "") -> list[GridEndpoint]:
    """Return the endpoints with a pair in these environments, by the host's name; `text` is part of it."""
    like = name_key(text).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return fetch(GridEndpoint, _ENDPOINTS, {"environments": list(environments), "like": f"%{like}%"})


def grid_pairs(*, environments: Sequence[int], sources: Sequence[int], sinks: Sequence[int]) -> list[GridPair]:
    """Return the pairs in use from these source to these sink endpoints."""
    values = {"environments": list(environments), "sources": list(sources), "sinks": list(sinks)}
    return fetch(GridPair, _PAIRS, values)


def grid_pairs_by_mode(*, cells: Sequence[tuple[int, str, str]], most: int) -> list[GridPair]:
    """Return up to `most` pairs of each (environment, source's network mode, sink's network mode)."""
    environments, sources, sinks = ([cell[part] for cell in cells] for part in range(3))
    values = {"environments": environments, "sources": sources, "sinks": sinks, "most": most}
    return fetch(GridPair, _PAIRS_BY_MODE, values)
