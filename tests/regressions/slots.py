"""Slots of a schedule that are launched, ended as measured, and judged."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.utils import timezone

from benchweb.hosts.models import Pair
from benchweb.regressions.judge import judge_run
from benchweb.results.models import Result
from benchweb.results.run_summaries import write_figures
from benchweb.runs.models import Campaign, Run
from benchweb.runs.services import launch
from benchweb.schedules.models import Schedule, Slot
from tests.factories import make_plan, make_schedule
from tests.nights import add_values
from tests.regressions.judged import level, night

# The first night behind twenty quiet ones.
LAST = 20


def slot_of(pairs: Sequence[Pair], seconds: int = 1) -> Campaign:
    """Launch a slot of a schedule on the pairs; its runs are pending."""
    steps = [{"kind": "tcp_stream", "params": {"duration_seconds": seconds}}]
    schedule = make_schedule(target={"pairs": [pair.pk for pair in pairs]}, plan=make_plan(steps=steps))
    return next_slot(schedule, pairs, LAST)


def next_slot(schedule: Schedule, pairs: Sequence[Pair], number: int) -> Campaign:
    """Launch another slot of a schedule on some of its pairs."""
    campaign = launch(plan=schedule.plan, pairs=pairs, user=None)
    Slot.objects.create(schedule=schedule, at=night(number), claimed_at=timezone.now(), campaign=campaign)
    return campaign


def end(campaign: Campaign, factors: Mapping[Pair, float], number: int, *, disturbed: Sequence[Pair] = ()) -> None:
    """End a campaign's runs as measured: each pair at a share of the usual level, some disturbed; and judge them."""
    for run in campaign.runs.order_by("pk"):
        at = night(number)
        Run.objects.filter(pk=run.pk).update(state="finished", started_at=at, finished_at=at + timedelta(minutes=1))
        run.trials.all().delete()
        add_values(run, run.pair, at, level(number, factors.get(run.pair, 1.0)))
        if run.pair in disturbed:
            Result.objects.create(trial=run.trials.get(), metrics={}, flags=["background_cpu"], document={})
    write_figures()
    for run in campaign.runs.order_by("pk"):
        judge_run(run.pk)


def judged_in_turn(campaign: Campaign, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs in the order in which `end` judges their runs."""
    return [run.pair for run in campaign.runs.order_by("pk") if run.pair in pairs]
