"""Runs as lists show them: named, with when and how they went, without a model for each of their nine rows."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet

from benchweb.hosts.pair_words import pair_named, with_pairs
from benchweb.hosts.selectors import of_ends
from benchweb.rows import fast_rows, planned_once
from benchweb.runs.models import OPEN_STATES, Run

_FIELDS = (
    *("pk", "state", "reason", "waiting_for", "created_at", "started_at", "finished_at", "attempts", "not_before"),
    *("pair__source__host_id", "pair__sink__host_id"),
    *("plan_version__plan__name", "plan_version__number", "pair__environment__name"),
)
_END = ("host__name", "name", "network_mode")
_NAMES = of_ends(*_END, pair="pair__")
# So many of a run's `ends` are the source's, beginning with its host.
NAMES_OF_END = len(_END)
# Running before pending: of a campaign of hundreds the ones that wait must not hide the ones that run.
_OPEN_AND_ENDED = with_pairs("""
WITH shown AS (
  (SELECT id FROM runs_run WHERE state = ANY(%(open)s) ORDER BY state DESC, id DESC LIMIT %(most_open)s)
  UNION ALL
  (SELECT id FROM runs_run WHERE state <> ALL(%(open)s) ORDER BY id DESC LIMIT %(most_ended)s)
)
SELECT r.id, r.state, r.reason, r.waiting_for, r.created_at, r.started_at, r.finished_at, r.attempts, r.not_before,
  source.host_id, sink.host_id, p.name, v.number, e.name, {pair_names}
FROM runs_run r
JOIN plans_planversion v ON v.id = r.plan_version_id
JOIN plans_plan p ON p.id = v.plan_id
JOIN hosts_pair pair ON pair.id = r.pair_id
JOIN hosts_environment e ON e.id = pair.environment_id
{pair_ends}
WHERE r.id = ANY(ARRAY(SELECT id FROM shown))
ORDER BY r.id DESC
""")


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


def with_lines(runs: "QuerySet[Run, Run]") -> "QuerySet[Run, Any]":
    """Ask for what lines show of these runs, as rows with a `pk` that `listed_run` reads."""
    return runs.values_list(*_FIELDS, *_NAMES, named=True)


def listed_run(row: Sequence[Any]) -> ListedRun:
    """Read a row of `with_lines`."""
    return ListedRun._make([*row[: len(_FIELDS)], tuple(row[len(_FIELDS) :])])


def open_and_ended(*, most_open: int, most_ended: int) -> list[ListedRun]:
    """Give some of the runs that are open and the latest of those that ended, the newest first; one query."""
    values = {"open": list(OPEN_STATES), "most_open": most_open, "most_ended": most_ended}
    with planned_once():
        return [listed_run(row) for row in fast_rows(_OPEN_AND_ENDED, values)]
