"""Show what the schedule as typed comes to: times in two zones, and whether the runs fit, as a picture."""

from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from benchweb.plans.models import Plan
from benchweb.runs.services import confirmation_needed
from benchweb.schedules.definitions import Definition, rule_of_definition
from benchweb.schedules.errors import ScheduleError, TimingError
from benchweb.schedules.forecasts.feasibility import Feasibility, feasibility
from benchweb.schedules.models import Schedule
from benchweb.schedules.selectors import next_slots
from benchweb.schedules.services import schedule_draft
from benchweb.schedules.targets import checked_and_counted
from benchweb.schedules.timing.rules import cron_typed, never_fires
from benchweb.web.schedules.forms import ScheduleForm
from benchweb.web.schedules.words import cron_hint, when_words
from benchweb.web.timeline.gantt import gantt
from benchweb.web.timeline.lanes import TimelineLanes

_UNNAMED = "preview"
SLOTS_DISPLAYED = 10


@dataclass(frozen=True)
class Fault:
    """An error that keeps the preview from being whole: the field's anchor and label, and the words."""

    anchor: str
    label: str
    message: str


@dataclass(frozen=True)
class SchedulePreview:
    """The schedule as typed so far, in words."""

    words: str = ""
    # What the words don't say, such as months that lack a day.
    hint: str = ""
    timezone: str = ""
    slots: list[datetime] = field(default_factory=list)
    feasibility: Feasibility | None = None
    picture: TimelineLanes | None = None
    faults: list[Fault] = field(default_factory=list)
    # The runs a slot that the form must confirm, when there are more than are taken without a question.
    confirm: int | None = None
    # Its times come only once it is resumed.
    is_paused: bool = False


def schedule_preview(form: ScheduleForm, schedule_id: int | None = None) -> SchedulePreview:
    """Say as much as the form holds: times need only the rule, whether it fits needs plan and pairs too."""
    paused = Schedule.objects.filter(pk=schedule_id or 0, paused_at__isnull=False)
    return replace(_preview(form, schedule_id), is_paused=paused.exists())


def _preview(form: ScheduleForm, schedule_id: int | None) -> SchedulePreview:
    form.is_valid()
    values = {"name": _UNNAMED} | form.values()
    zone = values.get("timezone", "UTC")
    described = _preview_in_words(values, zone)
    faults = _faults(form)
    if not (values["cron"] or values["every"]) or "timezone" in form.errors:
        return replace(described, faults=faults)
    try:
        slots = _slots(values)
    except ScheduleError as error:
        return replace(described, faults=[*faults, _fault(form, error)])
    whole = replace(described, slots=slots, faults=faults)
    if "plan" not in values or any(name in form.errors for name in form.target_fields()):
        return whole
    try:
        return _preview_with_outlook(whole, values, schedule_id)
    except ScheduleError as error:
        return replace(whole, faults=[*faults, _fault(form, error)])


def _preview_in_words(values: dict[str, Any], zone: str) -> SchedulePreview:
    try:
        cron = cron_typed(values["cron"], zone)
    except TimingError:
        # What is wrong with it is told as a fault.
        return SchedulePreview(timezone=zone)
    return SchedulePreview(when_words(cron, values["every"]), cron_hint(cron, zone), zone)


def _preview_with_outlook(preview: SchedulePreview, values: dict[str, Any], schedule_id: int | None) -> SchedulePreview:
    _, count = checked_and_counted(values["target"])
    if confirmation_needed(count, values["confirm_runs"]):
        return replace(preview, confirm=count)
    draft = schedule_draft(**values)
    # So that a schedule that is edited is in no conflict with itself.
    draft.pk = schedule_id
    outlook = feasibility(draft)
    # The box stays while the number does, for it is what was agreed to.
    confirm = count if confirmation_needed(count, None) else None
    return replace(preview, feasibility=outlook, picture=gantt(outlook, draft.timezone), confirm=confirm)


def _slots(values: dict[str, Any]) -> list[datetime]:
    names = [field.name for field in fields(Definition) if field.name != "plan"]
    # Times don't depend on the plan, which may not be chosen yet; a new one has no id.
    definition = Definition(
        plan=values.get("plan") or Plan(), **{name: values[name] for name in names if name in values}
    )
    now = timezone.now()
    rule = rule_of_definition(definition, now)
    slots = next_slots(rule, min(SLOTS_DISPLAYED, values.get("max_runs") or SLOTS_DISPLAYED), now)
    if not slots:
        raise never_fires(rule, now)
    return slots


def _faults(form: ScheduleForm) -> list[Fault]:
    """Return what is wrong with what was typed; what wasn't yet is no fault."""
    named = {name: messages for name, messages in form.errors.items() if name in form.fields}
    return [
        Fault(form[name].id_for_label, str(form[name].label), str(messages[0]))
        for name, messages in named.items()
        if form[name].value()
    ]


def _fault(form: ScheduleForm, error: ScheduleError) -> Fault:
    name = form.field_of(error.field)
    bound = form[name] if name in form.fields else None
    return Fault(bound.id_for_label if bound else "", str(bound.label) if bound else "", error.message)
