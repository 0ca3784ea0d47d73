"""A real worker and real engines: one dies, hangs or is not the one that was meant; a database that is away."""

import os
import signal
import subprocess
from collections.abc import Callable

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from benchweb.results.models import Result
from benchweb.runs.models import State
from benchweb.runs.services import run_cancel
from tests.processes import Engine, killed
from tests.workers.runs.real_runs import ended, long_run, pair_of, running_trial, wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("victim", [0, 1], ids=["source", "sink"])
def test_an_engine_killed_in_a_trial_fails_the_run_with_the_reason_and_keeps_what_was_measured(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine], victim: int
) -> None:
    worker()
    run = long_run(pair_of(*engine_pair), repetitions=3)
    running_trial(run, 2)
    killed(engine_pair[victim].process)
    ended(run)
    assert run.state == State.FAILED
    assert ("alpha", "beta")[victim] in run.trials.exclude(reason="").order_by("-index")[0].reason
    assert run.trials.get(index=1).result.metrics["throughput_bps"] > 0
    assert run.trials.get(index=2).state == State.FAILED
    assert run.trials.get(index=3).state in {State.NONSTART, State.FAILED}


def test_an_engine_that_hangs_in_a_trial_fails_it_in_time(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    worker()
    run = long_run(pair_of(*engine_pair), repetitions=2)
    running_trial(run, 1)
    os.kill(engine_pair[0].process.pid, signal.SIGSTOP)
    try:
        ended(run)
    finally:
        os.kill(engine_pair[0].process.pid, signal.SIGCONT)
    assert run.state == State.FAILED
    assert "The engine of alpha" in run.reason


def test_a_run_with_a_wrong_token_does_not_start_and_says_where_to_enter_the_right_one(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    worker()
    run = ended(long_run(pair_of(*engine_pair, token="wrong")))
    assert run.state == State.NONSTART
    assert "refused the token: enter the token" in run.reason


def test_a_run_with_a_wrong_fingerprint_does_not_start_and_says_what_that_may_mean(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    worker()
    run = ended(long_run(pair_of(*engine_pair, fingerprint="sha256:" + "0" * 64)))
    assert run.state == State.NONSTART
    assert "another certificate than the pinned one" in run.reason


def test_a_database_that_cannot_store_for_a_while_loses_no_result(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    worker()
    # Before the first trial begins: it takes a second, which a busy machine needs to notice it.
    with connection.cursor() as cursor:
        cursor.execute(
            # What a sequence counts stays counted when its transaction fails.
            "CREATE SEQUENCE refusals; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM nextval('refusals');"
            "RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;"
            "CREATE TRIGGER full_disk BEFORE INSERT ON results_result FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    run = long_run(pair_of(*engine_pair), seconds=1, repetitions=2)
    wait_for(lambda: refusals() > 1, "a second refusal of the first result")
    assert Result.objects.count() == 0
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER full_disk ON results_result; DROP FUNCTION refuse; DROP SEQUENCE refusals")
    assert ended(run).state == State.FINISHED
    assert Result.objects.filter(trial__run=run).count() == 2


def refusals() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM refusals")
        return int(cursor.fetchone()[0])


def test_a_worker_holds_no_database_connection_while_it_waits_on_an_engine(
    worker: Callable[[], "subprocess.Popen[bytes]"],
    engine_pair: tuple[Engine, Engine],
    environment_of_test: dict[str, str],
) -> None:
    worker()
    run = long_run(pair_of(*engine_pair), seconds=600, repetitions=1)
    running_trial(run, 1)
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND backend_type = 'client backend' AND state <> 'idle'"
    )
    # The heartbeat and the tick borrow one now and then; the waiting run has none all the time, not even an open
    # transaction.
    with psycopg.connect(environment_of_test["BENCHWEB_DATABASE_URL"], autocommit=True) as other:
        wait_for(lambda: other.execute(query).fetchone() == (0,), "a moment without any connection at work")
    assert run.trials.get().state == State.RUNNING
    assert run_cancel(run=run)
    assert ended(run).state == State.CANCELLED
    assert settings.DATABASES["default"]["CONN_MAX_AGE"] == 0
