"""Runs as rows of a list: each with its trials' counts and, while it runs, its progress and time left."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.db.models import Case, CharField, Count, F, JSONField, Min, Q, QuerySet, When
from django.utils import timezone

from benchweb.catalog import catalog
from benchweb.runs.models import OPEN_STATES, Run, State, Trial


@dataclass(frozen=True)
class RunRow:
    """A run with how many of its trials are done; `ends_at` is an estimate while it is running."""

    run: Run
    done: int
    finished: int
    total: int
    ends_at: datetime | None

    @property
    def is_open(self) -> bool:
        return self.run.state in OPEN_STATES


def runs_with_names() -> QuerySet[Run]:
    """Give runs with the rows that name them, in the same query."""
    return Run.objects.select_related(
        "plan_version__plan", "pair__source__host", "pair__sink__host", "pair__environment"
    )


def run_rows(runs: Sequence[Run]) -> list[RunRow]:
    """Add counts and progress to runs, in one query whatever their number."""
    if not runs:
        return []
    running = [run.pk for run in runs if run.state == State.RUNNING]
    # What is left to do is told by the parameters of the open trials; of all others only their number counts.
    is_left = Q(run__in=running, state__in=OPEN_STATES)
    kind = Case(When(is_left, then=F("kind")), output_field=CharField())
    params = Case(When(is_left, then=F("params")), output_field=JSONField())
    grouped = Trial.objects.filter(run__in=runs).order_by().values_list("run_id", "state", kind, params)
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    left: dict[int, float] = dict.fromkeys(running, 0.0)
    now = timezone.now()
    for run_id, state, of_kind, with_params, count, started_at in grouped.annotate(Count("pk"), Min("started_at")):
        counts[run_id][state] += count
        if of_kind is not None:
            left[run_id] += count * _seconds_left(of_kind, with_params, started_at, now)
    return [_row(run, counts[run.pk], left.get(run.pk), now) for run in runs]


class TimedTrial(Protocol):
    """What an estimate needs to know of a trial."""

    @property
    def kind(self) -> str: ...
    @property
    def params(self) -> dict[str, Any]: ...
    @property
    def state(self) -> str: ...
    @property
    def started_at(self) -> datetime | None: ...


def seconds_left(trials: Sequence[TimedTrial], now: datetime) -> float:
    """Estimate how long open trials will still take, from what their kinds ask for."""
    opened = (trial for trial in trials if trial.state in OPEN_STATES)
    return sum(_seconds_left(trial.kind, trial.params, trial.started_at, now) for trial in opened)


def _seconds_left(kind: str, params: dict[str, Any], started_at: datetime | None, now: datetime) -> float:
    if kind not in catalog().kinds:
        return 0.0
    elapsed = (now - started_at).total_seconds() if started_at else 0.0
    return max(0.0, catalog().kinds[kind].measured_seconds(params) - elapsed)


def _row(run: Run, counts: Counter[str], seconds_left: float | None, now: datetime) -> RunRow:
    total = counts.total()
    opened = sum(counts[state] for state in OPEN_STATES)
    ends_at = None if seconds_left is None else now + timedelta(seconds=seconds_left)
    return RunRow(run, total - opened, counts[State.FINISHED], total, ends_at)
