"""How the runs of a night ended, environment by environment, beside the nights before it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from benchweb.common.rows import fetch
from benchweb.runs.models import FAULTY_STATES, OPEN_STATES, State

# So many days before are what the last one is compared with.
DAYS_BEFORE = 7
# By hand: to build it from models takes longer than to run it. Planned anew each time: it is a range that decides.
_SQL = """
SELECT e.id AS environment_id, e.name AS environment, r.finished_at >= %(since)s AS is_in_night, r.state,
  count(*) AS runs
FROM runs_run r
JOIN hosts_pair p ON p.id = r.pair_id
JOIN hosts_environment e ON e.id = p.environment_id
WHERE r.finished_at >= %(from)s AND r.state <> ALL(%(open)s) AND e.archived_at IS NULL
GROUP BY 1, 2, 3, 4
UNION ALL
SELECT e.id, e.name, NULL, NULL, 0
FROM hosts_environment e
WHERE e.archived_at IS NULL
  AND EXISTS (SELECT FROM hosts_pair p WHERE p.environment_id = e.id AND p.archived_at IS NULL)
ORDER BY 2, 1
"""


class _InState(NamedTuple):
    """An environment's runs that ended in one state, in the night or before; without a state none ended."""

    environment_id: int
    environment: str
    is_in_night: bool | None
    state: str | None
    runs: int


@dataclass
class EnvironmentOutcome:
    """An environment's runs that ended in a night, by state, and those of the days before."""

    environment_id: int
    environment: str
    counts: dict[str, int] = field(default_factory=dict)
    before: int = 0

    @property
    def is_silent(self) -> bool:
        """Tell whether nothing ended, neither in the night nor in the days before."""
        return not self.counts and not self.before

    @property
    def runs(self) -> int:
        return sum(self.counts.values())

    @property
    def whole(self) -> int:
        """Count the runs whose every trial gave a result."""
        return self.counts.get(State.FINISHED, 0)

    @property
    def without(self) -> int:
        return self.runs - self.whole

    @property
    def faulty(self) -> int:
        return sum(self.counts.get(state, 0) for state in FAULTY_STATES)


def outcomes(since: datetime) -> list[EnvironmentOutcome]:
    """Count the runs that ended since then, and in the week before, by environment and state; one query.

    Environments by name, without archived ones; where nothing ended, those that have a pair. Of the runs it reads
    `run_by_end` alone.
    """
    values = {"since": since, "from": since - timedelta(days=DAYS_BEFORE), "open": list(OPEN_STATES)}
    by_environment: dict[int, EnvironmentOutcome] = {}
    for row in fetch(_InState, _SQL, values):
        outcome = by_environment.setdefault(row.environment_id, EnvironmentOutcome(row.environment_id, row.environment))
        if row.state is None:
            continue
        if row.is_in_night:
            outcome.counts[row.state] = row.runs
        else:
            outcome.before += row.runs
    return list(by_environment.values())
