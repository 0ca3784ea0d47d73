"""Read people's notes."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchweb.common.rows import fetch_all, from_json
from benchweb.hosts.pairs import pair_named, with_pairs

# More flags than this on one time axis are a wall.
MOST_NOTES = 200

_SQL = with_pairs("""
SELECT n.at, n.until, n.id, n.text, coalesce(u.username, ''),
  jsonb_build_array(n.environment_id, n.host_id, n.pair_id, coalesce(o.name, e.name, ''), {pair_names})
FROM regressions_annotation n
LEFT JOIN auth_user u ON u.id = n.author_id
LEFT JOIN hosts_environment e ON e.id = n.environment_id
LEFT JOIN hosts_host o ON o.id = n.host_id
LEFT JOIN hosts_pair pair ON pair.id = n.pair_id
{pair_ends_if_any}
WHERE n.archived_at IS NULL AND n.at <= %(last)s AND coalesce(n.until, n.at) >= %(first)s AND (
  (n.environment_id IS NULL AND n.host_id IS NULL AND n.pair_id IS NULL)
  OR n.environment_id = ANY(%(environments)s) OR n.host_id = ANY(%(hosts)s) OR n.pair_id = ANY(%(pairs)s))
ORDER BY n.at, n.id LIMIT %(most_notes)s
""")


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
    """Return the notes that touch a time and concern any of these, or everything; by time."""
    values = {
        "first": first,
        "last": last,
        "environments": sorted(environments),
        "hosts": sorted(hosts),
        "pairs": sorted(pairs),
        "most_notes": MOST_NOTES,
    }
    return [_note(row) for row in fetch_all(_SQL, values)]


def _note(row: tuple[Any, ...]) -> Note:
    at, until, pk, text, author, told = row
    environment_id, host_id, pair_id, about, *names = from_json(told)
    about = about if names[0] is None else pair_named(names)
    return Note(about, pk, text, at, until, author, environment_id, host_id, pair_id)
