"""Read people's notes."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchweb.hosts.models import endpoint_label, pair_label
from benchweb.rows import fast_rows, planned_once

# More flags than this on one time axis are a wall.
MOST_NOTES = 200

# Written by hand: to build the seven joins from models takes ten times as long as to run them, mostly for no note.
_SQL = """
SELECT n.id, n.text, n.at, n.until, coalesce(u.username, ''),
  n.environment_id, n.host_id, n.pair_id,
  coalesce(o.name, e.name, ''), h.name, s.name, s.network_mode, i.name, t.name, t.network_mode
FROM regressions_annotation n
LEFT JOIN auth_user u ON u.id = n.author_id
LEFT JOIN hosts_environment e ON e.id = n.environment_id
LEFT JOIN hosts_host o ON o.id = n.host_id
LEFT JOIN hosts_pair p ON p.id = n.pair_id
LEFT JOIN hosts_endpoint s ON s.id = p.source_id LEFT JOIN hosts_host h ON h.id = s.host_id
LEFT JOIN hosts_endpoint t ON t.id = p.sink_id LEFT JOIN hosts_host i ON i.id = t.host_id
WHERE n.archived_at IS NULL AND n.at <= %(last)s AND coalesce(n.until, n.at) >= %(first)s AND (
  (n.environment_id IS NULL AND n.host_id IS NULL AND n.pair_id IS NULL)
  OR n.environment_id = ANY(%(environments)s) OR n.host_id = ANY(%(hosts)s) OR n.pair_id = ANY(%(pairs)s))
ORDER BY n.at, n.id LIMIT %(most)s
"""


@dataclass(frozen=True)
class Note:
    """A note as pages show it; `about` names its pair, host or environment, and is empty where it is about all."""

    about: str
    pk: int
    text: str
    at: datetime
    until: datetime | None
    author: str
    environment_id: int | None
    host_id: int | None
    pair_id: int | None


def annotations_between(
    first: datetime,
    last: datetime,
    *,
    environments: Collection[int],
    hosts: Collection[int],
    pairs: Collection[int],
) -> list[Note]:
    """Give the notes that touch a time and concern any of these, or everything; by time."""
    values = {
        "first": first,
        "last": last,
        "environments": list(environments),
        "hosts": list(hosts),
        "pairs": list(pairs),
        "most": MOST_NOTES,
    }
    with planned_once():
        return [_note(row) for row in fast_rows(_SQL, values)]


def _note(row: tuple[Any, ...]) -> Note:
    *_, about, source, source_name, source_mode, sink, sink_name, sink_mode = row
    if source is not None:
        ends = endpoint_label(source, source_name, source_mode), endpoint_label(sink, sink_name, sink_mode)
        about = pair_label(*ends)
    return Note(about, *row[:8])
