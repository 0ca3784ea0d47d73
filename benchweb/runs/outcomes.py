"""How the runs of a night ended, environment by environment, beside the nights before it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Case, Count, Max, Min, Q, Value, When

from benchweb.runs.models import OPEN_STATES, Run, State

# So many days before are what the last one is compared with.
DAYS_BEFORE = 7


@dataclass
class Outcome:
    """An environment's runs that ended in a night, by state, and those of the days before."""

    environment_id: int
    environment: str
    counts: dict[str, int] = field(default_factory=dict)
    begun_at: datetime | None = None
    ended_at: datetime | None = None
    before: int = 0
    before_whole: int = 0

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
    def before_ratio(self) -> float | None:
        return self.before_whole / self.before if self.before else None


def outcomes(since: datetime) -> list[Outcome]:
    """Count the runs that ended since then, and in the week before, by environment and state; one query.

    Environments by name, without archived ones and those in which nothing ended. It reads `run_by_end` alone.
    """
    ended = Run.objects.filter(
        finished_at__gte=since - timedelta(days=DAYS_BEFORE), pair__environment__archived_at=None
    )
    is_last = Case(When(finished_at__gte=since, then=Value(True)), default=Value(False))
    rows = (
        ended.exclude(state__in=OPEN_STATES)
        .annotate(is_last=is_last)
        .order_by("pair__environment__name", "pair__environment")
        .values_list("pair__environment", "pair__environment__name", "is_last", "state")
        .annotate(Count("pk"), Min("started_at"), last=Max("finished_at", filter=Q(started_at__isnull=False)))
    )
    found: dict[int, Outcome] = {}
    for environment_id, name, in_last, state, count, begun_at, ended_at in rows:
        outcome = found.setdefault(environment_id, Outcome(environment_id, name))
        if in_last:
            _add(outcome, state, count, begun_at, ended_at)
        else:
            outcome.before += count
            outcome.before_whole += count if state == State.FINISHED else 0
    return list(found.values())


def _add(outcome: Outcome, state: str, count: int, begun_at: datetime | None, ended_at: datetime | None) -> None:
    outcome.counts[state] = count
    outcome.begun_at = min(filter(None, (outcome.begun_at, begun_at)), default=None)
    outcome.ended_at = max(filter(None, (outcome.ended_at, ended_at)), default=None)
