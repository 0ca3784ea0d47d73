"""The run page's prepared structure: everything its templates show, in a fixed number of queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.utils import timezone

from benchweb.charts.run.record import RecordedTrial, RunRecord, run_record
from benchweb.charts.run.verdict import trials_sentence, warnings_of
from benchweb.hosts.facts.mtu import mtu_words
from benchweb.results.confidence import RunConfidence, run_confidence
from benchweb.results.selectors import TrialRow, facts_of_runs
from benchweb.runs.models import OPEN_STATES, Run, State
from benchweb.runs.selectors import before_and_after
from benchweb.web.facts.diff import FactsRows, facts_side_by_side
from benchweb.web.runs.figures import FigureRow, figure_rows
from benchweb.web.runs.rows import seconds_left

# A run of so many trials is read at a glance.
_MOST_UNFOLDED = 10


class DisplayedTrial(NamedTuple):
    """A trial, and what its row leads to."""

    recorded: RecordedTrial
    has_result: bool
    command: str


@dataclass(frozen=True)
class TrialStep:
    """A run's trials of one kind; unfolded are those that a reader has to look at, and few."""

    kind_label: str
    trials: list[DisplayedTrial]
    is_unfolded: bool

    @property
    def count_words(self) -> str:
        return trials_sentence([displayed.recorded.state for displayed in self.trials])


@dataclass(frozen=True)
class Progress:
    """How far an open run is, and when it should end if nothing goes wrong."""

    done: int
    total: int
    ends_at: datetime | None


@dataclass(frozen=True)
class RunView:
    """One run as its page shows it."""

    run: Run
    is_open: bool
    record: RunRecord
    figures: list[FigureRow]
    # The runs of the same pair and plan around it.
    previous: int | None
    next: int | None
    confidence: RunConfidence | None
    progress: Progress
    steps: list[TrialStep]
    facts: list[FactsRows]


def run_view(run: Run, trials: Sequence[TrialRow]) -> RunView:
    """Prepare a run whose trials are at hand; reads what is usual, its neighbours, facts and events in six queries."""
    previous, following = before_and_after(run)
    record = run_record(run, trials, is_live=True)
    commands = {index: each.command for each in record.commands for index in each.trials}
    return RunView(
        run=run,
        is_open=run.state in OPEN_STATES,
        record=record,
        figures=figure_rows(run, trials),
        previous=previous,
        next=following,
        confidence=run_confidence(run.plan_version, trials),
        progress=progress_of(run, trials),
        steps=_steps(
            [
                DisplayedTrial(recorded, trial.has_result, commands[trial.index])
                for recorded, trial in zip(record.trials, trials, strict=False)
            ]
        ),
        facts=facts_side_by_side(
            record.source_facts, record.source_facts if run.pair.is_one_host else record.sink_facts
        ),
    )


def run_notes(run: Run, trials: Sequence[TrialRow]) -> list[str]:
    """Return all that may have spoiled a run, as its page notes it; one query."""
    facts = facts_of_runs([run.pk]).get(run.pk)
    return noted(warnings_of(trials), mtu_words(run.pair, *facts) if facts else "")


def noted(warnings: Iterable[str], facts_note: str) -> list[str]:
    """Put together what the trials' flags and the hosts' facts tell, in the reader's language."""
    return [note for note in (*warnings, facts_note) if note]


def _steps(trials: Sequence[DisplayedTrial]) -> list[TrialStep]:
    """Sort trials by kind, in the order of their first."""
    by_kind: dict[str, list[DisplayedTrial]] = {}
    for trial in trials:
        by_kind.setdefault(trial.recorded.kind, []).append(trial)
    return [
        TrialStep(
            of_kind[0].recorded.kind_label,
            of_kind,
            len(trials) <= _MOST_UNFOLDED or any(trial.recorded.state == State.FAILED for trial in of_kind),
        )
        for of_kind in by_kind.values()
    ]


def progress_of(run: Run, trials: Sequence[TrialRow]) -> Progress:
    """Tell how far a run is, and while it runs when it should end."""
    now = timezone.now()
    done = sum(trial.state not in OPEN_STATES for trial in trials)
    left = timedelta(seconds=seconds_left(trials, now))
    return Progress(done, len(trials), now + left if run.state == State.RUNNING else None)
