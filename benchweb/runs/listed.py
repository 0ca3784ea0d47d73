"""Runs as lists show them: named, with when and how they went, without a model for each of their nine rows."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from benchweb.hosts.pair_words import NAME_COLUMNS, pair_named, with_pairs
from benchweb.rows import Rows, fetch_all, literals
from benchweb.runs.models import OPEN_STATES

# So many of a run's `ends` are the source's, beginning with its host.
NAMES_OF_END = NAME_COLUMNS // 2
_LINES = with_pairs("""
SELECT r.id, r.state, r.reason, r.waiting_for, r.created_at, r.started_at, r.finished_at, r.attempts, r.not_before,
  source.host_id, sink.host_id, p.name, v.number, e.name, {pair_names}
FROM runs_run r
JOIN plans_planversion v ON v.id = r.plan_version_id
JOIN plans_plan p ON p.id = v.plan_id
JOIN hosts_pair pair ON pair.id = r.pair_id
JOIN hosts_environment e ON e.id = pair.environment_id
{pair_ends}
WHERE r.id = ANY({ids})
ORDER BY r.id DESC
""")
_OF_IDS = _LINES.replace("{ids}", "%(ids)s::bigint[]")
# Running before pending, and who came first before who came later: of a campaign of hundreds the ones that wait must
# not hide the ones that run, or those that are next.
_OPEN_AND_ENDED = _LINES.replace(
    "{ids}",
    """ARRAY(
  (SELECT id FROM runs_run WHERE state IN ({open}) ORDER BY state DESC, id LIMIT %(most_open)s)
  UNION ALL
  (SELECT id FROM runs_run WHERE state NOT IN ({open}) ORDER BY id DESC LIMIT %(most_ended)s)
)""",
).replace("{open}", literals(OPEN_STATES))


class ListedRun(NamedTuple):
    """A run as a line of a list; `ends` are host, endpoint and network mode of its pair's source, then of its sink."""

    pk: int
    state: str
    reason: str
    waiting_for: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    attempts: int
    not_before: datetime | None
    source_host_id: int
    sink_host_id: int
    plan: str
    version: int
    environment: str
    ends: tuple[str, ...]

    @property
    def pair(self) -> str:
        return pair_named(self.ends)


def listed_runs(ids: Sequence[int]) -> list[ListedRun]:
    """Return the lines of these runs, in this order; one query."""
    if not ids:
        return []
    lines = {line.pk: line for line in _listed(fetch_all(_OF_IDS, {"ids": list(ids)}))}
    return [lines[pk] for pk in ids if pk in lines]


def open_and_ended(*, most_open: int, most_ended: int) -> list[ListedRun]:
    """Return some of the runs that are open and the latest of those that ended, the newest first."""
    return _listed(fetch_all(_OPEN_AND_ENDED, {"most_open": most_open, "most_ended": most_ended}))


def _listed(rows: Rows) -> list[ListedRun]:
    return [ListedRun._make([*row[:-NAME_COLUMNS], row[-NAME_COLUMNS:]]) for row in rows]
