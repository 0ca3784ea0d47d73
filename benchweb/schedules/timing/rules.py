"""Make the rule of times of a schedule's fields, as people and the database have them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from benchweb.schedules.errors import ScheduleError, TimingError
from benchweb.schedules.models import Schedule
from benchweb.schedules.timing.cron import MAXIMUM_LENGTH
from benchweb.schedules.timing.cron_text import cron_normalised
from benchweb.schedules.timing.durations import duration_seconds
from benchweb.schedules.timing.localtime import instant, zone_checked, zone_of
from benchweb.schedules.timing.openings import blackouts_of, window_of
from benchweb.schedules.timing.times import TimingRule, occurrences, rule_check, spread_start


def rule_of(schedule: Schedule) -> TimingRule:
    """Return the rule of a schedule, saved or not yet; what was saved by an older version is read as it was then."""
    return rule_from(
        is_stored=True,
        cron=schedule.cron,
        every=schedule.every,
        timezone=schedule.timezone,
        starts_at=schedule.starts_at,
        ends_at=schedule.ends_at,
        window=window_text(schedule.window_from, schedule.window_until),
        blackouts=schedule.blackouts,
        slip_seconds=schedule.slip_seconds,
        seed=seed_of(schedule.plan_id, schedule.target, schedule.cron, schedule.every),
    )


def rule_from(
    *,
    cron: str = "",
    every: str = "",
    timezone: str = "UTC",
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    window: Mapping[str, Any] | None = None,
    blackouts: Sequence[Mapping[str, Any]] = (),
    slip_seconds: int = 0,
    seed: str = "",
    now: datetime | None = None,
    is_stored: bool = False,
) -> TimingRule:
    """Read and check the fields, raising TimingError; without `starts_at` the rule starts at `now`, or soon after.

    A start or an end without an offset is a local time. What people typed is normalised; what `is_stored` was.
    """
    zone = zone_of(timezone) if is_stored else zone_checked(timezone)
    cron = cron.strip() if is_stored else cron_typed(cron, timezone)
    every_seconds = duration_seconds(every) if every else 0
    if starts_at is None:
        if now is None:
            raise TimingError("starts_at", _("Say when the schedule starts."))
        starts_at = spread_start(every_seconds, seed, now) if every_seconds else now
    rule = TimingRule(
        starts_at=_instant(starts_at, zone).replace(microsecond=0),
        cron=cron,
        every_seconds=every_seconds,
        timezone=timezone,
        ends_at=_instant(ends_at, zone) if ends_at else None,
        window=window_of(window),
        blackouts=blackouts_of(blackouts, zone),
        slip_seconds=slip_seconds,
        seed=seed,
    )
    rule_check(rule)
    return rule


def cron_typed(text: str, timezone: str) -> str:
    """Return an expression normalised, or empty where nothing was typed; raise TimingError."""
    if len(text) > MAXIMUM_LENGTH:
        raise TimingError(
            "cron",
            _("A cron expression has at most {maximum_length} characters.").format(maximum_length=MAXIMUM_LENGTH),
        )
    cron = cron_normalised(text, timezone) if text.strip() else ""
    if len(cron) > MAXIMUM_LENGTH:
        raise TimingError(
            "cron",
            _("Written out it has {cron} characters, at most {maximum_length} are possible.").format(
                cron=len(cron), maximum_length=MAXIMUM_LENGTH
            ),
        )
    return cron


def seed_of(plan_id: int | None, target: Mapping[str, Any], cron: str, every: str) -> str:
    """Return what fixes a schedule's place within its slip: the same while it is edited and once it is saved."""
    return json.dumps([plan_id, target, cron, every], sort_keys=True)


def window_text(begins: time | None, ends: time | None) -> dict[str, str] | None:
    """Return a window as the API spells it."""
    return {"from": begins.isoformat(), "until": ends.isoformat()} if begins and ends else None


def never_fires(rule: TimingRule, after: datetime) -> ScheduleError:
    """Say why a rule has no time after `after`: the field is the one without which it would have."""
    endless = replace(rule, ends_at=None)
    if rule.ends_at and (first := _first(endless, after)):
        return TimingError(
            "ends_at",
            _("It never fires: it ends before its next time, {first} UTC.").format(first=f"{first:%Y-%m-%d %H:%M:%S}"),
        )
    if rule.window and _first(replace(endless, window=None), after):
        span = f"{rule.window.begins:%H:%M} to {rule.window.ends:%H:%M}"
        return TimingError(
            "window",
            _("It never fires: none of its times lies in its window, {span} {timezone}.").format(
                span=span, timezone=rule.timezone
            ),
        )
    if rule.blackouts and _first(replace(endless, window=None, blackouts=()), after):
        return TimingError("blackouts", _("It never fires: all of its times lie in blackouts."))
    return TimingError("cron" if rule.cron else "every", _("It never fires: no day matches within fifty years."))


def _first(rule: TimingRule, after: datetime) -> datetime | None:
    return next(occurrences(rule, after), None)


def _instant(at: datetime, zone: ZoneInfo) -> datetime:
    return at.astimezone(UTC) if at.tzinfo else instant(at, zone)
