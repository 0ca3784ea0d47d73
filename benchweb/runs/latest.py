"""The latest runs of something, as lists name them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchweb.hosts.pair_words import NAME_COLUMNS, pair_named, with_pairs
from benchweb.plans.models import version_label
from benchweb.rows import fetch_all

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
