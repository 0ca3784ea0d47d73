"""Runs that are judged at once by several workers are judged once each; what people do meanwhile is kept."""

import threading

import pytest
from django.db import connection, transaction
from django.utils import timezone

from benchweb.hosts.models import Pair
from benchweb.hosts.services import pair_create
from benchweb.regressions import transitions
from benchweb.regressions.judge import judge_run
from benchweb.regressions.judging.grouping import describe
from benchweb.regressions.judging.parts import join_alert
from benchweb.regressions.judging.slots import regroup_slot
from benchweb.regressions.models import Alert, AlertSeries, RunJudgement
from benchweb.results.models import Series
from benchweb.results.run_summaries import write_figures
from benchweb.runs.models import Run
from tests.databases import is_somebody_waiting
from tests.factories import make_alert, make_endpoint, make_environment, make_pair, make_user
from tests.nights import add_values
from tests.regressions.judged import night, quiet, run_of
from tests.regressions.slots import slot_of

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


@pytest.mark.django_db(transaction=True)
def test_what_somebody_acknowledges_while_its_slot_is_judged_keeps_its_series() -> None:
    source, environment = make_endpoint(), make_environment("raced")
    pairs = [pair_create(source=source, sink=make_endpoint(), environment=environment) for _ in range(2)]
    runs = list(slot_of(pairs).runs.order_by("pk"))
    alerts = [_opened_by(run) for run in runs]
    is_acknowledged, is_over = threading.Event(), threading.Event()

    def acknowledge() -> None:
        with transaction.atomic():
            transitions.acknowledge(alert_id=alerts[1].pk, by=None)
            is_acknowledged.set()
            while not is_over.is_set() and not is_somebody_waiting():
                pass
        connection.close()

    thread = threading.Thread(target=acknowledge)
    thread.start()
    assert is_acknowledged.wait(30)
    try:
        with transaction.atomic():
            regroup_slot(runs[1])
    finally:
        is_over.set()
        thread.join()
    states = Alert.objects.order_by("pk").values_list("state", "series__series__pair")
    assert list(states) == [(State.OPEN, runs[0].pair_id), (State.ACKNOWLEDGED, runs[1].pair_id)]


@pytest.mark.django_db
def test_an_alert_that_joins_another_keeps_what_people_did_since_it_was_read() -> None:
    joining, home, anna = make_alert(), make_alert(), make_user("anna", "secret words")
    transitions.assign(alert_id=joining.pk, assignee=anna, by=None)
    assert join_alert(joining, home)
    joining.refresh_from_db()
    assert (joining.state, joining.merged_into, joining.assignee) == (State.MERGED, home, anna)


@pytest.mark.django_db
@pytest.mark.parametrize("is_home", [False, True])
def test_an_alert_that_somebody_ended_since_it_was_read_neither_joins_nor_is_joined(is_home: bool) -> None:
    joining, home = make_alert(), make_alert()
    transitions.expect(alert_id=(home if is_home else joining).pk, by=None)
    before = list(Alert.objects.order_by("pk").values())
    assert not join_alert(joining, home)
    assert list(Alert.objects.order_by("pk").values()) == before


def _opened_by(run: Run) -> Alert:
    """Return the open alert of a run of a slot that has ended and is judged."""
    Run.objects.filter(pk=run.pk).update(state="finished", started_at=night(0), finished_at=night(0))
    run.trials.all().delete()
    add_values(run, run.pair, night(0), 0.7e9)
    write_figures()
    RunJudgement.objects.create(run=run, queued_at=timezone.now(), judged_at=timezone.now())
    alert = make_alert(pair=Pair.objects.get(pk=run.pair_id))
    Alert.objects.filter(pk=alert.pk).update(kind=Alert.Kind.CHANGE, code="change", environment=run.pair.environment)
    series = Series.objects.get(pair=run.pair_id)
    figures = {"before": 1e9, "after": 0.7e9, "difference_ratio": -0.3, "p": 0.0001}
    AlertSeries.objects.create(alert=alert, series=series, segment_key=f"{series.pk}", first_bad_run=run, **figures)
    describe(alert)
    return alert
