"""From steps with sweeps to trials in order, and how long they take: pure functions."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog import Kind, ParameterError, catalog, validated_params
from benchweb.common.refusals import RefusedWrite

# Beyond this a plan is a mistake, not a test: at 1 s a trial it would hold its hosts for over 2 hours.
MAXIMUM_TRIALS = 10_000
MAXIMUM_REPETITIONS = 1_000
MAXIMUM_STEPS = 100


class PlanError(RefusedWrite):
    """A plan that can't be: `field` is where, in the JSON of the API, such as steps.0.params.flows."""


@dataclass(frozen=True)
class PlannedTrial:
    """One trial to be: its step's index, kind, one value per given parameter, and repetition from 1."""

    step: int
    kind: str
    params: dict[str, Any]
    repetition: int

    @property
    def slot_seconds(self) -> float:
        return catalog().kinds[self.kind].slot_seconds(self.params)

    @property
    def measured_seconds(self) -> float:
        return catalog().kinds[self.kind].measured_seconds(self.params)


def validated_steps(
    steps: Sequence[Mapping[str, Any]], repetitions: int, maximum_repetitions: int | None = None
) -> list[dict[str, Any]]:
    """Return the steps with checked values, or raise PlanError for the first fault; expands nothing."""
    if not steps:
        raise PlanError("steps", _("The plan has no step: add at least one test kind."))
    if len(steps) > MAXIMUM_STEPS:
        raise PlanError(
            "steps",
            _("The plan has {steps} steps, but at most {maximum_steps} are allowed.").format(
                steps=f"{len(steps):,}", maximum_steps=MAXIMUM_STEPS
            ),
        )
    if not 1 <= repetitions <= MAXIMUM_REPETITIONS:
        raise PlanError(
            "repetitions",
            _("repetitions is {repetitions}, but must be from 1 to {maximum_repetitions}.").format(
                repetitions=f"{repetitions:,}", maximum_repetitions=f"{MAXIMUM_REPETITIONS:,}"
            ),
        )
    # The count comes first: a sweep of a million values must not cost a million validations.
    total = (maximum_repetitions or repetitions) * sum(_sweep_count(step) for step in steps)
    if total > MAXIMUM_TRIALS:
        raise PlanError(
            "steps",
            _(
                "The plan makes {total} trials, but at most {maximum_trials} are allowed: shorten a sweep, or "
                "split the plan."
            ).format(total=f"{total:,}", maximum_trials=f"{MAXIMUM_TRIALS:,}"),
        )
    return [_validated_step(index, step) for index, step in enumerate(steps)]


def expanded(steps: Sequence[Mapping[str, Any]], repetitions: int, order: str, seed: int = 0) -> list[PlannedTrial]:
    """Expand checked steps into trials in the asked order; `seed` makes a shuffle repeatable."""
    singles = [
        (index, step["kind"], params) for index, step in enumerate(steps) for params in combinations(step["params"])
    ]
    numbers = range(1, repetitions + 1)
    if order == "sequential":
        trials = [PlannedTrial(*single, repetition) for single in singles for repetition in numbers]
    else:
        trials = [PlannedTrial(*single, repetition) for repetition in numbers for single in singles]
    if order == "shuffled":
        # Not a secret: a shuffle that a reader of the run can repeat.
        random.Random(seed).shuffle(trials)  # noqa: S311
    return trials


def combinations(params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return each test of a step with sweeps: one value of each parameter that is given."""
    choices = [value if isinstance(value, list) else [value] for value in params.values()]
    return (dict(zip(params, values, strict=True)) for values in product(*choices))


def _validated_step(index: int, step: Mapping[str, Any]) -> dict[str, Any]:
    where = f"steps.{index}"
    kinds = catalog().tests
    name = step.get("kind")
    if not isinstance(name, str) or name not in kinds:
        raise PlanError(
            f"{where}.kind",
            _("There is no test kind {name}: choose one of {kinds}.").format(name=f"{name!r}", kinds=", ".join(kinds)),
        )
    kind = kinds[name]
    checked: dict[str, Any] = {}
    for key, value in step.get("params", {}).items():
        try:
            checked[key] = _validated_values(kind, key, value)
        except ParameterError as error:
            raise PlanError(f"{where}.params.{error.field}", error.message) from error
    for parameter in kind.parameters.values():
        if _is_set(kind, checked, parameter.name) and _is_set(kind, checked, parameter.excludes):
            raise PlanError(
                f"{where}.params.{parameter.name}",
                _("{excludes} and {parameter} exclude each other: give one of them.").format(
                    excludes=parameter.excludes, parameter=parameter.name
                ),
            )
    return {"kind": name, "params": checked}


def _is_set(kind: Kind, checked: Mapping[str, Any], name: str) -> bool:
    """Tell whether a parameter has, or is swept over, a value other than its default."""
    if name not in checked:
        return False
    values = checked[name] if isinstance(checked[name], list) else [checked[name]]
    return any(value != kind.parameters[name].default for value in values)


def _validated_values(kind: Any, key: str, value: Any) -> Any:
    if not isinstance(value, list):
        return validated_params(kind, {key: value})[key]
    if not value:
        raise ParameterError(key, _("{key} is an empty sweep: give at least one value.").format(key=key))
    values = [validated_params(kind, {key: single})[key] for single in value]
    if len(set(map(repr, values))) < len(values):
        raise ParameterError(
            key, _("{key} names a value twice: repetitions are set for the whole plan.").format(key=key)
        )
    return values


def _sweep_count(step: Mapping[str, Any]) -> int:
    params = step.get("params", {})
    return prod(max(1, len(value)) for value in params.values() if isinstance(value, list))
