"""How runs ended: the one way in which pages, digests and the API count the runs of a night, a slot or a campaign.

Of the runs that ended those are complete whose every trial gave a result; all others are incomplete, and those that
never began are among them. A run belongs to the night when it began, or, where it never did, when it ended.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.common.rows import fetch, literals
from benchweb.runs.models import OPEN_STATES, State

# So many days before are what the last one is compared with.
DAYS_BEFORE = 7
# Longer than any run takes: a night's runs are found by when they ended.
_LONGEST_DAYS = 7
# By hand: to build it from models takes longer than to run it. Planned anew each time: it is a range that decides.
_SQL = """
SELECT e.id AS environment_id, e.name AS environment, e.archived_at IS NOT NULL AS is_archived,
  e.is_synthetic AS is_sample, coalesce(r.started_at, r.finished_at) >= %(since)s AS is_in_night, r.state,
  count(*) AS runs
FROM runs_run r
JOIN hosts_pair p ON p.id = r.pair_id
JOIN hosts_environment e ON e.id = p.environment_id
WHERE r.finished_at >= %(from)s AND r.state <> ALL(%(open)s)
GROUP BY 1, 2, 3, 4, 5, 6
UNION ALL
SELECT e.id, e.name, false, e.is_synthetic, NULL, NULL, 0
FROM hosts_environment e
WHERE e.archived_at IS NULL
  AND EXISTS (SELECT FROM hosts_pair p WHERE p.environment_id = e.id AND p.archived_at IS NULL)
ORDER BY 2, 1
"""
# The runs of a night by state, in these environments or in all but samples, which nobody measured: a part of whoever's
# statement tells of the night.
IN_NIGHT = f"""
SELECT run.state, count(*) AS runs
FROM runs_run run JOIN hosts_pair pair ON pair.id = run.pair_id
  JOIN hosts_environment environment ON environment.id = pair.environment_id
WHERE (CASE WHEN %(environments)s::bigint[] IS NULL THEN NOT environment.is_synthetic
  ELSE environment.id = ANY(%(environments)s::bigint[]) END) AND (
  (run.finished_at >= %(begins)s AND run.finished_at < %(ends)s + interval '{_LONGEST_DAYS} days'
    AND run.state NOT IN ({literals(OPEN_STATES)})
    AND coalesce(run.started_at, run.finished_at) >= %(begins)s
    AND coalesce(run.started_at, run.finished_at) < %(ends)s)
  OR (run.state IN ({literals(OPEN_STATES)}) AND run.started_at >= %(begins)s AND run.started_at < %(ends)s)
)
GROUP BY 1
"""  # noqa: S608  (states of our own)


@dataclass(frozen=True)
class RunCounts:
    """Runs by state."""

    counts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def open(self) -> int:
        return sum(self.counts.get(state, 0) for state in OPEN_STATES)

    @property
    def runs(self) -> int:
        """Count those that ended."""
        return self.total - self.open

    @property
    def whole(self) -> int:
        """Count those whose every trial gave a result."""
        return self.counts.get(State.FINISHED, 0)

    @property
    def without(self) -> int:
        """Count those that ended without a whole result, whyever."""
        return self.runs - self.whole

    @property
    def text(self) -> str:
        """Say how many are complete of those that ended, and how many are open."""
        ended = ngettext("{whole} of {runs} run complete", "{whole} of {runs} runs complete", self.runs)
        parts = [ended.format(whole=f"{self.whole:,}", runs=f"{self.runs:,}")] if self.runs else []
        if self.open:
            parts.append(_("{number} queued or running").format(number=f"{self.open:,}"))
        return pgettext("between parts of a sentence", ", ").join(parts)


class _InState(NamedTuple):
    """An environment's runs that ended in one state, in the night or before; without a state none ended."""

    environment_id: int
    environment: str
    is_archived: bool
    is_sample: bool
    is_in_night: bool | None
    state: str | None
    runs: int


@dataclass(frozen=True)
class EnvironmentOutcome(RunCounts):
    """An environment's runs that ended in a night, by state, and whether any did in the days before."""

    environment_id: int
    environment: str
    is_archived: bool
    # Nobody measured it.
    is_sample: bool = False
    before: int = 0

    @property
    def is_silent(self) -> bool:
        """Tell whether nothing ended, neither in the night nor in the days before."""
        return not self.counts and not self.before


def outcomes(since: datetime) -> list[EnvironmentOutcome]:
    """Count the runs of the time since then that ended, and those of the week before, by environment; one query.

    Environments by name; where nothing ended, those in use that have a pair. Of the runs it reads `run_by_end` alone.
    """
    values = {"since": since, "from": since - timedelta(days=DAYS_BEFORE), "open": list(OPEN_STATES)}
    by_environment: dict[int, list[_InState]] = {}
    for row in fetch(_InState, _SQL, values):
        by_environment.setdefault(row.environment_id, []).append(row)
    return [_outcome(rows) for rows in by_environment.values()]


def _outcome(rows: list[_InState]) -> EnvironmentOutcome:
    first = rows[0]
    return EnvironmentOutcome(
        counts={row.state: row.runs for row in rows if row.state is not None and row.is_in_night},
        environment_id=first.environment_id,
        environment=first.environment,
        is_archived=first.is_archived,
        is_sample=first.is_sample,
        before=sum(row.runs for row in rows if row.state is not None and not row.is_in_night),
    )
