"""Runs as lists show them: named, with when and how they went, without a model for each of their nine rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from benchweb.common.rows import Rows, fetch_all, literals
from benchweb.hosts.pairs import NAME_COLUMNS, pair_named, with_pairs
from benchweb.plans.models import version_label
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


# By each pair's own latest: among all runs those of a quiet pair would be searched for a long time.
_ON_PAIRS = """
  (SELECT l.id FROM hosts_pair p
  CROSS JOIN LATERAL (SELECT id FROM runs_run WHERE pair_id = p.id ORDER BY id DESC LIMIT %(most)s) l
  WHERE {of} ORDER BY l.id DESC LIMIT %(most)s)
"""
_OF_HOST = "p.source_id IN (SELECT id FROM hosts_endpoint WHERE host_id = %(host)s)"
_OF = {
    "pair": _ON_PAIRS.format(of="p.id = %(pair)s"),
    "pairs": _ON_PAIRS.format(of="p.id = ANY(%(pairs)s)"),
    "environment": _ON_PAIRS.format(of="p.environment_id = %(environment)s"),
    "host": _ON_PAIRS.format(of=f"{_OF_HOST} OR {_OF_HOST.replace('source', 'sink')}"),
    "plan": """
  (SELECT l.id FROM runs_run l JOIN plans_planversion w ON w.id = l.plan_version_id
  WHERE w.plan_id = %(plan)s ORDER BY l.id DESC LIMIT %(most)s)
""",
    # By its id: joined through the plan, the database might walk all runs from the newest back.
    "versions": """
  (SELECT l.id FROM unnest(%(versions)s::bigint[]) AS w (id)
  CROSS JOIN LATERAL (SELECT id FROM runs_run WHERE plan_version_id = w.id ORDER BY id DESC LIMIT %(most)s) l)
""",
    "numbers": "(SELECT id FROM runs_run WHERE id = ANY(%(numbers)s))",
}
_SQL = with_pairs("""
WITH latest AS ({latest})
SELECT r.id, r.state, r.reason, r.created_at, r.started_at, r.finished_at, r.pair_id, v.plan_id, v.number, n.name,
  {pair_names}
FROM latest
JOIN runs_run r ON r.id = latest.id
JOIN plans_planversion v ON v.id = r.plan_version_id
JOIN plans_plan n ON n.id = v.plan_id
JOIN hosts_pair pair ON pair.id = r.pair_id
{pair_ends}
ORDER BY r.id DESC
""")


@dataclass(frozen=True)
class RunLine:
    """A run, as far as a list names it."""

    plan: str
    pair: str
    version: int
    pk: int
    state: str
    reason: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    pair_id: int
    plan_id: int


def latest_runs(of: Mapping[str, int | Sequence[int]], *, most: int) -> list[RunLine]:
    """Return the latest runs of one pair, environment, host or plan, the newest first.

    `of` is `{"pair": 7}`; of several (`pairs`, plan `versions`, the runs of these `numbers`) it is the latest of each.
    """
    latest = " UNION ".join(_OF[scope] for scope in of)
    statement = _SQL.format(latest=latest)
    return [_line(row) for row in fetch_all(statement, {**of, "most": most})]


def _line(row: tuple[Any, ...]) -> RunLine:
    *figures, version, plan = row[:-NAME_COLUMNS]
    return RunLine(version_label(plan, version), pair_named(row[-NAME_COLUMNS:]), version, *figures)
