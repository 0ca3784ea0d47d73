"""Show a plan's steps as fields made from the catalog, what is wrong with them, else the preview."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.catalog import Kind, Parameter, catalog, value_text
from benchweb.plans.confidence import DEFAULT_MAXIMUM_REPETITIONS, validated_confidence
from benchweb.plans.expansion import PlanError, validated_steps
from benchweb.plans.models import PlanVersion
from benchweb.plans.services import MAXIMUM_PAUSE_SECONDS
from benchweb.web.plans.draft import PlanDraft, StepDraft, field_of, values_of
from benchweb.web.plans.preview import PlanPreview, previewed
from benchweb.web.plans.sweep_text import spelled

_CONFIDENCE = {
    "confidence_level_percent": (gettext_noop("Confidence level"), "%", "99"),
    "confidence_width_percent": (gettext_noop("Interval width"), gettext_noop("% of the mean"), "5"),
    "confidence_max_repetitions": (gettext_noop("Maximum repetitions"), "", str(DEFAULT_MAXIMUM_REPETITIONS)),
}
_BASICS = {
    "name": gettext_noop("Name"),
    "repetitions": gettext_noop("Repetitions"),
    "order": gettext_noop("Order"),
    "pause_seconds": gettext_noop("Pause"),
    "labels": gettext_noop("Labels"),
    **{name: label for name, (label, _unit, _default) in _CONFIDENCE.items()},
}


def labels_of(draft: PlanDraft) -> dict[str, str]:
    """Name the fields of a draft, a step as a whole."""
    steps = range(1, len(draft.steps) + 1)
    numbered = {f"steps.{number}": _("Step {number}").format(number=number) for number in steps}
    return {name: _(label) for name, label in _BASICS.items()} | numbered


@dataclass(frozen=True)
class TickBox:
    """One box of a group: its value as sent, and whether it is ticked."""

    value: str
    label: str
    ticked: bool


@dataclass(frozen=True)
class ParameterField:
    """A parameter as a field: text for a value or a sweep, or boxes when it has few values."""

    name: str
    input_name: str
    label: str
    unit: str
    help: str
    bounds: str
    placeholder: str
    text: str
    error: str
    choices: list[TickBox]


@dataclass(frozen=True)
class ConfidenceField:
    """A field of the confidence that a plan may ask for."""

    name: str
    label: str
    unit: str
    placeholder: str
    text: str
    error: str


@dataclass(frozen=True)
class StepView:
    """A step as the editor shows it: the fields in sight, and those under "More parameters"."""

    key: str
    number: int
    kind: Kind | None
    kind_name: str
    error: str
    fields: list[ParameterField]
    more: list[ParameterField]

    @property
    def kind_field(self) -> str:
        return f"{self.key}-kind"

    @property
    def more_used(self) -> int:
        """Count what is set, or wrong, under "More parameters": then it is shown open."""
        return sum(bool(field.text or field.error or any(c.ticked for c in field.choices)) for field in self.more)


@dataclass(frozen=True)
class FieldProblem:
    """An error with its field's label and anchor; both are empty when it is the whole plan's."""

    anchor: str
    label: str
    message: str


@dataclass(frozen=True)
class Editor:
    """The whole editor; `errors` are by field, `preview` is None while there are any."""

    draft: PlanDraft
    steps: list[StepView]
    errors: dict[str, str]
    preview: PlanPreview | None

    @property
    def error_slots(self) -> dict[str, str]:
        """Return every field's error, empty where there is none, so that a mended one goes away."""
        names = [*_BASICS, *(name for step in self.steps for name in _names(step))]
        # An empty name is no fault while one still types: saving says so.
        return {name: self.errors.get(name, "") for name in names if name != "name"}

    @property
    def problems(self) -> list[FieldProblem]:
        """Return the errors in the order of the form, each with the field to go to."""
        labels = {name: _(label) for name, label in _BASICS.items()}
        for step in self.steps:
            labels |= {step.kind_field: _("Step {number}, test kind").format(number=step.number)}
            for field in step.fields + step.more:
                labels[field.input_name] = _("Step {number}, {field}").format(
                    number=step.number, field=field.label.lower()
                )
        known = [
            FieldProblem(f"id_{name}", label, self.errors[name])
            for name, label in labels.items()
            if name in self.errors
        ]
        return known + [FieldProblem("", "", text) for name, text in self.errors.items() if name not in labels]

    @property
    def confidence_fields(self) -> list[ConfidenceField]:
        return [
            ConfidenceField(
                name, _(label), _(unit) if unit else "", default, getattr(self.draft, name), self.errors.get(name, "")
            )
            for name, (label, unit, default) in _CONFIDENCE.items()
        ]

    @property
    def kinds(self) -> list[Kind]:
        return list(catalog().tests.values())

    @property
    def orders(self) -> list[tuple[str, str]]:
        return [(value, str(label)) for value, label in PlanVersion.Order.choices]


def editor(draft: PlanDraft, errors: dict[str, str] | None = None) -> Editor:
    """Prepare the editor for a draft, with the errors of a refused save over those found here."""
    preview, messages = _checked_preview(draft)
    messages |= errors or {}
    steps = [_step(index, step, messages) for index, step in enumerate(draft.steps, start=1)]
    return Editor(draft=draft, steps=steps, errors=messages, preview=preview)


def _checked_preview(draft: PlanDraft) -> tuple[PlanPreview | None, dict[str, str]]:
    values, errors = values_of(draft)
    if not 0 <= values.pause_seconds <= MAXIMUM_PAUSE_SECONDS:
        errors.setdefault(
            "pause_seconds",
            _("The pause must be from 0 to {most} s.").format(most=f"{MAXIMUM_PAUSE_SECONDS:g}"),
        )
    most = values.repetitions
    try:
        if requested := validated_confidence(values.confidence, values.repetitions):
            most = requested["max_repetitions"]
        steps = validated_steps(values.steps, values.repetitions, most)
    except PlanError as error:
        errors.setdefault(field_of(error, draft), error.message)
    if errors:
        return None, errors
    return previewed(steps, values.repetitions, most, values.order, values.pause_seconds), errors


def _step(number: int, step: StepDraft, errors: dict[str, str]) -> StepView:
    kind = catalog().kinds.get(step.kind)
    fields = [_field(step, parameter, errors) for parameter in kind.parameters.values()] if kind else []
    advanced = {parameter.name for parameter in kind.parameters.values() if parameter.advanced} if kind else set()
    return StepView(
        key=step.key,
        number=number,
        kind=kind,
        kind_name=step.kind,
        error=errors.get(f"{step.key}-kind", ""),
        fields=[field for field in fields if field.name not in advanced],
        more=[field for field in fields if field.name in advanced],
    )


def _names(step: StepView) -> list[str]:
    return [step.kind_field, *(field.input_name for field in step.fields + step.more)]


def _field(step: StepDraft, parameter: Parameter, errors: dict[str, str]) -> ParameterField:
    input_name = f"{step.key}-{parameter.name}"
    text = step.texts.get(parameter.name, "")
    return ParameterField(
        name=parameter.name,
        input_name=input_name,
        label=parameter.label,
        unit=parameter.unit,
        help=parameter.help,
        bounds=_bounds(parameter),
        placeholder=spelled(parameter, parameter.default),
        text=text,
        error=errors.get(input_name, ""),
        choices=_choices(parameter, text),
    )


def _bounds(parameter: Parameter) -> str:
    if not parameter.is_number:
        return ""
    low, high = (spelled(parameter, parameter.schema[name]) for name in ("minimum", "maximum"))
    return _("{low} to {high} {unit}").format(low=low, high=high, unit=parameter.unit).rstrip()


def _choices(parameter: Parameter, text: str) -> list[TickBox]:
    """Return a box for each value of a parameter with few; with none ticked it keeps its default."""
    values = [False, True] if parameter.schema["type"] == "boolean" else parameter.schema.get("enum", [])
    ticked = {part.strip() for part in text.split(",")}
    labels = {False: _("off"), True: _("on")}
    return [
        TickBox(
            value=spelled(parameter, value),
            label=_value_label(parameter, value, labels),
            ticked=spelled(parameter, value) in ticked,
        )
        for value in values
    ]


def _value_label(parameter: Parameter, value: Any, labels: dict[bool, str]) -> str:
    label = labels[value] if isinstance(value, bool) else value_text(str(value))
    return _("{value} (default)").format(value=label) if value == parameter.default else label
