"""Runs of several sources to one sink on real engines: they start together, and one that dies costs its own alone."""

import subprocess
from collections.abc import Callable
from datetime import datetime
from itertools import groupby

import pytest

from benchweb.hosts.models import Pair
from benchweb.results.ingest import SINK_STARTED_AT
from benchweb.results.models import Result, Series
from benchweb.runs.models import Campaign, Reservation, Run, State, Trial
from benchweb.runs.services import campaign_cancel, launch, run_cancel
from tests.factories import make_pair, make_plan
from tests.processes import Engine, killed
from tests.workers.runs.real_runs import ended, pair_of, running_trial, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
SECONDS = 0.6
# Sessions of one machine: what is between them is a thread's turn.
MOST_APART_SECONDS = 0.5


def sources_of(engine: Callable[..., Engine], count: int) -> tuple[list[Pair], list[Engine]]:
    """Return a pair for each of some source engines, all with one sink."""
    engines = [engine(f"source-{number}") for number in range(count)]
    first = pair_of(engines[0], engine("sink"), names=("source-0", "sink"))
    others = [
        make_pair(source=pair_of(each, each, names=(f"source-{number}", f"unused-{number}")).source, sink=first.sink)
        for number, each in enumerate(engines[1:], 1)
    ]
    return [first, *others], engines


def launched(pairs: list[Pair], *, repetitions: int = 2, seconds: float = SECONDS) -> Campaign:
    steps = [{"kind": "tcp_stream", "params": {"duration_seconds": seconds, "report_interval_seconds": 0.1}}]
    plan = make_plan(steps=steps, repetitions=repetitions)
    return launch(plan=plan, pairs=pairs, user=None, arrangement="together")


def begins(campaign: Campaign) -> dict[int, list[datetime]]:
    """Return when the sink's sessions of each trial began, by the trial's index."""
    results = Result.objects.filter(trial__run__campaign=campaign).select_related("trial").order_by("trial__index")
    return {
        index: [datetime.fromisoformat(each.document[SINK_STARTED_AT]) for each in of_index]
        for index, of_index in groupby(results, key=lambda result: result.trial.index)
    }


def test_three_sources_start_each_trial_together_and_have_series_of_their_own(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine: Callable[..., Engine]
) -> None:
    worker()
    pairs, _engines = sources_of(engine, 3)
    campaign = launched(pairs)
    runs = list(campaign.runs.order_by("pk"))
    assert [(ended(run).state, run.reason) for run in runs] == [(State.FINISHED, "")] * 3
    apart = {index: (max(times) - min(times)).total_seconds() for index, times in begins(campaign).items()}
    assert set(apart) == {1, 2}
    assert max(apart.values()) < MOST_APART_SECONDS
    # The first held the hosts of all.
    assert {each.run_id for each in Reservation.objects.all()} == {runs[0].pk}
    assert set(Trial.objects.values_list("params__sources", flat=True)) == {3}
    series = Series.objects.filter(metric="throughput_bps")
    assert [each.identity for each in series] == [{"sources": 3}] * 3


def test_a_source_that_dies_costs_its_own_trials_alone(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine: Callable[..., Engine]
) -> None:
    worker()
    pairs, engines = sources_of(engine, 3)
    campaign = launched(pairs, seconds=3)
    leader, dying, other = campaign.runs.order_by("pk")
    running_trial(dying, 1)
    killed(engines[1].process)
    assert ended(dying).state == State.FAILED
    for run in (leader, other):
        assert (ended(run).state, run.reason) == (State.FINISHED, "")
        assert run.trials.filter(state=State.FINISHED).count() == 2
    # The first trial was begun by three, the second by those that are left.
    assert sorted(other.trials.values_list("index", "params__sources")) == [(1, 3), (2, 2)]


def test_the_leader_may_die_and_the_others_keep_their_hosts(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine: Callable[..., Engine]
) -> None:
    worker()
    pairs, engines = sources_of(engine, 2)
    campaign = launched(pairs, seconds=3)
    leader, other = campaign.runs.order_by("pk")
    running_trial(leader, 1)
    killed(engines[0].process)
    assert (ended(other).state, other.reason) == (State.FINISHED, "")
    assert ended(leader).state == State.FAILED
    # It had nothing to do any more, and held the hosts of both.
    assert leader.finished_at is not None and other.finished_at is not None
    assert leader.finished_at >= other.finished_at


def test_the_next_worker_goes_on_with_all_of_them(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine: Callable[..., Engine]
) -> None:
    first = worker()
    pairs, _engines = sources_of(engine, 3)
    campaign = launched(pairs, seconds=2, repetitions=3)
    runs = list(campaign.runs.order_by("pk"))
    running_trial(runs[0], 2)
    killed(first)
    worker()
    assert [(ended(run).state, run.reason) for run in runs] == [(State.FINISHED, "")] * 3
    times = begins(campaign)
    assert (max(times[3]) - min(times[3])).total_seconds() < MOST_APART_SECONDS


def test_all_wait_for_a_source_that_cannot_be_reached_and_none_starts_alone(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine: Callable[..., Engine]
) -> None:
    worker()
    pairs, engines = sources_of(engine, 2)
    killed(engines[1].process)
    campaign = launched(pairs)
    for run in campaign.runs.all():
        assert ended(run).state == State.NONSTART
        assert "source-1" in run.reason
    assert not Result.objects.exists()


def test_they_are_cancelled_alone_while_they_run_and_together_before(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine: Callable[..., Engine]
) -> None:
    pairs, _engines = sources_of(engine, 2)
    waiting = launched(pairs)
    assert run_cancel(run=waiting.runs.order_by("pk")[1])
    assert {run.state for run in waiting.runs.all()} == {State.CANCELLED}
    worker()
    campaign = launched(pairs, seconds=3)
    leader, other = campaign.runs.order_by("pk")
    running_trial(other, 1)
    assert run_cancel(run=other)
    assert ended(other).state == State.CANCELLED
    wait_for(lambda: Run.objects.get(pk=leader.pk).trials.filter(index=2).exclude(state="pending").exists(), "trial 2")
    campaign_cancel(campaign=campaign)
    assert ended(leader).state == State.CANCELLED
