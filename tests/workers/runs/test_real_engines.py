"""A real Celery worker and two real engines: runs that end, whichever worker goes away."""

import subprocess
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from django.utils import timezone

from benchweb.hosts.models import Pair
from benchweb.results.models import Point, Result
from benchweb.runs.execution import trial_start
from benchweb.runs.models import State, Trial
from benchweb.runs.services import campaign_cancel, launch, run_cancel
from tests.factories import SIZES, begun, make_pair, make_plan, make_run
from tests.processes import Engine, killed, stopped
from tests.workers.runs.real_runs import children, ended, long_run, pair_of, running_trial, wait_for
from workers.engines.connections import shared_client
from workers.engines.ends import Ends
from workers.engines.paths import EnginePath, Paths
from workers.runs import sessions
from workers.runs import trial as trials
from workers.runs.leases import Lease

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.begun_first]


def test_the_contracts_plan_ends_finished_with_twelve_trials_and_their_metrics(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    worker()
    steps = [{"kind": step["kind"], "params": {**step["params"], "duration_seconds": 0.3}} for step in SIZES]
    run = ended(make_run(pair=pair_of(*engine_pair), steps=steps, repetitions=3))
    assert (run.state, run.reason) == (State.FINISHED, "")
    results = list(Result.objects.filter(trial__run=run).select_related("trial"))
    assert len(results) == 12
    for result in results:
        headline = "throughput_bps" if result.trial.kind == "tcp_stream" else "transactions_per_second"
        assert result.metrics[headline] > 0
        assert "same_host" in result.flags
    assert Point.objects.filter(run=run, series__metric="throughput_bps").count() == 9


def test_a_stream_of_each_send_mode_is_a_series_of_its_own_and_tells_what_the_kernel_copied(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    worker()
    modes = ["send", "sendfile", "zerocopy"]
    steps = [{"kind": "tcp_stream", "params": {"send_mode": mode, "duration_seconds": 0.3}} for mode in modes]
    run = ended(make_run(pair=pair_of(*engine_pair), steps=steps))
    assert (run.state, run.reason) == (State.FINISHED, "")
    results = list(Result.objects.filter(trial__run=run).select_related("trial").order_by("trial__index"))
    assert [result.trial.params["send_mode"] for result in results] == modes
    assert all(result.metrics["throughput_bps"] > 0 for result in results)
    # The sink is on the same machine: the kernel copies what was to be sent from its pages.
    assert ["zerocopy_copied" in result.flags for result in results] == [False, False, True]
    assert Point.objects.filter(run=run, series__metric="throughput_bps").values("series").distinct().count() == 3


def test_a_trial_that_outlasts_the_engines_watchdog_is_measured_whole(
    engine_pair: tuple[Engine, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The minute of the watchdog in short: nobody but its controller tells the sink that there still is one.
    monkeypatch.setattr(trials, "LEASE_SECONDS", 2.0)
    monkeypatch.setattr(sessions, "RENEWAL_SECONDS", 0.4)
    pair = pair_of(*engine_pair)
    run = long_run(pair, seconds=6, repetitions=1)
    begun(run, "w")
    trial = run.trials.get()
    assert trial_start(trial=trial, owner="w")
    with shared_client(pair.source) as source, shared_client(pair.sink) as sink:
        ends = Ends(source, sink, Paths([EnginePath("", "127.0.0.1")]), sink.about().data_port)
        trials.run_trial(trial=trial, ends=ends, lease=Lease("w", run.pk))
    trial.refresh_from_db()
    assert (trial.state, trial.reason) == (State.FINISHED, "")


def test_a_plan_repeats_until_it_is_sure_and_says_loudly_when_it_is_not(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    worker()
    steps = [
        # Paced far below what any host can do, and longer than a busy one stands still: about the same rate each time.
        {"kind": "tcp_stream", "params": {"duration_seconds": 0.8, "rate_bps": 80_000_000}},
        {"kind": "tcp_rr", "params": {"duration_seconds": 0.1}},
    ]
    pair = pair_of(*engine_pair)
    wide = {"level_percent": 50, "width_percent": 100, "max_repetitions": 4}
    narrow = {"level_percent": 95, "width_percent": 1e-6, "max_repetitions": 4}
    sure = ended(make_run(pair=pair, steps=steps[:1], repetitions=3, confidence=wide))
    assert (sure.state, sure.reason, sure.trials.count()) == (State.FINISHED, "", 3)
    unsure = ended(make_run(pair=pair, steps=steps[1:], repetitions=2, confidence=narrow))
    assert unsure.state == State.FINISHED
    assert unsure.reason.startswith("The confidence asked for was NOT reached: a 95 % interval")
    assert list(unsure.trials.values_list("index", "repetition", "state")) == [
        (number, number, State.FINISHED) for number in range(1, 5)
    ]
    assert unsure.events.filter(text__startswith="Repeated once more: one combination's interval").count() == 2


def test_a_worker_killed_in_the_middle_is_followed_by_the_next_and_every_trial_is_measured_once(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    first = worker()
    run = long_run(pair_of(*engine_pair))
    running_trial(run, 2)
    session = run.trials.get(index=2).session
    killed(first)
    worker()
    ended(run)
    assert (run.state, run.reason) == (State.FINISHED, "")
    assert set(run.trials.values_list("state", flat=True)) == {State.FINISHED}
    assert Result.objects.filter(trial__run=run).count() == 4
    assert Point.objects.filter(run=run, series__metric="throughput_bps").count() == 4
    assert run.trials.get(index=2).session == session
    assert run.events.filter(text__contains="another worker goes on").count() == 1


def test_a_worker_that_is_stopped_hands_its_run_to_the_next_at_once_and_every_trial_is_measured_once(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    workers = {process.pid: process for process in (worker(), worker())}
    run = long_run(pair_of(*engine_pair), seconds=1.5)
    running_trial(run, 2)
    session = run.trials.get(index=2).session
    run.refresh_from_db()
    holder = workers[int(run.lease_owner.split(":")[1])]
    stopped_at = timezone.now()
    stopped(holder, patience_seconds=10)
    assert holder.returncode == 0
    ended(run)
    assert (run.state, run.reason) == (State.FINISHED, "")
    assert set(run.trials.values_list("state", flat=True)) == {State.FINISHED}
    assert Result.objects.filter(trial__run=run).count() == 4
    assert run.trials.get(index=2).session == session
    taken_over = run.events.get(text__contains="another worker goes on")
    # A lease that had to run out would have taken 6 s.
    assert (taken_over.at - stopped_at).total_seconds() < 4


def test_two_workers_share_two_pairs_of_one_host_without_an_overlap(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    worker(), worker()
    pair = pair_of(*engine_pair)
    back = make_pair(source=pair.sink, sink=pair.source)
    runs = [long_run(each, seconds=0.5, repetitions=2) for each in (pair, back, pair)]
    for run in runs:
        assert ended(run).state == State.FINISHED
    spans = sorted((run.started_at, run.finished_at) for run in runs if run.started_at and run.finished_at)
    assert len(spans) == 3
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_a_cancelled_run_stops_both_engines_within_a_second(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    worker()
    pair = pair_of(*engine_pair)
    # A busy machine makes a try longer; none is shorter than it can be.
    assert any(seconds_to_stop(pair, engine_pair) < 1.0 for _ in range(5))


def seconds_to_stop(pair: Pair, engines: Sequence[Engine]) -> float:
    run = long_run(pair, seconds=30)
    running_trial(run, 1)
    assert all(map(children, engines))
    assert run_cancel(run=run)
    took = wait_for(lambda: not any(map(children, engines)), "the end of both ends' processes")
    assert ended(run).state == State.CANCELLED
    assert set(run.trials.values_list("state", flat=True)) == {State.CANCELLED}
    return took


def test_a_cancelled_campaign_stops_every_engine_at_once_and_stays_cancelled(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine: Callable[..., Engine]
) -> None:
    engines = [engine(f"engine-{number}") for number in range(4)]
    pairs = [pair_of(*engines[:2]), pair_of(*engines[2:], names=("gamma", "delta"))]
    # Two run, and of each host's two more wait.
    pairs += [make_pair(source=pair.source, sink=pair.sink, environment=str(n)) for pair in pairs for n in (1, 2)]
    steps = [{"kind": "tcp_stream", "params": {"duration_seconds": 600, "rate_bps": 8_000_000}}]
    plan = make_plan(steps=steps, repetitions=2)
    # Before a worker checks the engines and finds that all are on one machine, where one run would wait for the other.
    campaign = launch(plan=plan, pairs=pairs, user=None)
    worker()
    wait_for(lambda: all(map(children, engines)), "the start of both runs")
    assert campaign_cancel(campaign=campaign) == 6
    # Each trial alone would have gone on for longer than this waits.
    wait_for(lambda: not any(map(children, engines)), "the end of all engines' processes")
    runs = list(campaign.runs.order_by("pk"))
    assert {ended(run).state for run in runs} == {State.CANCELLED}
    time.sleep(1)
    assert set(campaign.runs.values_list("state", flat=True)) == {State.CANCELLED}
    assert set(Trial.objects.filter(run__campaign=campaign).values_list("state", flat=True)) == {State.CANCELLED}
    assert not any(map(children, engines))
