"""One slot: its campaign, or the reason why there is none."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, transaction
from django.utils import translation

from benchweb.catalog.reasons import Reason, joined, reason_of_error
from benchweb.common.log_lines import logged_with
from benchweb.hosts.models import Endpoint, Pair
from benchweb.runs import services as runs
from benchweb.runs.models import Campaign, State
from benchweb.runs.queueing.occupancy import occupancy
from benchweb.schedules import targets
from benchweb.schedules.forecasts.forecast import OccupiedResources, forecast
from benchweb.schedules.models import Schedule, Slot
from benchweb.schedules.slots.breaking_off import not_launched
from benchweb.schedules.time_texts import duration_text, time_text
from benchweb.schedules.timing.rules import rule_of
from benchweb.schedules.timing.times import closes_at

# A slot found later than this, or than its schedule's slip, was missed: the schedule's policy says what then.
GRACE = timedelta(seconds=60)
# A host silent for so long is not tried by a slot; the probes go on, and find it when it returns.
SILENT_AFTER = timedelta(minutes=5)
# A mesh may grow by itself; beyond this factor somebody has to agree anew.
GROWTH_WITHOUT_QUESTION = 2
_DISPLAYED = 3
_log = logging.getLogger(__name__)


class _Unlaunchable(Exception):
    """Why a slot has no campaign."""


@dataclass(frozen=True)
class _Limit:
    """Runs that have not begun by `at` never do; `why` says so."""

    at: datetime
    why: str


def slot_begin(*, schedule: Schedule, slot: Slot, now: datetime, user: User | None) -> None:
    """Launch the campaign of a slot that is pending and has none, or end the slot with the reason why it has none."""
    try:
        # A refusal is stored in English, whatever the language of whoever runs the schedule now.
        with translation.override("en"), transaction.atomic():
            slot.campaign, reason = _launched_campaign(schedule, slot.at, now, user, slot.is_extra)
    except (_Unlaunchable, runs.LaunchError) as refusal:
        slot.state, reason = State.NONSTART, reason_of_error(refusal)
    except (OperationalError, InterfaceError):
        # The database's own trouble passes: nothing is kept, and the next tick tries again.
        raise
    except Exception as error:
        # A bug would fail each second anew, and hold up the schedule for ever.
        with logged_with(slot=slot.pk):
            _log.exception("Schedule %s could not launch its slot %s", schedule.pk, slot.at)
        slot.state, reason = State.FAILED, not_launched(error)
    if not slot.is_extra and slot.claimed_at - slot.at > GRACE:
        lateness = duration_text(slot.claimed_at - slot.at)
        reason = joined([Reason("slot_found_late", lateness=lateness), reason])
        slot.state = State.MISSED if slot.state == State.NONSTART else slot.state
    slot.why = reason
    slot.save(update_fields=["campaign", "state", "reason", "reason_data"])


def _launched_campaign(
    schedule: Schedule, at: datetime, now: datetime, user: User | None, is_extra: bool
) -> tuple[Campaign, str]:
    version = schedule.plan.versions.order_by("-number")[0]
    limit = _limit_to_come(schedule, at, now, occupancy(version.pk).seconds, is_extra)
    target = targets.resolved_target(schedule.target, make=True)
    left_out = _left_out(target.left_out)
    if not target.pairs:
        raise _Unlaunchable(left_out or Reason("slot_without_pairs"))
    _check_count(schedule, len(target.pairs))
    _check_hosts(target.pairs, now)
    if schedule.arrangement == Campaign.Arrangement.ROUNDS:
        # A run ends with the last round, behind the turns of all others.
        expected = forecast(version, target.pairs, OccupiedResources(), schedule.arrangement)
        limit = _limit_to_come(schedule, at, now, expected.run_seconds, is_extra)
    return _campaign(schedule, target.pairs, user, limit.at if limit else None), left_out


def _campaign(schedule: Schedule, pairs: list[Pair], user: User | None, start_before: datetime | None) -> Campaign:
    if schedule.plan.archived_at is not None:
        raise _Unlaunchable(Reason("slot_plan_archived", plan=schedule.plan.name))
    return runs.launch(
        plan=schedule.plan,
        pairs=pairs,
        user=user,
        start_before=start_before,
        retries=schedule.retries,
        retry_pause_seconds=schedule.retry_pause_seconds,
        arrangement=schedule.arrangement,
    )


def _limit_to_come(
    schedule: Schedule, at: datetime, now: datetime, run_seconds: float, is_extra: bool
) -> _Limit | None:
    limit = _start_limit(schedule, at, run_seconds, is_extra)
    if limit and limit.at <= now:
        raise _Unlaunchable(limit.why)
    return limit


def _start_limit(schedule: Schedule, at: datetime, run_seconds: float, is_extra: bool) -> _Limit | None:
    limits = []
    # "Run now" is somebody's own decision: it heeds no window.
    closes = None if is_extra else closes_at(rule_of(schedule), at)
    if closes:
        takes = timedelta(seconds=run_seconds)
        closing = time_text(closes, schedule.timezone)
        why = Reason("slot_closes_too_soon", closes=closing, takes=duration_text(takes))
        limits.append(_Limit(closes - takes, why))
    if schedule.deadline_seconds:
        deadline = timedelta(seconds=schedule.deadline_seconds)
        limits.append(_Limit(at + deadline, Reason("slot_past_deadline", deadline=duration_text(deadline))))
    return min(limits, key=lambda limit: limit.at, default=None)


def _check_count(schedule: Schedule, count: int) -> None:
    agreed = schedule.confirmed_runs or 0
    if count > max(runs.CONFIRM_ABOVE, GROWTH_WITHOUT_QUESTION * agreed):
        if agreed:
            raise _Unlaunchable(Reason("slot_too_many_runs", count=count, agreed=agreed))
        raise _Unlaunchable(Reason("slot_too_many_runs_unconfirmed", count=count))


def _check_hosts(pairs: list[Pair], now: datetime) -> None:
    """Refuse when every pair has an end that has been silent for long; single ones are the runs' own matter."""
    silent = {}
    for pair in pairs:
        end = next((end for end in (pair.source, pair.sink) if _is_silent(end, now)), None)
        if end is None:
            return
        silent[end.pk] = end
    ends = [
        Reason("end_silent", end=str(end), unreachable_since=f"{end.unreachable_since:%Y-%m-%d %H:%M}")
        for end in silent.values()
    ]
    raise _Unlaunchable(Reason("slot_hosts_silent", silent=_listed_reasons(ends)))


def _is_silent(end: Endpoint, now: datetime) -> bool:
    return end.unreachable_since is not None and now - end.unreachable_since >= SILENT_AFTER


def _left_out(reasons: list[str]) -> str:
    return Reason("slot_left_out", reasons=_listed_reasons(reasons)) if reasons else ""


def _listed_reasons(reasons: Sequence[str]) -> str:
    left = len(reasons) - _DISPLAYED
    return joined([*reasons[:_DISPLAYED], Reason("and_more", left=left) if left > 0 else ""], "; ")
