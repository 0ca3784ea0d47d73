"""Runs as lists show them: named, with when and how they went, without a model for each of their rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchweb.catalog.reasons import ReasonOf
from benchweb.common.rows import fetch, literals
from benchweb.hosts.pairs import PairNames, with_pairs
from benchweb.plans.models import version_label
from benchweb.runs.models import OPEN_STATES

_LINES = with_pairs("""
SELECT r.id AS pk, r.state, r.reason, r.reason_data, r.waiting_for, r.waiting_for_data,
  r.created_at, r.started_at, r.finished_at, r.attempts, r.not_before,
  r.pair_id, source.host_id AS source_host_id, sink.host_id AS sink_host_id,
  p.id AS plan_id, p.name AS plan, v.number AS version, e.name AS environment, {pair_names}
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


@dataclass(frozen=True, kw_only=True)
class RunLine(PairNames):
    """A run as a line of a list."""

    pk: int
    state: str
    reason: str
    reason_data: dict[str, Any] | None
    waiting_for: str
    waiting_for_data: dict[str, Any] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    attempts: int
    not_before: datetime | None
    pair_id: int
    source_host_id: int
    sink_host_id: int
    plan_id: int
    plan: str
    version: int
    environment: str
    why = ReasonOf("reason")
    waits_for = ReasonOf("waiting_for")

    @property
    def plan_version(self) -> str:
        return version_label(self.plan, self.version)


def listed_runs(ids: Sequence[int]) -> list[RunLine]:
    """Return the lines of these runs, in this order; one query."""
    if not ids:
        return []
    lines = {line.pk: line for line in fetch(RunLine, _OF_IDS, {"ids": list(ids)})}
    return [lines[pk] for pk in ids if pk in lines]


def open_and_ended(*, most_open: int, most_ended: int) -> list[RunLine]:
    """Return some of the runs that are open and the latest of those that ended, the newest first."""
    return fetch(RunLine, _OPEN_AND_ENDED, {"most_open": most_open, "most_ended": most_ended})


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


def latest_runs(of: Mapping[str, int | Sequence[int]], *, most: int) -> list[RunLine]:
    """Return the latest runs of one pair, environment, host or plan, the newest first.

    `of` is `{"pair": 7}`; of several (`pairs`, plan `versions`, the runs of these `numbers`) it is the latest of each.
    """
    ids = f"ARRAY({' UNION '.join(_OF[scope] for scope in of)})"
    return fetch(RunLine, _LINES.replace("{ids}", ids), {**of, "most": most})
