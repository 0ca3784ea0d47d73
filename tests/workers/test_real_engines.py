"""A real Celery worker and two real engines: runs that end, whatever is killed on the way."""

import os
import signal
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from benchweb.hosts.models import Endpoint, Pair
from benchweb.results.models import Point, Result
from benchweb.runs.models import OPEN_STATES, Run, State, Trial
from benchweb.runs.services import campaign_cancel, launch, run_cancel
from tests.factories import SIZES, make_endpoint, make_pair, make_plan, make_run
from tests.processes import Engine, killed, stopped

pytestmark = pytest.mark.django_db(transaction=True)


def pair_of(source: Engine, sink: Engine, **fields: str) -> Pair:
    def endpoint(name: str, engine: Engine) -> Endpoint:
        values = {"token": engine.token, "fingerprint": engine.fingerprint, "data_address": "127.0.0.1"} | fields
        return make_endpoint(host_name=name, control_address=engine.control, **values)

    return make_pair(source=endpoint("alpha", source), sink=endpoint("beta", sink))


def long_run(pair: Pair, seconds: float = 2, repetitions: int = 4) -> Run:
    return make_run(
        pair=pair, repetitions=repetitions, steps=[{"kind": "tcp_rr", "params": {"duration_seconds": seconds}}]
    )


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> float:
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, f"{what} did not come within {seconds} s"
        time.sleep(0.02)
    return time.monotonic() - started


def ended(run: Run, seconds: float) -> Run:
    def is_final() -> bool:
        run.refresh_from_db()
        return run.state not in OPEN_STATES

    wait_for(is_final, seconds, f"the end of run {run.pk} ({run.state})")
    return run


def running_trial(run: Run, index: int) -> None:
    wait_for(lambda: run.trials.filter(index=index, state=State.RUNNING).exists(), 20, f"trial {index} of run {run.pk}")
    time.sleep(0.5)


def test_the_contracts_plan_ends_finished_with_twelve_trials_and_their_metrics(worker, engine_pair):
    worker()
    run = ended(make_run(pair=pair_of(*engine_pair), steps=SIZES, repetitions=3), 60)
    assert (run.state, run.reason) == (State.FINISHED, "")
    results = list(Result.objects.filter(trial__run=run).select_related("trial"))
    assert len(results) == 12
    for result in results:
        headline = "throughput_bps" if result.trial.kind == "tcp_stream" else "transactions_per_second"
        assert result.metrics[headline] > 0
        assert "same_host" in result.flags
    assert Point.objects.filter(run=run, series__metric="throughput_bps").count() == 9


def test_a_plan_repeats_until_it_is_sure_and_says_loudly_when_it_is_not(worker, engine_pair):
    worker()
    steps = [
        # Paced far below what any host can do: the same rate each time.
        {"kind": "tcp_stream", "params": {"duration_seconds": 0.3, "rate_bps": 80_000_000}},
        {"kind": "tcp_rr", "params": {"duration_seconds": 0.1}},
    ]
    pair = pair_of(*engine_pair)
    wide, narrow = ({"level_percent": 95, "width_percent": width, "max_repetitions": 4} for width in (50, 1e-6))
    sure = ended(make_run(pair=pair, steps=steps[:1], repetitions=3, confidence=wide), 30)
    assert (sure.state, sure.reason, sure.trials.count()) == (State.FINISHED, "", 3)
    unsure = ended(make_run(pair=pair, steps=steps[1:], repetitions=2, confidence=narrow), 30)
    assert unsure.state == State.FINISHED
    assert unsure.reason.startswith("The confidence asked for was NOT reached: a 95 % interval")
    assert list(unsure.trials.values_list("index", "repetition", "state")) == [
        (number, number, State.FINISHED) for number in range(1, 5)
    ]
    assert unsure.events.filter(text__startswith="Repeated once more: one combination's interval").count() == 2


def test_a_worker_killed_in_the_middle_is_followed_by_the_next_and_every_trial_is_measured_once(worker, engine_pair):
    first = worker()
    run = long_run(pair_of(*engine_pair))
    running_trial(run, 2)
    session = run.trials.get(index=2).session
    killed(first)
    worker()
    ended(run, 60)
    assert (run.state, run.reason) == (State.FINISHED, "")
    assert set(run.trials.values_list("state", flat=True)) == {State.FINISHED}
    assert Result.objects.filter(trial__run=run).count() == 4
    assert Point.objects.filter(run=run, series__metric="transactions_per_second").count() == 4
    assert run.trials.get(index=2).session == session
    assert run.events.filter(text__contains="another worker goes on").count() == 1


def test_a_worker_that_is_stopped_hands_its_run_to_the_next_at_once_and_every_trial_is_measured_once(
    worker, engine_pair
):
    workers = {process.pid: process for process in (worker(), worker())}
    run = long_run(pair_of(*engine_pair), seconds=1.5)
    running_trial(run, 2)
    session = run.trials.get(index=2).session
    run.refresh_from_db()
    holder = workers[int(run.lease_owner.split(":")[1])]
    stopped_at = timezone.now()
    stopped(holder, patience_seconds=10)
    assert holder.returncode == 0
    ended(run, 60)
    assert (run.state, run.reason) == (State.FINISHED, "")
    assert set(run.trials.values_list("state", flat=True)) == {State.FINISHED}
    assert Result.objects.filter(trial__run=run).count() == 4
    assert run.trials.get(index=2).session == session
    taken_over = run.events.get(text__contains="another worker goes on")
    # A lease that had to run out would have taken 6 s.
    assert (taken_over.at - stopped_at).total_seconds() < 4


def test_two_workers_share_two_pairs_of_one_host_without_an_overlap(worker, engine_pair):
    worker(), worker()
    pair = pair_of(*engine_pair)
    back = make_pair(source=pair.sink, sink=pair.source)
    runs = [long_run(each, seconds=0.5, repetitions=2) for each in (pair, back, pair)]
    for run in runs:
        assert ended(run, 60).state == State.FINISHED
    spans = sorted((run.started_at, run.finished_at) for run in runs)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_a_cancelled_run_stops_both_engines_within_a_second(worker, engine_pair):
    worker()
    run = long_run(pair_of(*engine_pair), seconds=30)
    running_trial(run, 1)
    assert all(map(children, engine_pair))
    assert run_cancel(run=run)
    assert wait_for(lambda: not any(map(children, engine_pair)), 5, "the end of both ends' processes") < 1.0
    assert ended(run, 5).state == State.CANCELLED
    assert set(run.trials.values_list("state", flat=True)) == {State.CANCELLED}


def test_a_cancelled_campaign_stops_every_engine_at_once_and_stays_cancelled(worker, engine):
    engines = [engine(f"engine-{number}") for number in range(4)]
    worker()
    pairs = [pair_of(*engines[:2]), pair_of(*engines[2:])]
    # Two run, and of each host's two more wait.
    pairs += [make_pair(source=pair.source, sink=pair.sink, environment=str(n)) for pair in pairs for n in (1, 2)]
    plan = make_plan(steps=[{"kind": "tcp_rr", "params": {"duration_seconds": 30}}], repetitions=2)
    campaign = launch(plan=plan, pairs=pairs, user=None)
    wait_for(lambda: all(map(children, engines)), 30, "the start of both runs")
    assert campaign_cancel(campaign=campaign) == 6
    assert wait_for(lambda: not any(map(children, engines)), 10, "the end of all engines' processes") < 2.0
    runs = list(campaign.runs.order_by("pk"))
    assert {ended(run, 10).state for run in runs} == {State.CANCELLED}
    time.sleep(1)
    assert set(campaign.runs.values_list("state", flat=True)) == {State.CANCELLED}
    assert set(Trial.objects.filter(run__campaign=campaign).values_list("state", flat=True)) == {State.CANCELLED}
    assert not any(map(children, engines))


def children(engine: Engine) -> list[str]:
    # Each under the thread that started it.
    tasks = Path(f"/proc/{engine.process.pid}/task").glob("*/children")
    return [child for task in tasks for child in task.read_text().split()]


@pytest.mark.parametrize("victim", [0, 1], ids=["source", "sink"])
def test_an_engine_killed_in_a_trial_fails_the_run_with_the_reason_and_keeps_what_was_measured(
    worker, engine_pair, victim
):
    worker()
    run = long_run(pair_of(*engine_pair), repetitions=3)
    running_trial(run, 2)
    killed(engine_pair[victim].process)
    ended(run, 40)
    assert run.state == State.FAILED
    assert ("alpha", "beta")[victim] in run.trials.exclude(reason="").order_by("-index")[0].reason
    assert run.trials.get(index=1).result.metrics["transactions_per_second"] > 0
    assert run.trials.get(index=2).state == State.FAILED
    assert run.trials.get(index=3).state in {State.NONSTART, State.FAILED}


def test_an_engine_that_hangs_in_a_trial_fails_it_in_time(worker, engine_pair):
    worker()
    run = long_run(pair_of(*engine_pair), repetitions=2)
    running_trial(run, 1)
    os.kill(engine_pair[0].process.pid, signal.SIGSTOP)
    try:
        ended(run, 60)
    finally:
        os.kill(engine_pair[0].process.pid, signal.SIGCONT)
    assert run.state == State.FAILED
    assert "The engine of alpha" in run.reason


def test_a_run_with_a_wrong_token_does_not_start_and_says_where_to_enter_the_right_one(worker, engine_pair):
    worker()
    run = ended(long_run(pair_of(*engine_pair, token="wrong")), 20)
    assert run.state == State.NONSTART
    assert "refused the token: enter the token" in run.reason


def test_a_run_with_a_wrong_fingerprint_does_not_start_and_says_what_that_may_mean(worker, engine_pair):
    worker()
    run = ended(long_run(pair_of(*engine_pair, fingerprint="sha256:" + "0" * 64)), 20)
    assert run.state == State.NONSTART
    assert "another certificate than the pinned one" in run.reason


def test_a_database_that_cannot_store_for_a_while_loses_no_result(worker, engine_pair):
    worker()
    run = long_run(pair_of(*engine_pair), seconds=1, repetitions=2)
    running_trial(run, 1)
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;"
            "CREATE TRIGGER full_disk BEFORE INSERT ON results_result FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    time.sleep(3)
    assert Result.objects.count() == 0
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER full_disk ON results_result; DROP FUNCTION refuse")
    assert ended(run, 30).state == State.FINISHED
    assert Result.objects.filter(trial__run=run).count() == 2


def test_a_worker_holds_no_database_connection_while_it_waits_on_an_engine(worker, engine_pair, environment_of_test):
    worker()
    run = long_run(pair_of(*engine_pair), seconds=5, repetitions=1)
    running_trial(run, 1)
    time.sleep(1)
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND state <> 'idle'"
    )
    with psycopg.connect(environment_of_test["BENCHWEB_DATABASE_URL"]) as other:
        busy = [other.execute(query).fetchone()[0] for _ in range(20) if not time.sleep(0.05)]
    # The heartbeat and the tick borrow one for a moment; the waiting run has none, not even an open transaction.
    assert sorted(busy)[len(busy) // 2] == 0
    assert ended(run, 30).state == State.FINISHED
    assert settings.DATABASES["default"]["CONN_MAX_AGE"] == 0
