"""Say what uses a plan, beside "Save" in its editor, and show its versions side by side."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.utils.translation import gettext as _

from benchweb.catalog import catalog
from benchweb.plans.models import Plan, PlanVersion
from benchweb.runs.models import Run
from benchweb.schedules.models import Schedule
from benchweb.web.plans.sweep_text import spelled
from benchweb.web.tags.show import kind_label

_SCHEDULES_SHOWN = 5
# Side by side on a screen; which ones is in the address.
MOST_VERSIONS = 4


@dataclass(frozen=True)
class Usage:
    """The schedules that would take a plan's next version, the first to do so first, and how many runs it has."""

    schedules: list[Schedule]
    hidden: int
    runs: int


def plan_usage(plan: Plan) -> Usage:
    """Return what uses a plan; three queries."""
    schedules = Schedule.objects.filter(plan=plan, archived_at=None).order_by("paused_at", "next_at", "name")
    first = list(schedules[: _SCHEDULES_SHOWN + 1])
    hidden = schedules.count() - _SCHEDULES_SHOWN if len(first) > _SCHEDULES_SHOWN else 0
    return Usage(first[:_SCHEDULES_SHOWN], hidden, Run.objects.filter(plan_version__plan=plan).count())


@dataclass(frozen=True)
class ComparedRow:
    """A setting of several versions; an empty text is one that a version doesn't have."""

    label: str
    values: list[str]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class ComparedPart:
    """The settings of the whole plan, or of one of its steps."""

    title: str
    rows: list[ComparedRow]


@dataclass(frozen=True)
class ComparedVersion:
    """A version as a column: its number, when it was made, and how many runs it has."""

    number: int
    created_at: datetime
    runs: int


@dataclass(frozen=True)
class ComparedVersions:
    """Versions side by side, the oldest first."""

    versions: list[ComparedVersion]
    parts: list[ComparedPart]


def compared_versions(versions: Iterable[PlanVersion]) -> ComparedVersions:
    """Put versions side by side, setting by setting; one query."""
    ordered = sorted(versions, key=lambda version: version.number)
    counted = Run.objects.filter(plan_version__in=[version.pk for version in ordered]).order_by()
    runs = dict(counted.values_list("plan_version").annotate(count=Count("pk")))
    columns = [ComparedVersion(each.number, each.created_at, runs.get(each.pk, 0)) for each in ordered]
    steps = max((len(version.steps) for version in ordered), default=0)
    return ComparedVersions(columns, [_whole_plan(ordered), *(_step(ordered, index) for index in range(steps))])


def _whole_plan(versions: Sequence[PlanVersion]) -> ComparedPart:
    rows = [
        ComparedRow(_("Repetitions"), [_repetitions(version) for version in versions]),
        ComparedRow(_("Order"), [str(version.get_order_display()) for version in versions]),
        ComparedRow(_("Pause between trials"), [f"{version.pause_seconds:g} s" for version in versions]),
    ]
    return ComparedPart(_("Whole plan"), rows)


def _repetitions(version: PlanVersion) -> str:
    requested = version.requested_confidence
    if requested is None:
        return str(version.repetitions)
    return _("{least} to {most}, until ±{width} % at {level} %").format(
        least=version.repetitions,
        most=requested.max_repetitions,
        width=f"{requested.width_percent / 2:g}",
        level=f"{requested.level_percent:g}",
    )


def _step(versions: Sequence[PlanVersion], index: int) -> ComparedPart:
    steps = [version.steps[index] if index < len(version.steps) else None for version in versions]
    names = list(dict.fromkeys(name for step in steps if step for name in step["params"]))
    rows = [ComparedRow(_("Test"), [kind_label(step["kind"]) if step else "" for step in steps])]
    rows += [ComparedRow(_label(steps, name), [_value(step, name) for step in steps]) for name in names]
    return ComparedPart(_("Step {number}").format(number=index + 1), rows)


def _label(steps: Sequence[dict[str, Any] | None], name: str) -> str:
    kinds = (catalog().kinds.get(step["kind"]) for step in steps if step)
    return next((kind.parameters[name].label for kind in kinds if kind and name in kind.parameters), name)


def _value(step: dict[str, Any] | None, name: str) -> str:
    """Spell a step's value as one would type it; a default that another version sets is told as such."""
    if step is None:
        return ""
    kind = catalog().kinds.get(step["kind"])
    parameter = kind.parameters.get(name) if kind else None
    if parameter is None:
        return json.dumps(step["params"][name]) if name in step["params"] else ""
    if name not in step["params"]:
        return _("{value} (default)").format(
            value=_value_with_unit(spelled(parameter, parameter.default), parameter.unit)
        )
    return _value_with_unit(spelled(parameter, step["params"][name]), parameter.unit)


def _value_with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit and text else text
