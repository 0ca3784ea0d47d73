"""Pairs as tables show them."""

from collections.abc import Mapping
from typing import NamedTuple

from benchweb.hosts.pair_words import pair_named, with_pairs
from benchweb.rows import fetch_all

_OF_HOST = "(SELECT id FROM hosts_endpoint WHERE host_id = %(host)s)"
_OF = {
    "environment": "pair.environment_id = %(environment)s",
    "host": f"(pair.source_id IN {_OF_HOST} OR pair.sink_id IN {_OF_HOST})",
}
_SQL = with_pairs("""
SELECT pair.id, environment.id, environment.name,
  source.status, source.status_reason, sink.status, sink.status_reason, pair.path_status, pair.path_reason,
  (SELECT count(*) FROM hosts_pair pair WHERE pair.archived_at IS NULL AND {of}), {pair_names}
FROM hosts_pair pair
JOIN hosts_environment environment ON environment.id = pair.environment_id
{pair_ends}
WHERE pair.archived_at IS NULL AND {of}
ORDER BY pair.id LIMIT %(most)s
""")
_COLUMNS = 10


class PairLine(NamedTuple):
    """A pair, as far as a table names it, with what the latest checks of its ends found."""

    pk: int
    environment_id: int
    environment: str
    source_status: str
    source_reason: str
    sink_status: str
    sink_reason: str
    path_status: str
    path_reason: str
    label: str


class FirstPairs(NamedTuple):
    """The first pairs in use, and how many there are in all."""

    lines: list[PairLine]
    total: int


def first_pairs(of: Mapping[str, int], *, most: int) -> FirstPairs:
    """Return the first pairs in use of one environment or host, `{"host": 7}`."""
    (scope,) = of
    rows = fetch_all(_SQL.format(of=_OF[scope]), {**of, "most": most})
    lines = [PairLine._make([*row[: _COLUMNS - 1], pair_named(row[_COLUMNS:])]) for row in rows]
    return FirstPairs(lines, rows[0][_COLUMNS - 1] if rows else 0)
