"""Runs as rows of a list: each with its trials' counts and, while it runs, its progress and time left."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol

from django.utils import timezone
from django.utils.translation import gettext_noop

from benchweb.catalog import catalog
from benchweb.charts.main_figures import MainFigure
from benchweb.common.rows import fetch
from benchweb.runs.lists import RunLine
from benchweb.runs.models import OPEN_STATES, State
from benchweb.web.shared.lists import Column

# The cells are in runs/partials/row.html.
COLUMNS = [
    Column(gettext_noop("Select")),
    Column(gettext_noop("Run"), "pk"),
    Column(gettext_noop("State"), "state"),
    Column(gettext_noop("Plan"), "plan_version__plan__name", key="plan"),
    Column(gettext_noop("Source → sink"), key="pair"),
    Column(gettext_noop("Main figure"), numeric=True, key="figure"),
    Column(gettext_noop("Change"), key="change"),
    Column(gettext_noop("Last runs"), key="line"),
    Column(gettext_noop("Environment"), "pair__environment__name", key="environment"),
    Column(gettext_noop("Trials"), numeric=True, key="trials"),
    Column(gettext_noop("Launched"), "created_at", key="launched"),
    Column(gettext_noop("Took"), numeric=True, key="took"),
]
# How long a running run still takes follows from its open trials' parameters; of all others only the number counts.
_COUNTS = """
SELECT run_id, state, left_kind AS kind, left_params AS params, count(*) AS trials, min(started_at) AS started_at
FROM runs_trial
CROSS JOIN LATERAL (SELECT run_id = ANY(%(running)s) AND state = ANY(%(open)s)) AS is_left (yes)
CROSS JOIN LATERAL (SELECT CASE WHEN yes THEN kind END, CASE WHEN yes THEN params END) AS l (left_kind, left_params)
WHERE run_id = ANY(%(runs)s)
GROUP BY run_id, state, left_kind, left_params
"""


class _Trials(NamedTuple):
    """Trials of a run in one state; `kind` and `params` of a running run's open ones alone."""

    run_id: int
    state: str
    kind: str | None
    params: dict[str, Any] | None
    trials: int
    started_at: datetime | None


@dataclass(frozen=True)
class RunRow:
    """A run with how many of its trials are done; `ends_at` is an estimate while it is running."""

    run: RunLine
    done: int
    finished: int
    total: int
    ends_at: datetime | None
    # None until the run has given one.
    figure: MainFigure | None = None

    @property
    def is_open(self) -> bool:
        return self.run.state in OPEN_STATES


def run_rows(runs: Sequence[RunLine], figures: Mapping[int, MainFigure] | None = None) -> list[RunRow]:
    """Add counts, progress and what figures are at hand to runs, in one query whatever their number."""
    if not runs:
        return []
    running = [run.pk for run in runs if run.state == State.RUNNING]
    values = {"runs": [run.pk for run in runs], "running": running, "open": list(OPEN_STATES)}
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    left: dict[int, float] = dict.fromkeys(running, 0.0)
    now = timezone.now()
    for row in fetch(_Trials, _COUNTS, values):
        counts[row.run_id][row.state] += row.trials
        if row.kind is not None:
            left[row.run_id] += row.trials * _seconds_left(row.kind, row.params or {}, row.started_at, now)
    rows = [_row(run, counts[run.pk], left.get(run.pk), now) for run in runs]
    return [replace(row, figure=figures.get(row.run.pk)) for row in rows] if figures else rows


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


def _row(run: RunLine, counts: Counter[str], seconds_left: float | None, now: datetime) -> RunRow:
    total = counts.total()
    opened = sum(counts[state] for state in OPEN_STATES)
    ends_at = None if seconds_left is None else now + timedelta(seconds=seconds_left)
    return RunRow(run, total - opened, counts[State.FINISHED], total, ends_at)
