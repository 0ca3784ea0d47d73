"""Dispatch: only runs whose turn it is are woken, and the others say what they wait for."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from benchweb.common import celery_client
from benchweb.hosts.models import Endpoint
from benchweb.runs.execution import run_end
from benchweb.runs.models import Reservation, Run, State
from benchweb.runs.queueing import dispatch as module
from benchweb.runs.queueing.claims import claim
from benchweb.runs.queueing.dispatch import EXECUTE_TASK, dispatch, wake
from benchweb.runs.services import launch
from tests.factories import begun, make_endpoint, make_pair, make_plan, make_run

pytestmark = pytest.mark.django_db
PING = [{"kind": "ping", "params": {"count": 2}}]


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    sent: list[int] = []

    def send(task: str, run_ids: list[int]) -> None:
        assert task == EXECUTE_TASK
        sent.extend(run_ids)

    monkeypatch.setattr(celery_client, "send", send)
    # As if each dispatch came long after the last.
    monkeypatch.setattr(module, "LOST_AFTER_SECONDS", 0.0)

    def after(resource_ids: list[int] | None = None, **how: Any) -> list[int]:
        sent.clear()
        dispatch(resource_ids, **how)
        return list(sent)

    return after


def waiting_for(run: Run) -> str:
    run.refresh_from_db()
    return run.waiting_for


def expire(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_of_many_that_wait_for_one_host_only_the_first_is_woken(woken: Callable[..., list[int]]) -> None:
    shared = make_endpoint()
    runs = [make_run(pair=make_pair(sink=shared)) for _ in range(20)]
    assert woken() == [runs[0].pk]
    begun(runs[0], "w")
    assert woken() == []
    run_end(run_id=runs[0].pk, owner="w")
    assert woken() == [runs[1].pk]


def test_a_wake_up_is_sent_again_only_when_it_is_lost_or_came_in_vain(
    woken: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [make_run() for _ in range(2)]
    assert woken() == [run.pk for run in runs]
    monkeypatch.setattr(module, "LOST_AFTER_SECONDS", 60.0)
    assert woken() == []
    module.arrived(runs[0].pk)
    assert woken() == [runs[0].pk]
    monkeypatch.setattr(module, "LOST_AFTER_SECONDS", 0.0)
    assert woken() == [run.pk for run in runs]


def test_what_an_end_makes_due_is_taken_here_if_there_is_room_and_what_the_tick_finds_goes_to_all(
    woken: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    room, taken = 1, []

    def take(run_id: int) -> bool:
        taken.append(run_id)
        return len(taken) <= room

    monkeypatch.setattr(module._waker, "taker", take)
    runs = [make_run() for _ in range(2)]
    resources = [row.resource_id for run in runs for row in run.reservations.all()]
    assert woken(resources, is_after_end=True) == [runs[1].pk]
    assert taken == [run.pk for run in runs]
    assert woken() == woken(resources) == [run.pk for run in runs]
    assert len(taken) == 2


def test_what_a_launch_makes_due_goes_to_all_workers_whoever_launched_it(
    woken: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.setattr(module._waker, "taker", lambda run_id: pytest.fail(f"run {run_id} was taken here"))
    sent: list[int] = []

    def send(task: str, argument: list[int]) -> None:
        if task == EXECUTE_TASK:
            sent.extend(argument)

    monkeypatch.setattr(celery_client, "send", send)
    with django_capture_on_commit_callbacks(execute=True):
        campaign = launch(plan=make_plan(), pairs=[make_pair(), make_pair()], user=None)
    assert sorted(sent) == sorted(campaign.runs.values_list("pk", flat=True))


def test_hundreds_of_wake_ups_go_out_in_few_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[list[int]] = []
    monkeypatch.setattr(celery_client, "send", lambda task, run_ids: messages.append(run_ids))
    module.wake_these(range(1, 401))
    assert [len(each) for each in messages] == [13] * 30 + [10]
    assert [run_id for each in messages for run_id in each] == list(range(1, 401))


def test_a_mesh_of_runs_goes_out_in_messages_enough_for_several_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[list[int]] = []
    monkeypatch.setattr(celery_client, "send", lambda task, run_ids: messages.append(run_ids))
    module.wake_these(range(100))
    module.wake_these([])
    assert [len(each) for each in messages] == [4] * 25


def test_a_scoped_dispatch_wakes_who_waits_for_these_resources_only(woken: Callable[..., list[int]]) -> None:
    first, second = make_run(), make_run()
    resources = list(first.reservations.values_list("resource_id", flat=True))
    assert woken(resources) == [first.pk]
    assert woken() == [first.pk, second.pk]
    assert woken([]) == []


def test_a_mesh_runs_as_many_pairs_at_once_as_it_has_disjoint_ones(woken: Callable[..., list[int]]) -> None:
    ends = [make_endpoint() for _ in range(4)]
    pairs = [make_pair(source=a, sink=b) for a in ends for b in ends if a is not b]
    launch(plan=make_plan(), pairs=pairs, user=None)
    first = woken()
    hosts = [end for run in Run.objects.filter(pk__in=first) for end in (run.pair.source_id, run.pair.sink_id)]
    assert len(hosts) == len(set(hosts)) == 4


def test_the_heads_say_what_they_wait_for_and_their_followers_their_place(woken: Callable[..., list[int]]) -> None:
    shared = make_endpoint(host_name="shared")
    runs = [make_run(pair=make_pair(sink=shared)) for _ in range(6)]
    begun(runs[0], "w")
    # The slot of 2 s is the plan's, whatever margin the reservation has.
    until = timezone.now() + timedelta(seconds=2)
    woken()
    minutes = {f"{at:%H:%M}" for at in (until, until - timedelta(seconds=2))}
    assert waiting_for(runs[1]) in {f"waiting for host shared: run {runs[0].pk} until {at} UTC" for at in minutes}
    assert [waiting_for(run) for run in runs[2:]] == [
        "second in the queue of host shared",
        "third in the queue of host shared",
        "",
        "",
    ]


@pytest.mark.parametrize("is_same_pair", [False, True])
def test_a_run_over_its_time_is_told_so(woken: Callable[..., list[int]], is_same_pair: bool) -> None:
    shared = make_endpoint(host_name="shared")
    pair = make_pair(sink=shared)
    first, second = make_run(pair=pair), make_run(pair=pair if is_same_pair else make_pair(sink=shared))
    begun(first, "w")
    Run.objects.filter(pk=second.pk).update(waiting_for=f"waiting for host shared: run {first.pk} until 00:03 UTC")
    early = timedelta(seconds=30)
    for row in first.reservations.all():
        Reservation.objects.filter(pk=row.pk).update(during=(row.during.lower - early, row.during.upper - early))
    woken()
    assert waiting_for(second).endswith(f": run {first.pk}, which takes longer than planned")


def test_texts_are_written_once_and_not_each_tick(
    woken: Callable[..., list[int]], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    shared = make_endpoint()
    runs = [make_run(pair=make_pair(sink=shared)) for _ in range(3)]
    begun(runs[0], "w")
    woken()
    # Occupied, near, near of the partners, without a queue, silent, names.
    with django_assert_num_queries(6) as caught:
        woken()
    assert not any("UPDATE" in query["sql"] for query in caught.captured_queries)


def test_a_held_run_is_not_woken_until_its_lease_is_out(woken: Callable[..., list[int]]) -> None:
    run = make_run()
    claim(run_id=run.pk, owner="w")
    assert woken() == []
    expire(run)
    assert woken() == [run.pk]
    begun(run, "w2")
    assert woken() == []
    expire(run)
    assert woken() == [run.pk]


def test_a_run_that_is_to_be_tried_again_later_lets_others_pass(woken: Callable[..., list[int]]) -> None:
    shared = make_endpoint()
    first, second = (make_run(pair=make_pair(sink=shared)) for _ in range(2))
    Run.objects.filter(pk=first.pk).update(not_before=timezone.now() + timedelta(minutes=1))
    assert woken() == [second.pk]
    Run.objects.filter(pk=first.pk).update(not_before=timezone.now() - timedelta(seconds=1))
    assert woken() == [first.pk]


def test_a_run_planned_for_later_is_not_tried_while_its_host_does_not_answer(woken: Callable[..., list[int]]) -> None:
    shared = make_endpoint()
    later, other = (make_run(pair=make_pair(sink=shared)) for _ in range(2))
    Endpoint.objects.filter(pk=later.pair.source_id).update(unreachable_since=timezone.now())
    for table in (Run.objects.filter(pk=later.pk), Reservation.objects.filter(run=later)):
        table.update(planned_at=F("planned_at") + timedelta(hours=1))
    assert woken() == [other.pk]
    assert begun(other, "w")
    run_end(run_id=other.pk, owner="w")
    assert woken() == []
    Endpoint.objects.update(unreachable_since=None)
    assert woken() == [later.pk]


def test_a_background_run_stands_in_no_queue_and_starts_beside_an_exclusive_one(
    woken: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchweb.catalog.document import Kind

    pair = make_pair()
    first = make_run(pair=pair)
    begun(first, "w")
    monkeypatch.setattr(Kind, "exclusivity_of", lambda kind, params: "background")
    background = make_run(pair=pair, steps=PING)
    assert (background.reservations.count(), background.planned_at) == (0, None)
    assert woken() == [background.pk]
    assert begun(background, "w2") is not None
    assert woken() == []


def test_the_order_of_the_queue_is_the_planned_one_whatever_was_launched_first(woken: Callable[..., list[int]]) -> None:
    shared = make_endpoint()
    late, early = (make_run(pair=make_pair(sink=shared)) for _ in range(2))
    for table in (Run.objects.filter(pk=late.pk), Reservation.objects.filter(run=late)):
        table.update(planned_at=F("planned_at") + timedelta(seconds=30))
    assert woken() == [early.pk]


def test_a_final_runs_place_is_free(woken: Callable[..., list[int]]) -> None:
    shared = make_endpoint()
    first, second = (make_run(pair=make_pair(sink=shared)) for _ in range(2))
    Run.objects.filter(pk=first.pk).update(state=State.CANCELLED)
    assert woken() == [second.pk]


def test_what_comes_while_another_looks_is_looked_at_by_that_one(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[tuple[set[int], bool]] = []

    def look(resource_ids: Iterable[int], *, is_after_end: bool) -> None:
        looked.append((set(resource_ids), is_after_end))
        if len(looked) == 1:
            wake([2], is_after_end=True)
            wake([3])

    monkeypatch.setattr(module, "dispatch", look)
    wake([1], is_after_end=True)
    # Looked at together with a launch, an end counts as one: its runs go out to all.
    assert looked == [({1}, True), ({2, 3}, False)]
