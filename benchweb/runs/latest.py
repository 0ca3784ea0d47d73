"""The latest runs of something, as lists name them, by a statement written by hand.

To build it from models takes longer than to run it and to show its rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchweb.hosts.models import endpoint_label, pair_label
from benchweb.plans.models import version_label
from benchweb.rows import fast_rows, planned_once

# By each pair's own latest: among all runs those of a quiet pair would be searched for a long time.
_ON_PAIRS = """
  SELECT l.id FROM hosts_pair p
  CROSS JOIN LATERAL (SELECT id FROM runs_run WHERE pair_id = p.id ORDER BY id DESC LIMIT %(most)s) l
  WHERE {of} ORDER BY l.id DESC LIMIT %(most)s
"""
_OF_HOST = "p.source_id IN (SELECT id FROM hosts_endpoint WHERE host_id = %(host)s)"
_OF = {
    "pair": _ON_PAIRS.format(of="p.id = %(pair)s"),
    "environment": _ON_PAIRS.format(of="p.environment_id = %(environment)s"),
    "host": _ON_PAIRS.format(of=f"{_OF_HOST} OR {_OF_HOST.replace('source', 'sink')}"),
    "plan": """
  SELECT l.id FROM runs_run l JOIN plans_planversion w ON w.id = l.plan_version_id
  WHERE w.plan_id = %(plan)s ORDER BY l.id DESC LIMIT %(most)s
""",
}
_SQL = """
WITH latest AS ({latest})
SELECT r.id, r.state, r.reason, r.created_at, r.started_at, r.finished_at, r.pair_id, v.plan_id, v.number, n.name,
  h.name, a.name, a.network_mode, i.name, b.name, b.network_mode
FROM latest
JOIN runs_run r ON r.id = latest.id
JOIN plans_planversion v ON v.id = r.plan_version_id
JOIN plans_plan n ON n.id = v.plan_id
JOIN hosts_pair p ON p.id = r.pair_id
JOIN hosts_endpoint a ON a.id = p.source_id
JOIN hosts_host h ON h.id = a.host_id
JOIN hosts_endpoint b ON b.id = p.sink_id
JOIN hosts_host i ON i.id = b.host_id
ORDER BY r.id DESC
"""
# How many columns come before the names.
_FIGURES = 9


@dataclass(frozen=True)
class RunLine:
    """A run, as far as a list names it."""

    plan: str
    pair: str
    pk: int
    state: str
    reason: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    pair_id: int
    plan_id: int
    version: int


def latest_runs(of: Mapping[str, int], *, most: int) -> list[RunLine]:
    """Give the latest runs of one pair, environment, host or plan (`{"pair": 7}`), the newest first; one query."""
    (scope,) = of
    with planned_once():
        rows = fast_rows(_SQL.format(latest=_OF[scope]), {**of, "most": most})
    return [_line(row) for row in rows]


def _line(row: tuple[Any, ...]) -> RunLine:
    *_, version, plan, source, source_name, source_mode, sink, sink_name, sink_mode = row
    ends = endpoint_label(source, source_name, source_mode), endpoint_label(sink, sink_name, sink_mode)
    return RunLine(version_label(plan, version), pair_label(*ends), *row[:_FIGURES])
