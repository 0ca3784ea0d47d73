"""Who stands on the axes of a matrix, and the pairs between: each one query, by index."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from benchweb.hosts.models import Endpoint, Environment, Pair

# Endpoints that tell which environments have network modes of their own; more would tell the same.
_ENDPOINTS_ASKED = 200

# Scalar, not EXISTS: that would be answered by reading all pairs once, instead of an index's first entry each.
# The + 0 keeps the planner from an environment's index, which for no sink there means all of its pairs.
_ENDPOINTS = """
SELECT * FROM (
  SELECT environment.id, endpoint.id AS endpoint, host.name, endpoint.name AS own_name, endpoint.network_mode,
    (SELECT true FROM hosts_pair pair WHERE pair.source_id = endpoint.id
     AND pair.environment_id = environment.id AND pair.archived_at IS NULL LIMIT 1) IS NOT NULL AS is_source,
    (SELECT true FROM hosts_pair pair WHERE pair.sink_id = endpoint.id
     AND pair.environment_id + 0 = environment.id AND pair.archived_at IS NULL LIMIT 1) IS NOT NULL AS is_sink
  FROM unnest(%s::bigint[]) AS environment (id) CROSS JOIN hosts_endpoint endpoint
  JOIN hosts_host host ON host.id = endpoint.host_id
  WHERE endpoint.archived_at IS NULL AND host.name ILIKE %s
) AS found WHERE is_source OR is_sink ORDER BY lower(name), endpoint
"""

_PAIRS_BY_MODE = """
SELECT cell.environment, cell.source, cell.sink, pair.id
FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS cell (environment, source, sink)
CROSS JOIN LATERAL (
  SELECT pair.id FROM hosts_pair pair
  JOIN hosts_endpoint source ON source.id = pair.source_id JOIN hosts_endpoint sink ON sink.id = pair.sink_id
  WHERE pair.environment_id = cell.environment AND pair.archived_at IS NULL
    AND source.network_mode = cell.source AND sink.network_mode = cell.sink
  LIMIT %s
) AS pair
"""


@dataclass(frozen=True)
class GridEndpoint:
    """An endpoint of an environment, and whether it is the source or the sink of any pair there."""

    environment: int
    id: int
    host: str
    name: str
    network_mode: str
    is_source: bool
    is_sink: bool


@dataclass(frozen=True)
class GridPair:
    """A pair's id at its place: endpoint ids, or network modes."""

    environment: int
    source: int | str
    sink: int | str
    id: int


def environments_for_grid() -> "QuerySet[Environment]":
    """Give the environments in use, each with `has_modes`: whether a pair starts anywhere but at the host itself."""
    containers = Endpoint.objects.filter(archived_at=None).exclude(network_mode="host").order_by()
    with_modes = Pair.objects.filter(archived_at=None, source__in=containers.values("pk")[:_ENDPOINTS_ASKED]).values(
        "environment"
    )
    has_modes = ExpressionWrapper(Q(pk__in=with_modes), output_field=BooleanField())
    return Environment.objects.filter(archived_at=None).annotate(has_modes=has_modes)


def grid_endpoints(*, environments: Sequence[int], text: str = "") -> list[GridEndpoint]:
    """Give the endpoints with a pair in these environments, by the host's name; `text` is part of it."""
    like = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    with connection.cursor() as cursor:
        cursor.execute(_ENDPOINTS, [list(environments), f"%{like}%"])
        return [GridEndpoint(*row) for row in cursor.fetchall()]


def grid_pairs(*, environments: Sequence[int], sources: Sequence[int], sinks: Sequence[int]) -> list[GridPair]:
    """Give the pairs in use from these source to these sink endpoints."""
    pairs = Pair.objects.filter(
        archived_at=None, environment__in=environments, source__in=sources, sink__in=sinks
    ).order_by()
    return [GridPair(*row) for row in pairs.values_list("environment_id", "source_id", "sink_id", "pk")]


def grid_pairs_by_mode(*, cells: Sequence[tuple[int, str, str]], most: int) -> list[GridPair]:
    """Give up to `most` pairs of each (environment, source's network mode, sink's network mode)."""
    environments, sources, sinks = ([cell[part] for cell in cells] for part in range(3))
    with connection.cursor() as cursor:
        cursor.execute(_PAIRS_BY_MODE, [environments, sources, sinks, most])
        return [GridPair(*row) for row in cursor.fetchall()]
