"""What campaigns come to: how many runs are in which state, and how long all of them took."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone

from benchweb.catalog.reasons import reason_of
from benchweb.common.rows import fetch, literals
from benchweb.runs.models import FAULTY_STATES, OPEN_STATES, State
from benchweb.runs.outcomes import RunCounts
from benchweb.runs.selectors import campaign_state

_SQL = """
SELECT campaign_id, state, count(*) AS runs, min(started_at) AS first_start, max(finished_at) AS last_end FROM runs_run
WHERE campaign_id = ANY(%(ids)s::bigint[]) GROUP BY campaign_id, state
"""

_REASONS = """
SELECT DISTINCT ON (campaign_id) campaign_id, reason, reason_data FROM runs_run
WHERE campaign_id = ANY(%(ids)s::bigint[]) AND state IN ({faulty}) AND reason <> '' ORDER BY campaign_id, id
""".replace("{faulty}", literals(FAULTY_STATES))


@dataclass(frozen=True)
class CampaignSummary(RunCounts):
    """A campaign's runs by state, with the first start and, once none is open, the last end."""

    started_at: datetime | None
    finished_at: datetime | None

    @property
    def state(self) -> State:
        return campaign_state([state for state, count in self.counts.items() if count])

    @property
    def is_open(self) -> bool:
        return self.open > 0

    @property
    def is_whole(self) -> bool:
        """Tell whether every run was really executed: only then does the makespan compare with its bound."""
        return self.counts[State.FINISHED] + self.counts[State.FAILED] == self.total > 0

    @property
    def is_mixed(self) -> bool:
        """Tell whether the state is that of some runs alone, while others finished."""
        return self.state in FAULTY_STATES and self.counts[State.FINISHED] > 0

    @property
    def makespan_seconds(self) -> float | None:
        """From the first start to the last end; until now while runs are open, None before any began."""
        if self.started_at is None:
            return None
        return ((self.finished_at or timezone.now()) - self.started_at).total_seconds()


# Enumerating an enumeration's values takes as long as all the rest of a summary.
_NONE_IN_ANY = dict.fromkeys(State.values, 0)


def campaign_summaries(campaign_ids: Iterable[int]) -> dict[int, CampaignSummary]:
    """Sum up campaigns by id; one query, which reads every run of them."""
    ids = list(campaign_ids)
    states: dict[int, list[_InState]] = defaultdict(list)
    for row in fetch(_InState, _SQL, {"ids": ids}):
        states[row.campaign_id].append(row)
    return {campaign_id: _summary(states[campaign_id]) for campaign_id in ids}


def first_reasons(campaign_ids: Iterable[int]) -> dict[int, str]:
    """Return why the first run of each campaign that has no result has none; campaigns without such a run are left out.

    One query.
    """
    rows = fetch(_FirstReason, _REASONS, {"ids": list(campaign_ids)})
    return {row.campaign_id: reason_of(row.reason, row.reason_data) for row in rows}


class _FirstReason(NamedTuple):
    """Why a campaign's first run without a result has none."""

    campaign_id: int
    reason: str
    reason_data: dict[str, Any] | None


class _InState(NamedTuple):
    """A campaign's runs in one state."""

    campaign_id: int
    state: str
    runs: int
    first_start: datetime | None
    last_end: datetime | None


def _summary(rows: list[_InState]) -> CampaignSummary:
    counts = _NONE_IN_ANY | {row.state: row.runs for row in rows}
    started_at = min((row.first_start for row in rows if row.first_start), default=None)
    if started_at is None or any(counts[state] for state in OPEN_STATES):
        return CampaignSummary(counts, started_at, None)
    # Runs that ended before the first start, cancelled while they waited, are no part of the span.
    ends = (row.last_end for row in rows if row.last_end and row.last_end >= started_at)
    return CampaignSummary(counts, started_at, max(ends, default=None))
