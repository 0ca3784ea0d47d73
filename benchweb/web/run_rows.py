"""Runs as rows of a list: each with its trials' counts and, while it runs, its progress and time left."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.db.models import Count, QuerySet
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
    """Add counts and progress to runs, in two queries whatever their number."""
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    grouped = Trial.objects.filter(run__in=runs).order_by().values_list("run_id", "state").annotate(Count("pk"))
    for run_id, state, count in grouped:
        counts[run_id][state] = count
    ends = _ends([run for run in runs if run.state == State.RUNNING])
    return [_row(run, counts[run.pk], ends.get(run.pk)) for run in runs]


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
    kinds = catalog().kinds
    left = 0.0
    for trial in trials:
        if trial.kind not in kinds or trial.state not in OPEN_STATES:
            continue
        elapsed = (now - trial.started_at).total_seconds() if trial.started_at else 0.0
        left += max(0.0, kinds[trial.kind].measured_seconds(trial.params) - elapsed)
    return left


def _row(run: Run, counts: dict[str, int], ends_at: datetime | None) -> RunRow:
    total = sum(counts.values())
    opened = sum(counts.get(state, 0) for state in OPEN_STATES)
    return RunRow(run, total - opened, counts.get(State.FINISHED, 0), total, ends_at)


def _ends(running: Sequence[Run]) -> dict[int, datetime]:
    if not running:
        return {}
    now = timezone.now()
    opened: dict[int, list[Trial]] = defaultdict(list)
    trials = Trial.objects.filter(run__in=running, state__in=OPEN_STATES)
    for trial in trials.only("run_id", "kind", "params", "state", "started_at"):
        opened[trial.run_id].append(trial)
    return {run.pk: now + timedelta(seconds=seconds_left(opened[run.pk], now)) for run in running}
