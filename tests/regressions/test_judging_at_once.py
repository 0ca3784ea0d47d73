"""Runs that are judged at once by several workers are judged once each, and open one alert."""

import threading

import pytest
from django.db import connection

from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert
from tests.factories import make_pair
from tests.regressions.judged import quiet, run_of

State = Alert.State


@pytest.mark.django_db(transaction=True)
def test_two_workers_that_judge_at_once_make_one_alert() -> None:
    pair = make_pair()
    quiet(pair, series=3)
    runs = [run_of(pair, number, 0.8, series=3) for number in range(20, 26)]
    begin = threading.Barrier(4)
    judgements: list[bool] = []

    def judge(run_id: int) -> None:
        begin.wait()
        judgements.append(judge_run(run_id))
        connection.close()

    threads = [threading.Thread(target=judge, args=[run.pk]) for run in (runs[-1], runs[-1], runs[-2], runs[-2])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(judgements) == [False, False, True, True]
    alert = Alert.objects.get()
    assert (alert.state, alert.series.count()) == (State.OPEN, 3)
    assert [row.to_state for row in alert.transitions.all()] == [State.SUSPECT, State.OPEN]
