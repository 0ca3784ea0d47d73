"""The run page's prepared structure: everything its templates show, in a fixed number of queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog import Metric, catalog
from benchweb.catalog.translation import reason_text
from benchweb.charts.run.confidence import DisplayedCombination, displayed_combinations
from benchweb.charts.run.record import EVENTS_DISPLAYED, TRIALS_DISPLAYED
from benchweb.charts.run.reproduce import TrialCommand, engine_command, run_commands
from benchweb.charts.run.verdict import VerdictSentence, verdict, warnings_of
from benchweb.hosts.facts.mtu import mtu_words
from benchweb.results.confidence import RunConfidence, run_confidence
from benchweb.results.selectors import TrialRow, facts_of_runs
from benchweb.runs.models import OPEN_STATES, Run, RunEvent, State
from benchweb.runs.selectors import before_and_after
from benchweb.state_words import state_word
from benchweb.web.facts.diff import FactsRows, facts_side_by_side
from benchweb.web.runs.figures import FigureRow, figure_rows
from benchweb.web.runs.rows import seconds_left


@dataclass(frozen=True)
class DisplayedTrial:
    """A trial with its headline figure; `value` is None where it has none, with the reason in words."""

    trial: TrialRow
    metric: Metric | None
    value: float | None
    missing: str
    command: str


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
    verdict: VerdictSentence
    figures: list[FigureRow]
    # The runs of the same pair and plan around it.
    previous: int | None
    next: int | None
    confidence: RunConfidence | None
    confidence_rows: list[DisplayedCombination]
    progress: Progress
    trials: list[DisplayedTrial]
    trials_hidden: int
    commands: list[TrialCommand]
    facts: list[FactsRows]
    # What the facts of the two ends tell that may have spoiled the run; empty for nothing.
    facts_note: str
    events: list[RunEvent]


def run_view(run: Run, trials: Sequence[TrialRow]) -> RunView:
    """Prepare a run whose trials are at hand; reads what is usual, its neighbours, facts and events in six queries."""
    previous, following = before_and_after(run)
    confidence = run_confidence(run.plan_version, trials)
    facts = facts_of_runs([run.pk]).get(run.pk)
    return RunView(
        run=run,
        is_open=run.state in OPEN_STATES,
        verdict=verdict(trials),
        figures=figure_rows(run, trials),
        previous=previous,
        next=following,
        confidence=confidence,
        confidence_rows=displayed_combinations(confidence) if confidence else [],
        progress=_progress(run, trials),
        trials=[_displayed_trial(trial, run) for trial in trials[:TRIALS_DISPLAYED]],
        trials_hidden=max(0, len(trials) - TRIALS_DISPLAYED),
        commands=run_commands(run, trials[:TRIALS_DISPLAYED]),
        facts=facts_side_by_side(facts[0], facts[0 if run.pair.is_one_host else 1]) if facts else [],
        facts_note=mtu_words(run.pair, *facts) if facts else "",
        events=list(RunEvent.objects.filter(run=run).order_by("pk")[:EVENTS_DISPLAYED]),
    )


def run_notes(run: Run, trials: Sequence[TrialRow]) -> list[str]:
    """Return all that may have spoiled a run, as its page notes it; one query."""
    facts = facts_of_runs([run.pk]).get(run.pk)
    return noted(warnings_of(trials), mtu_words(run.pair, *facts) if facts else "")


def noted(warnings: Iterable[str], facts_note: str) -> list[str]:
    """Put together what the trials' flags and the hosts' facts tell, in the reader's language."""
    return [note for note in (*warnings, facts_note) if note]


def _displayed_trial(trial: TrialRow, run: Run) -> DisplayedTrial:
    kind = catalog().kinds.get(trial.kind)
    metric = kind.metrics[kind.headline] if kind else None
    value = trial.metrics.get(metric.key) if metric else None
    missing = (
        reason_text(trial.why) or _("the trial is {state}").format(state=state_word(trial.state))
        if value is None
        else ""
    )
    return DisplayedTrial(
        trial=trial,
        metric=metric,
        value=value,
        missing=missing,
        command=engine_command(pair=run.pair, kind=trial.kind, params=trial.params),
    )


def _progress(run: Run, trials: Sequence[TrialRow]) -> Progress:
    now = timezone.now()
    done = sum(trial.state not in OPEN_STATES for trial in trials)
    left = timedelta(seconds=seconds_left(trials, now))
    return Progress(done, len(trials), now + left if run.state == State.RUNNING else None)
