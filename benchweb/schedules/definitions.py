"""The fields of a schedule, checked: what services save and pages preview."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from benchweb.common.names import name_fault, stored_name
from benchweb.plans.models import Plan
from benchweb.runs.models import Campaign
from benchweb.runs.services import LaunchError, check_together, confirmation_needed
from benchweb.schedules import targets
from benchweb.schedules.defaults import (
    DEFAULT_RERUN_PERCENT,
    DEFAULT_RETRIES,
    DEFAULT_RETRY_PAUSE_SECONDS,
    LIMITS,
)
from benchweb.schedules.errors import ScheduleError
from benchweb.schedules.models import Schedule
from benchweb.schedules.timing.rules import cron_typed, rule_from, seed_of, window_text
from benchweb.schedules.timing.times import TimingRule


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A schedule as people say it; raises ScheduleError from `checked`, never when made."""

    name: str
    plan: Plan
    target: Mapping[str, Any]
    cron: str = ""
    every: str = ""
    timezone: str = "UTC"
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    max_runs: int | None = None
    missed: str = Schedule.Missed.SKIP
    overlap: str = Schedule.Overlap.QUEUE_ONE
    arrangement: str = Campaign.Arrangement.RUNS
    # {"from": "02:00", "until": "06:00"}, local.
    window: Mapping[str, Any] | None = None
    blackouts: Sequence[Mapping[str, Any]] = ()
    deadline_seconds: int | None = None
    slip_seconds: int = 0
    retries: int = DEFAULT_RETRIES
    retry_pause_seconds: int = DEFAULT_RETRY_PAUSE_SECONDS
    rerun_percent: int = DEFAULT_RERUN_PERCENT
    confirm_runs: int | None = None


def definition_of(schedule: Schedule) -> Definition:
    """Return what a saved schedule was defined by."""
    same = {name: getattr(schedule, name) for name in Definition.__dataclass_fields__ if hasattr(schedule, name)}
    window = window_text(schedule.window_from, schedule.window_until)
    return Definition(**same, window=window, confirm_runs=schedule.confirmed_runs)


def checked_schedule(definition: Definition, now: datetime, before: Definition | None = None) -> Schedule:
    """Return the unsaved schedule; raise ScheduleError. Plan and target are checked where they differ from `before`.

    So a schedule can be renamed although a host of it was archived since.
    """
    if fault := name_fault(definition.name):
        raise ScheduleError("name", fault)
    _check_numbers(definition)
    if (before is None or before.plan != definition.plan) and definition.plan.archived_at is not None:
        raise ScheduleError(
            "plan", _("Plan {plan} is archived: restore it, or choose another.").format(plan=definition.plan)
        )
    target = dict(definition.target)
    if before is None or (before.target, before.confirm_runs) != (target, definition.confirm_runs):
        target = _checked_target(definition)
    if before is None or _launched_by(before) != _launched_by(definition):
        _check_arrangement(definition)
    # So can one whose times were written by the rules of an older version.
    is_stored = before is not None and _timing_of(before) == _timing_of(definition)
    return _schedule(definition, target, _rule(definition, target, now, is_stored=is_stored))


def rule_of_definition(definition: Definition, now: datetime) -> TimingRule:
    """Return the rule alone, for a preview of times before the rest is right; raise TimingError."""
    return _rule(definition, dict(definition.target), now)


def _checked_target(definition: Definition) -> dict[str, Any]:
    target, count = targets.checked_and_counted(definition.target)
    if question := confirmation_needed(count, definition.confirm_runs):
        raise ScheduleError("confirm_runs", question)
    return target


def _check_numbers(definition: Definition) -> None:
    for field, limit in LIMITS.items():
        value, least, most = getattr(definition, field), limit.least, limit.most
        if value is not None and not least <= value <= most:
            raise ScheduleError(
                field, _("{field} is from {least} to {most}.").format(field=field, least=f"{least:,}", most=f"{most:,}")
            )
    if definition.missed not in Schedule.Missed.values:
        raise ScheduleError("missed", _("missed is one of {values}.").format(values=", ".join(Schedule.Missed.values)))
    if definition.overlap not in Schedule.Overlap.values:
        raise ScheduleError(
            "overlap", _("overlap is one of {values}.").format(values=", ".join(Schedule.Overlap.values))
        )


def _launched_by(definition: Definition) -> tuple[Plan, Mapping[str, Any], str]:
    return definition.plan, definition.target, definition.arrangement


def _check_arrangement(definition: Definition) -> None:
    """Refuse what no slot could launch together; of a mesh that is yet to be made the slot tells."""
    if definition.arrangement not in Campaign.Arrangement.values:
        values = ", ".join(Campaign.Arrangement.values)
        raise ScheduleError("arrangement", _("arrangement is one of {values}.").format(values=values))
    pairs = targets.resolved_target(definition.target).pairs
    if definition.arrangement == Campaign.Arrangement.TOGETHER and pairs:
        try:
            check_together(pairs, definition.plan.versions.order_by("-number")[0])
        except LaunchError as error:
            raise ScheduleError("arrangement", error.message) from error


def _timing_of(definition: Definition) -> tuple[str, str]:
    return definition.cron, definition.timezone


def _rule(definition: Definition, target: Mapping[str, Any], now: datetime, *, is_stored: bool = False) -> TimingRule:
    cron = definition.cron.strip() if is_stored else cron_typed(definition.cron, definition.timezone)
    return rule_from(
        cron=cron,
        every=definition.every,
        timezone=definition.timezone,
        starts_at=definition.starts_at,
        ends_at=definition.ends_at,
        window=definition.window,
        blackouts=definition.blackouts,
        slip_seconds=definition.slip_seconds,
        seed=seed_of(definition.plan.pk, target, cron, definition.every.strip()),
        now=now,
        is_stored=is_stored,
    )


def _schedule(definition: Definition, target: dict[str, Any], rule: TimingRule) -> Schedule:
    return Schedule(
        name=stored_name(definition.name),
        plan=definition.plan,
        target=target,
        cron=rule.cron,
        every=definition.every.strip().upper(),
        timezone=rule.timezone,
        starts_at=rule.starts_at,
        ends_at=rule.ends_at,
        max_runs=definition.max_runs,
        missed=definition.missed,
        overlap=definition.overlap,
        arrangement=definition.arrangement,
        window_from=rule.window.begins if rule.window else None,
        window_until=rule.window.ends if rule.window else None,
        blackouts=[{key: str(blackout[key]).strip() for key in ("from", "until")} for blackout in definition.blackouts],
        deadline_seconds=definition.deadline_seconds,
        slip_seconds=definition.slip_seconds,
        retries=definition.retries,
        retry_pause_seconds=definition.retry_pause_seconds,
        rerun_percent=definition.rerun_percent,
        confirmed_runs=definition.confirm_runs,
    )
