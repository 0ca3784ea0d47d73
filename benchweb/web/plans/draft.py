"""A plan being edited: what was typed, kept as it was, and what it comes to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from benchweb.catalog import Kind, ParameterError, catalog, validated_params
from benchweb.plans.confidence import DEFAULT_MAXIMUM_REPETITIONS
from benchweb.plans.expansion import PlanError
from benchweb.plans.models import Plan, PlanVersion
from benchweb.plans.templates import PlanTemplate
from benchweb.web.plans.sweep_text import parsed_values, spelled

# Values of one sweep that are checked while typing; a longer one is refused by its count when expanded.
_CHECKED_VALUES = 1_000
# Of a new plan: two runs of fewer than four can't be told apart, and one may fail.
_REPETITIONS = 5


@dataclass(frozen=True)
class StepDraft:
    """One step as typed: `key` names its fields in the form, `texts` what stands in them by parameter."""

    key: str
    kind: str
    texts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlanDraft:
    """A plan as typed."""

    name: str
    repetitions: str
    order: str
    pause_seconds: str
    steps: list[StepDraft]
    confidence_level_percent: str = ""
    confidence_width_percent: str = ""
    confidence_max_repetitions: str = ""
    # Of the plan, not of its version: with commas between them.
    labels: str = ""


@dataclass(frozen=True)
class PlanValues:
    """A plan as the services take it."""

    name: str
    repetitions: int
    order: str
    pause_seconds: float
    steps: list[dict[str, Any]]
    confidence: dict[str, Any] | None = None


def new_draft() -> PlanDraft:
    """Return a plan to start from: one step of the catalog's first kind, with its defaults."""
    step = StepDraft("s0", next(iter(catalog().tests)))
    return PlanDraft("", str(_REPETITIONS), PlanVersion.Order.INTERLEAVED, "0", [step])


def draft_of_template(template: PlanTemplate) -> PlanDraft:
    """Return a template as one would type it."""
    order = PlanVersion.Order.INTERLEAVED
    version = PlanVersion(steps=template.steps, repetitions=template.repetitions, order=order)
    return draft_of_version(template.name, version)


def draft_of_plan(plan: Plan, *, name: str = "") -> PlanDraft:
    """Return a plan with its latest version as one would type it, under another name where one is given."""
    draft = draft_of_version(name or plan.name, plan.versions.order_by("-number")[0])
    return replace(draft, labels=", ".join(plan.labels))


def draft_of_version(name: str, version: PlanVersion) -> PlanDraft:
    """Return a plan's version as one would type it."""
    steps = [
        StepDraft(f"s{index}", step["kind"], _spelled_step(step["kind"], step["params"]))
        for index, step in enumerate(version.steps)
    ]
    requested = {f"confidence_{key}": f"{value:g}" for key, value in (version.confidence or {}).items()}
    return PlanDraft(name, str(version.repetitions), version.order, f"{version.pause_seconds:g}", steps, **requested)


def draft_of_form(data: QueryDict) -> PlanDraft:
    """Read what was typed; the order of the hidden `step` fields is the order of the steps."""
    return PlanDraft(
        name=data.get("name", ""),
        repetitions=data.get("repetitions", ""),
        order=data.get("order", ""),
        pause_seconds=data.get("pause_seconds", ""),
        steps=[_step_of_form(data, key) for key in dict.fromkeys(data.getlist("step"))],
        confidence_level_percent=data.get("confidence_level_percent", ""),
        confidence_width_percent=data.get("confidence_width_percent", ""),
        confidence_max_repetitions=data.get("confidence_max_repetitions", ""),
        labels=data.get("labels", ""),
    )


def stated(draft: PlanDraft) -> dict[str, str]:
    """Return what stands in each field of a draft, a step as a whole, to compare it with another."""
    fields = {name: str(value) for name, value in vars(draft).items() if name != "steps"}
    steps = enumerate(draft.steps, start=1)
    return fields | {f"steps.{number}": _step_text(step) for number, step in steps}


def _step_text(step: StepDraft) -> str:
    kind = catalog().kinds.get(step.kind)
    texts = {kind.parameters[name].label if kind else name: text for name, text in sorted(step.texts.items())}
    return "; ".join([kind.label if kind else step.kind, *(f"{name}: {text}" for name, text in texts.items())])


def changed(draft: PlanDraft, action: str) -> PlanDraft:
    """Apply a button of the editor: `add`, `remove:KEY`, `up:KEY`, `down:KEY`; anything else changes nothing."""
    verb, _, key = action.partition(":")
    if verb == "add":
        return replace(draft, steps=[*draft.steps, _added_step(draft.steps)])
    index = next((index for index, step in enumerate(draft.steps) if step.key == key), None)
    if index is None or verb not in ("remove", "up", "down"):
        return draft
    steps = list(draft.steps)
    step = steps.pop(index)
    if verb != "remove":
        steps.insert(max(0, index - 1) if verb == "up" else index + 1, step)
    return replace(draft, steps=steps)


def values_of(draft: PlanDraft) -> tuple[PlanValues, dict[str, str]]:
    """Read the draft's values; the errors are by field: `name`, `repetitions`, or `KEY-PARAMETER` of a step."""
    errors: dict[str, str] = {}
    repetitions = _read_number(draft.repetitions, "repetitions", errors)
    pause_seconds = _read_number(draft.pause_seconds or "0", "pause_seconds", errors)
    if repetitions != int(repetitions):
        errors["repetitions"] = _("Repetitions must be a whole number.")
    steps = [_read_step(step, errors) for step in draft.steps]
    confidence = _read_confidence(draft, errors)
    return PlanValues(draft.name, int(repetitions), draft.order, float(pause_seconds), steps, confidence), errors


def field_of(error: PlanError, draft: PlanDraft) -> str:
    """Find the form's field of a service's refusal: steps.0.params.flows is KEY-flows; empty is the whole plan."""
    parts = error.field.split(".")
    if parts[0] == "confidence":
        return "_".join(parts)
    if parts[0] != "steps" or len(parts) < 3:
        return error.field
    step = draft.steps[int(parts[1])]
    # A fault within a nested test, steps.0.params.load.params.flows, belongs to the field of the whole.
    return f"{step.key}-{parts[3] if parts[2] == 'params' and len(parts) > 3 else parts[-1]}"


def _step_of_form(data: QueryDict, key: str) -> StepDraft:
    prefix = f"{key}-"
    kind = data.get(f"{prefix}kind", "")
    texts = {}
    for name in _parameters(kind):
        # A group of boxes sends one value per ticked box: several are a sweep.
        text = ", ".join(value for value in data.getlist(f"{prefix}{name}") if value.strip())
        if text:
            texts[name] = text
    return StepDraft(key, kind, texts)


def _added_step(steps: list[StepDraft]) -> StepDraft:
    used = {step.key for step in steps}
    key = next(key for number in range(len(steps) + 1) if (key := f"s{number}") not in used)
    return StepDraft(key, steps[-1].kind if steps else next(iter(catalog().tests)))


def _read_number(text: str, name: str, errors: dict[str, str]) -> float:
    try:
        value = float(text)
        if not -1e9 < value < 1e9:
            raise ValueError
    except ValueError:
        errors[name] = (
            _("{text} is not a number.").format(text=f"{text[:40]!r}") if text.strip() else _("Enter a number.")
        )
        return 1
    return value


def _read_confidence(draft: PlanDraft, errors: dict[str, str]) -> dict[str, Any] | None:
    """Read level and width, which go together; with neither the plan asks for none."""
    if not (draft.confidence_level_percent.strip() or draft.confidence_width_percent.strip()):
        return None
    most = draft.confidence_max_repetitions.strip() or str(DEFAULT_MAXIMUM_REPETITIONS)
    number = _read_number(most, "confidence_max_repetitions", errors)
    if number != int(number):
        errors["confidence_max_repetitions"] = _("Repetitions must be a whole number.")
    return {
        "level_percent": _read_number(draft.confidence_level_percent, "confidence_level_percent", errors),
        "width_percent": _read_number(draft.confidence_width_percent, "confidence_width_percent", errors),
        "max_repetitions": int(number),
    }


def _read_step(step: StepDraft, errors: dict[str, str]) -> dict[str, Any]:
    kind = catalog().kinds.get(step.kind)
    params: dict[str, Any] = {}
    for name, text in step.texts.items() if kind else ():
        try:
            params[name] = _read_param(kind, name, text)
        except ParameterError as error:
            errors[f"{step.key}-{name}"] = error.message
    return {"kind": step.kind, "params": params}


def _read_param(kind: Kind | None, name: str, text: str) -> Any:
    assert kind is not None  # noqa: S101  for mypy: the caller reads parameters of known kinds only
    value = parsed_values(kind.parameters[name], text)
    singles = value if isinstance(value, list) else [value]
    checked = [validated_params(kind, {name: single})[name] for single in singles[:_CHECKED_VALUES]]
    checked += singles[_CHECKED_VALUES:]
    return checked if isinstance(value, list) else checked[0]


def _spelled_step(kind: str, params: Mapping[str, Any]) -> dict[str, str]:
    known = catalog().kinds[kind].parameters if kind in catalog().kinds else {}
    return {name: spelled(known[name], value) for name, value in params.items() if name in known}


def _parameters(kind: str) -> Iterable[str]:
    entry = catalog().kinds.get(kind)
    return entry.parameters if entry else ()
