"""How sure a run's figures are: each combination's interval, and which combinations to repeat once more."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchweb.catalog import catalog
from benchweb.catalog.parts import ADDED
from benchweb.catalog.reasons import Reason
from benchweb.plans.confidence import RequestedConfidence
from benchweb.plans.expansion import PlannedTrial, expanded
from benchweb.plans.models import PlanVersion
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import State
from benchweb.statistics import MeanInterval, mean_interval


@dataclass(frozen=True)
class JudgedCombination:
    """One kind with one value of each parameter: its headline metric's interval, None for fewer than two values."""

    kind: str
    params: dict[str, Any]
    metric: str
    repetitions: int
    failed: int
    interval: MeanInterval | None
    is_reached: bool

    @property
    def width_percent(self) -> float | None:
        ratio = self.interval.width_ratio if self.interval else None
        return None if ratio is None else ratio * 100


@dataclass(frozen=True)
class RunConfidence:
    """What a plan asked for and what its run came to."""

    requested: RequestedConfidence
    combinations: list[JudgedCombination]

    @property
    def missed(self) -> list[JudgedCombination]:
        return [combination for combination in self.combinations if not combination.is_reached]

    @property
    def is_reached(self) -> bool:
        return not self.missed

    def of(self, trial: TrialRow) -> JudgedCombination | None:
        """Return the combination that a trial repeats."""
        return self._by_key.get(_key(trial.kind, trial.params))

    @cached_property
    def _by_key(self) -> dict[str, JudgedCombination]:
        return {_key(combination.kind, combination.params): combination for combination in self.combinations}

    @property
    def sentence(self) -> str:
        """Say that it was not reached, and where; empty when it was."""
        if self.is_reached:
            return ""
        count, total = len(self.missed), len(self.combinations)
        words = self.requested.words
        if total == 1:
            return Reason("confidence_not_reached", words=words)
        return Reason("confidence_not_reached_in_part", count=count, total=total, words=words)


def run_confidence(version: PlanVersion, trials: Iterable[TrialRow]) -> RunConfidence | None:
    """Judge a run's trials; None when its plan asks for no confidence. No query."""
    requested = version.requested_confidence
    if requested is None:
        return None
    by_combination = _by_combination(trials)
    combinations = [_combination(single, by_combination[key], requested) for key, single in _singles(version).items()]
    return RunConfidence(requested, combinations)


def next_round(version: PlanVersion, trials: Sequence[TrialRow]) -> list[PlannedTrial]:
    """Return one further trial of each combination whose interval is still too wide; none when all is done."""
    requested = version.requested_confidence
    if requested is None:
        return []
    by_combination = _by_combination(trials)
    return [
        PlannedTrial(single.step, single.kind, single.params, max(row.repetition for row in rows) + 1)
        for key, single in _singles(version).items()
        if (rows := by_combination[key]) and _needs_more(single, rows, requested, version.repetitions)
    ]


def _needs_more(single: PlannedTrial, rows: list[TrialRow], requested: RequestedConfidence, minimum: int) -> bool:
    combination = _combination(single, rows, requested)
    # What failed as often as the minimum would go on failing up to the maximum.
    is_hopeless = combination.failed >= minimum
    return (
        not combination.is_reached
        and not is_hopeless
        and max(row.repetition for row in rows) < requested.max_repetitions
    )


def _combination(single: PlannedTrial, rows: list[TrialRow], requested: RequestedConfidence) -> JudgedCombination:
    kind = catalog().kinds.get(single.kind)
    metric = kind.headline if kind else ""
    values = [row.metrics[metric] for row in rows if row.measured and metric in row.metrics]
    interval = mean_interval(values, requested.level_percent / 100)
    width = interval.width_ratio if interval else None
    return JudgedCombination(
        kind=single.kind,
        params=single.params,
        metric=metric,
        repetitions=len(values),
        failed=sum(row.state == State.FAILED for row in rows),
        interval=interval,
        is_reached=width is not None and width * 100 <= requested.width_percent,
    )


def _singles(version: PlanVersion) -> dict[str, PlannedTrial]:
    """Return each combination once, in the plan's order; two steps that test the same are one."""
    return {_key(single.kind, single.params): single for single in expanded(version.steps, 1, "interleaved")}


def _by_combination(trials: Iterable[TrialRow]) -> dict[str, list[TrialRow]]:
    combinations: dict[str, list[TrialRow]] = {}
    for trial in trials:
        combinations.setdefault(_key(trial.kind, trial.params), []).append(trial)
    return combinations


def _key(kind: str, params: dict[str, Any]) -> str:
    # What results add is known of trials, not of plans.
    requested = {name: value for name, value in params.items() if name not in ADDED}
    return json.dumps([kind, requested], sort_keys=True)
