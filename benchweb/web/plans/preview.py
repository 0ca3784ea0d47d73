"""Show what a plan comes to: its first trials, their number, how long they take and what they occupy."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog import catalog
from benchweb.plans.expansion import PlannedTrial, expanded
from benchweb.plans.models import PlanVersion
from benchweb.statistics.comparison import repetitions_needed

# Trials that the preview lists; the rest is counted.
PREVIEWED_TRIALS = 60


@dataclass(frozen=True)
class PreviewedTrial:
    """A trial with the parameters that its step sweeps; what is the same for all is in the step."""

    kind: str
    swept: dict[str, Any]
    repetition: int


@dataclass(frozen=True)
class PlanPreview:
    """A plan's first trials in order, the count of all, seconds of traffic and of holding hosts."""

    trials: list[PreviewedTrial]
    count: int
    maximum_count: int
    measured_seconds: float
    held_seconds: float
    resources: str
    seeded: bool
    # How many repetitions two runs need to be compared, where the plan has fewer; else nothing.
    comparable_from: int | None

    @property
    def hidden(self) -> int:
        return self.count - len(self.trials)


def preview_of(version: PlanVersion) -> PlanPreview:
    """Say what a saved version comes to."""
    most = version.maximum_repetitions
    return previewed(version.steps, version.repetitions, most, version.order, version.pause_seconds)


def previewed(
    steps: list[dict[str, Any]], repetitions: int, most: int, order: str, pause_seconds: float
) -> PlanPreview:
    """Say what validated steps come to with these repetitions, at most so many of each trial."""
    trials = expanded(steps, repetitions, order)
    # Between trials, as the API has it: they are no test time.
    maximum_count = len(trials) // repetitions * most
    pauses_seconds = pause_seconds * max(0, maximum_count - 1)
    return PlanPreview(
        trials=[_previewed_trial(steps, trial) for trial in trials[:PREVIEWED_TRIALS]],
        count=len(trials),
        maximum_count=maximum_count,
        measured_seconds=sum(trial.measured_seconds for trial in trials),
        held_seconds=sum(trial.slot_seconds for trial in trials) * most / repetitions + pauses_seconds,
        resources=_resources(trials),
        seeded=order == PlanVersion.Order.SHUFFLED,
        comparable_from=repetitions_needed() if most < repetitions_needed() else None,
    )


def _previewed_trial(steps: list[dict[str, Any]], trial: PlannedTrial) -> PreviewedTrial:
    params = steps[trial.step]["params"]
    swept = {name: value for name, value in trial.params.items() if isinstance(params[name], list)}
    return PreviewedTrial(trial.kind, swept, trial.repetition)


def _resources(trials: list[PlannedTrial]) -> str:
    kinds = catalog().kinds
    classes = {kinds[trial.kind].exclusivity_of(trial.params) for trial in trials}
    if "exclusive" in classes:
        return _("both hosts of the pair exclusively: no other test runs on them.")
    if "normal" in classes:
        return _("both hosts of the pair, shared: other shared tests may run at the same time, exclusive tests wait.")
    return _("no host: any other test may run at the same time.")
