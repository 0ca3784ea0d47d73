"""What calls a pair by name in a statement written by hand: the rows, the columns, and how they are read."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchweb.common.rows import fetch_all
from benchweb.hosts.models import endpoint_label, pair_label

_ENDS = """
  JOIN hosts_endpoint source ON source.id = pair.source_id
  JOIN hosts_host source_host ON source_host.id = source.host_id
  JOIN hosts_endpoint sink ON sink.id = pair.sink_id
  JOIN hosts_host sink_host ON sink_host.id = sink.host_id
"""
_NAMES = (
    *("source_host.name", "source.name", "source.network_mode"),
    *("sink_host.name", "sink.name", "sink.network_mode"),
)
# How many columns `{pair_names}` are.
NAME_COLUMNS = len(_NAMES)


def with_pairs(statement: str) -> str:
    """Fill in `{pair_names}`, and the rows of both ends of the row `pair` as `{pair_ends}`, or `{pair_ends_if_any}`."""
    names, if_any = ", ".join(_NAMES), _ENDS.replace("JOIN", "LEFT JOIN")
    parts = {"{pair_names}": names, "{pair_ends}": _ENDS, "{pair_ends_if_any}": if_any}
    for mark, part in parts.items():
        statement = statement.replace(mark, part)
    return statement


def ends_named(names: Sequence[str]) -> tuple[str, str]:
    """Call source and sink by the columns `{pair_names}`."""
    source_host, source, source_mode, sink_host, sink, sink_mode = names
    return endpoint_label(source_host, source, source_mode), endpoint_label(sink_host, sink, sink_mode)


def pair_named(names: Sequence[str]) -> str:
    """Call a pair by the columns `{pair_names}`."""
    return pair_label(*ends_named(names))


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
