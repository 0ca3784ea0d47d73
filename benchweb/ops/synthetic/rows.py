"""Runs, trials, results and points as lines of COPY's text format; this is where the time goes, so it is plain."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.db.models import Model

from benchweb.catalog.reasons import reason_data
from benchweb.ops.synthetic.fates import Fate
from benchweb.ops.synthetic.histograms import encoded_histogram
from benchweb.ops.synthetic.shapes import METRICS, Shape, SyntheticValues, latency_counts
from benchweb.ops.synthetic.stories import PairNight
from benchweb.plans.expansion import PlannedTrial
from benchweb.results.models import Point, Result
from benchweb.runs.models import Run, State, Trial

# Every column that the database has no default for, in the order of the lines.
FIELDS: dict[type[Model], tuple[str, ...]] = {
    Run: (
        *("id", "campaign", "pair", "plan_version", "state", "reason", "reason_data", "waiting_for", "created_at"),
        *("planned_at", "attempts", "started_at", "finished_at", "lease_owner"),
    ),
    Trial: (
        *("id", "run", "index", "kind", "params", "repetition", "state", "reason", "reason_data", "session", "cookie"),
        *("started_at", "finished_at"),
    ),
    Result: (
        *("trial", "metrics", "flags", "limits", "document", "histogram", "source_facts", "sink_facts", "created_at"),
    ),
    Point: ("series", "at", "value", "run", "trial"),
}
_TRIAL = timedelta(seconds=10)
# One repetition in a hundred or so is off, as on real networks.
_OUTLIER_RATE, _OUTLIER_SPEED = 0.008, 0.7
_NULL = r"\N"


@dataclass(slots=True)
class NightLines:
    """The runs of one night as lines, by table."""

    runs: list[str] = field(default_factory=list)
    trials: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    points: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Test:
    """One trial of the plan on one pair: what it gives, and the series that its metrics join."""

    kind: str
    params: str
    repetition: int
    shape: Shape
    series: tuple[int, ...]
    metric_keys: tuple[str, ...]

    @classmethod
    def of(cls, trial: PlannedTrial, shape: Shape, series: tuple[int, ...]) -> "Test":
        keys = tuple(f'"{metric}": ' for metric in METRICS[trial.kind])
        return cls(trial.kind, json.dumps(trial.params), trial.repetition, shape, series, keys)


@dataclass(frozen=True)
class RunToWrite:
    """One run: its ids, its time, what it measures and how it ended."""

    id: int
    campaign: int
    pair: int
    plan_version: int
    at: datetime
    created_at: datetime
    night: PairNight
    fate: Fate
    tests: Sequence[Test]
    trial_ids: Sequence[int]
    offsets: Sequence[float]
    facts: tuple[int, int]
    has_histograms: bool
    has_intervals: bool


@dataclass(frozen=True, slots=True)
class RunWriter:
    """Adds one run, with all that belongs to it, to a night's lines."""

    lines: NightLines
    run: RunToWrite
    source: Random

    def write(self) -> None:
        run, fate = self.run, self.run.fate
        began = run.at.isoformat() if fate.begun else _NULL
        # The last trial's step is over, as planned: else a night would take less than its lower bound.
        ended = (run.at + self._offset(fate.begun)).isoformat()
        self.lines.runs.append(
            f"{run.id}\t{run.campaign}\t{run.pair}\t{run.plan_version}\t{fate.state.value}\t{_reason_fields(fate.reason)}\t\t"
            f"{run.created_at.isoformat()}\t{run.at.isoformat()}\t{fate.attempts}\t{began}\t{ended}\t\n"
        )
        for number in range(len(run.tests)):
            if number >= fate.begun:
                self._trial(number, fate.state, fate.reason, is_begun=False)
            elif number in fate.failed:
                self._trial(number, State.FAILED, fate.failed[number])
            else:
                self._trial(number, State.FINISHED)
                if not fate.is_empty:
                    self._result(number)

    def _trial(self, number: int, state: State, reason: str = "", *, is_begun: bool = True) -> None:
        run, test, draw = self.run, self.run.tests[number], self.source.getrandbits
        at = run.at + self._offset(number)
        times = f"{at.isoformat()}\t{(at + _TRIAL).isoformat()}" if is_begun else f"{_NULL}\t{_NULL}"
        # No session is another's, whatever was drawn of the same seed before.
        session = draw(128) >> 64 << 64 | run.trial_ids[number]
        self.lines.trials.append(
            f"{run.trial_ids[number]}\t{run.id}\t{number + 1}\t{test.kind}\t{test.params}\t{test.repetition}\t"
            f"{state.value}\t{_reason_fields(reason)}\t{session:032x}\t{draw(256):064x}\t{times}\n"
        )

    def _result(self, number: int) -> None:
        run, test, source = self.run, self.run.tests[number], self.source
        trial_id, at = run.trial_ids[number], (run.at + self._offset(number)).isoformat()
        noise = source.gauss(0, run.night.deviation)
        speed = run.night.speed * (_OUTLIER_SPEED if source.random() < _OUTLIER_RATE else 1 + noise)
        measured = test.shape(speed, run.night.delay * (1 - 0.7 * noise), source)
        values = [f"{value:.7g}" for value in measured.values]
        ending = f"\t{run.id}\t{trial_id}\n"
        self.lines.points += [
            f"{series}\t{at}\t{value}{ending}" for series, value in zip(test.series, values, strict=True)
        ]
        metrics = "{" + ", ".join(map(str.__add__, test.metric_keys, values)) + "}"
        self.lines.results.append(
            f"{trial_id}\t{metrics}\t[]\t[]\t{self._document(test, measured, metrics)}\t{self._histogram(measured)}\t"
            f"{run.facts[0]}\t{run.facts[1]}\t{at}\n"
        )

    def _offset(self, number: int) -> timedelta:
        return timedelta(seconds=self.run.offsets[number])

    def _document(self, test: Test, measured: SyntheticValues, metrics: str) -> str:
        intervals = _intervals(test, measured.values[0], self.source) if self.run.has_intervals else "[]"
        return (
            f'{{"schema": 1, "kind": "{test.kind}", "params": {test.params}, "metrics": {metrics}, '
            f'"intervals": {intervals}, "flags": [], "synthetic": true}}'
        )

    def _histogram(self, measured: SyntheticValues) -> str:
        if not (self.run.has_histograms and measured.transactions):
            return _NULL
        return r"\\x" + encoded_histogram(latency_counts(measured)).hex()


def _reason_fields(reason: str) -> str:
    """Return a reason as the values of its two columns."""
    data = reason_data(reason)
    return f"{reason}\t{_NULL if data is None else json.dumps(data)}"


def _intervals(test: Test, value: float, source: Random) -> str:
    """Return the headline metric of each second, as the engine's report has it."""
    metric = METRICS[test.kind][0]
    seconds = range(int(_TRIAL.total_seconds()))
    intervals: list[dict[str, Any]] = [
        {
            "start_seconds": second,
            "end_seconds": second + 1,
            "metrics": {metric: round(value * source.gauss(1, 0.01), 9)},
            "warmup": False,
        }
        for second in seconds
    ]
    return json.dumps(intervals)
