"""Slots of a schedule that are launched, ended as measured, and judged."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from django.utils import timezone

from benchweb.hosts.models import Pair
from benchweb.regressions.judge import judge_run
from benchweb.regressions.judgements import leave_unjudged
from benchweb.results.models import Result
from benchweb.results.run_summaries import write_figures
from benchweb.runs.models import Campaign, Run
from benchweb.runs.services import launch
from benchweb.schedules.models import Schedule, Slot
from tests.factories import make_plan, make_schedule
from tests.nights import add_values, measured
from tests.regressions.judged import NOISE, level, night

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


def quiet_with_losses(pairs: Sequence[Pair], nights: int = LAST) -> None:
    """Measure nights in which nothing happens, streams and datagrams' losses; none is judged."""
    for number in range(nights):
        for pair in pairs:
            run = measured(pair, night(number), level(number))
            _add_packets(run, number, 1.0, loss=0.0)
            _add_round_trips(run, number, 1.0)
            leave_unjudged(run)
    write_figures()


def end_with_losses(
    campaign: Campaign, number: int, *, slow: Mapping[Pair, float], lossy: Collection[Pair], late: Collection[Pair] = ()
) -> None:
    """End a campaign's runs: streams at a share of the usual level, 2 % of datagrams lost, half as many round trips."""
    runs = campaign.runs.order_by("pk")
    for run in runs:
        at = night(number)
        Run.objects.filter(pk=run.pk).update(state="finished", started_at=at, finished_at=at + timedelta(minutes=1))
        run.trials.all().delete()
        factor = slow.get(run.pair, 1.0)
        add_values(run, run.pair, at, level(number, factor))
        _add_packets(run, number, factor, loss=0.02 if run.pair in lossy else 0.0)
        _add_round_trips(run, number, 0.5 if run.pair in late else 1.0)
    write_figures()
    for run in runs:
        judge_run(run.pk)


def _add_packets(run: Run, number: int, factor: float, *, loss: float) -> None:
    at, usual_loss = night(number), abs(NOISE[number % len(NOISE)]) / 100
    add_values(run, run.pair, at, level(number + 1, factor) / 1e4, metric="packets_per_second")
    add_values(run, run.pair, at, loss + usual_loss, kind="udp_stream", metric="loss_ratio")


def _add_round_trips(run: Run, number: int, factor: float) -> None:
    rate = level(number + 2, factor) / 1e5
    add_values(run, run.pair, night(number), rate, kind="tcp_rr", metric="transactions_per_second")


def judged_in_turn(campaign: Campaign, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs in the order in which `end` judges their runs."""
    return [run.pair for run in campaign.runs.order_by("pk") if run.pair in pairs]
