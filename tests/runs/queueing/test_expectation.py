"""When a waiting run is expected to start: computed at the moment of asking, right while the queue moves."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchweb.hosts.models import Endpoint
from benchweb.runs.execution import run_end
from benchweb.runs.models import Run, State
from benchweb.runs.queueing import expectation as module
from benchweb.runs.queueing.expectation import Expectation, expectation
from benchweb.runs.queueing.occupancy import occupancy
from tests.factories import begun, make_endpoint, make_pair, make_run

pytestmark = pytest.mark.django_db
PING = [{"kind": "ping", "params": {"count": 2}}]


def expected(run: Run) -> Expectation:
    found = expectation(Run.objects.select_related("pair").get(pk=run.pk))
    assert found is not None
    return found


def seconds_until_start(run: Run) -> float:
    starts_at = expected(run).starts_at
    assert starts_at is not None
    return (starts_at - timezone.now()).total_seconds()


def test_a_run_on_idle_hosts_is_next_and_starts_now() -> None:
    run = make_run()
    found = expected(run)
    assert (found.ahead, found.running, found.is_rough, found.silent_ends) == (0, [], False, ())
    assert seconds_until_start(run) == pytest.approx(0, abs=2)


def test_each_run_at_a_shared_host_waits_for_those_ahead_and_moves_up_when_one_ends() -> None:
    shared = make_endpoint()
    runs = [make_run(pair=make_pair(sink=shared)) for _ in range(3)]
    length = occupancy(runs[0].plan_version_id).seconds
    assert [expected(run).ahead for run in runs] == [0, 1, 2]
    assert [seconds_until_start(run) for run in runs] == pytest.approx([0, length, 2 * length], abs=2)
    begun(runs[0], "w")
    assert [(expected(run).ahead, expected(run).running) for run in runs[1:]] == [(0, [runs[0].pk]), (1, [runs[0].pk])]
    run_end(run_id=runs[0].pk, owner="w")
    assert expected(runs[1]).running == []
    assert [seconds_until_start(run) for run in runs[1:]] == pytest.approx([0, length], abs=2)
    found = expected(runs[2])
    assert found.starts_at and found.ends_at
    assert (found.ends_at - found.starts_at).total_seconds() == pytest.approx(length)


def test_a_run_elsewhere_does_not_wait_for_the_queue_of_others() -> None:
    shared = make_endpoint()
    for _ in range(3):
        make_run(pair=make_pair(sink=shared))
    assert seconds_until_start(make_run()) == pytest.approx(0, abs=2)


def test_runs_count_with_what_their_version_usually_takes() -> None:
    shared = make_endpoint()
    first = make_run(pair=make_pair(sink=shared))
    second = make_run(pair=make_pair(sink=shared))
    Run.objects.filter(pk=second.pk).update(plan_version=first.plan_version)
    length = occupancy(first.plan_version_id).seconds
    now = timezone.now()
    for took in (0.4, 0.5, 0.6):
        past = make_run()
        times = {"started_at": now, "finished_at": now + timedelta(seconds=took * length)}
        Run.objects.filter(pk=past.pk).update(plan_version=first.plan_version, state=State.FINISHED, **times)
    assert seconds_until_start(second) == pytest.approx(0.5 * length, abs=0.4 * length)


def test_runs_that_usually_drain_beyond_their_slots_count_with_that_waiting_and_running() -> None:
    shared = make_endpoint()
    runs = [make_run(pair=make_pair(sink=shared)) for _ in range(3)]
    version = runs[0].plan_version
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(plan_version=version)
    # A quarter of it is the slot, the rest the drain.
    took = 4 * occupancy(version.pk).seconds
    now = timezone.now()
    times = {"started_at": now, "finished_at": now + timedelta(seconds=took)}
    Run.objects.filter(pk=make_run().pk).update(plan_version=version, state=State.FINISHED, **times)
    assert [seconds_until_start(run) for run in runs[1:]] == pytest.approx([took, 2 * took], abs=2)
    begun(runs[0], "w")
    Run.objects.filter(pk=runs[0].pk).update(started_at=timezone.now() - timedelta(seconds=took / 2))
    assert [seconds_until_start(run) for run in runs[1:]] == pytest.approx([took / 2, 1.5 * took], abs=2)


def test_a_run_that_is_tried_again_later_starts_no_earlier_than_that() -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(not_before=timezone.now() + timedelta(minutes=5))
    assert seconds_until_start(run) == pytest.approx(300, abs=5)


def test_a_run_whose_end_is_silent_has_no_start_and_says_which_end() -> None:
    run = make_run()
    later = timezone.now() + timedelta(hours=1)
    Run.objects.filter(pk=run.pk).update(planned_at=later)
    run.reservations.update(planned_at=later)
    Endpoint.objects.filter(pk=run.pair.sink_id).update(unreachable_since=timezone.now())
    found = expected(run)
    assert (found.starts_at, found.ends_at, found.silent_ends) == (None, None, (run.pair.sink_id,))


def test_a_run_of_background_trials_stands_in_no_queue() -> None:
    pair = make_pair()
    make_run(pair=pair)
    run = make_run(pair=pair, steps=PING)
    assert seconds_until_start(run) == pytest.approx(0, abs=2)


def test_of_too_many_ahead_the_busiest_hosts_work_is_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_PLAYED", 2)
    shared = make_endpoint()
    runs = [make_run(pair=make_pair(sink=shared)) for _ in range(4)]
    length = occupancy(runs[0].plan_version_id).seconds
    assert expected(runs[3]).is_rough
    assert seconds_until_start(runs[3]) == pytest.approx(3 * length, abs=2)


def test_what_is_no_longer_pending_has_no_expectation() -> None:
    run = make_run()
    begun(run, "w")
    run.refresh_from_db()
    assert expectation(run) is None
