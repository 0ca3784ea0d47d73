"""Schedules and slots as rows: each with what its last slots came to."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchweb.runs.summaries import CampaignSummary, campaign_summaries, first_reasons
from benchweb.schedules.models import Schedule, Slot
from benchweb.schedules.selectors import SuccessRate, rates_since, success_rates
from benchweb.web.schedules.words import environment_names, target_words, when_words


@dataclass(frozen=True)
class SlotRow:
    """A slot with its campaign's runs by state."""

    slot: Slot
    summary: CampaignSummary | None
    # The slot's own reason, or that of the first of its runs that didn't finish; empty when every run did.
    why: str = ""


@dataclass(frozen=True)
class ScheduleRow:
    """A schedule in a list."""

    schedule: Schedule
    when: str
    target: str
    last: SlotRow | None
    rate: SuccessRate | None


def schedule_rows(schedules: Sequence[Schedule]) -> list[ScheduleRow]:
    """Return schedules with last slot and success rate, in four queries whatever their number."""
    names = environment_names(schedule.target for schedule in schedules)
    latest = Slot.objects.filter(schedule__in=schedules).order_by("schedule_id", "-at").distinct("schedule_id")
    last = {row.slot.schedule_id: row for row in slot_rows(list(latest))}
    rates = success_rates(schedules, rates_since())
    return [
        ScheduleRow(
            schedule,
            when_words(schedule.cron, schedule.every),
            target_words(schedule.target, names),
            last.get(schedule.pk),
            rates.get(schedule.pk),
        )
        for schedule in schedules
    ]


def slot_rows(slots: Sequence[Slot]) -> list[SlotRow]:
    """Return slots with their campaigns' runs by state, and why they didn't finish; two queries."""
    ids = [slot.campaign_id for slot in slots if slot.campaign_id is not None]
    summaries, reasons = campaign_summaries(ids), first_reasons(ids)
    return [
        SlotRow(slot, summaries.get(slot.campaign_id or 0), slot.why or reasons.get(slot.campaign_id or 0, ""))
        for slot in slots
    ]
