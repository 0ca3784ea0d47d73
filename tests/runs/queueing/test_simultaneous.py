"""A launch of several sources to one sink: what it refuses, and that the first run alone stands in the queues."""

import pytest

from benchweb.common import celery_client
from benchweb.hosts.models import Pair
from benchweb.hosts.pairs import pair_of_host
from benchweb.runs.models import Campaign, Reservation, Run, State
from benchweb.runs.queueing.claims import claim
from benchweb.runs.queueing.dispatch import dispatch
from benchweb.runs.queueing.expectation import expectation
from benchweb.runs.services import LaunchError, launch, run_cancel
from tests.factories import make_endpoint, make_pair, make_plan, make_run

pytestmark = pytest.mark.django_db
SWEEP = [{"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024, 4096], "duration_seconds": 1}}]


def incast(count: int = 3) -> list[Pair]:
    sink = make_endpoint()
    return [make_pair(sink=sink) for _ in range(count)]


def together(pairs: list[Pair], **plan: object) -> Campaign:
    return launch(plan=make_plan(**{"steps": SWEEP} | plan), pairs=pairs, user=None, arrangement="together")


def test_the_first_run_holds_the_hosts_of_all_and_is_woken_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(celery_client, "send", lambda task, run_ids: sent.extend(run_ids))
    campaign = together(incast())
    leader, *others = campaign.runs.order_by("pk")
    assert {each.run_id for each in Reservation.objects.all()} == {leader.pk}
    assert Reservation.objects.count() == 4
    dispatch()
    assert sent == [leader.pk]
    assert campaign.planned_seconds == campaign.lower_bound_seconds == 6.0
    # Whoever wants any of these hosts waits for the leader.
    make_run(pair=make_pair(source=others[0].pair.source))
    expected = [expectation(run) for run in Run.objects.order_by("pk")]
    assert [each.ahead for each in expected if each] == [0, 0, 0, 1]


def test_a_claim_of_the_leader_takes_the_hosts_of_all() -> None:
    leader, *others = together(incast()).runs.order_by("pk")
    assert claim(run_id=leader.pk, owner="w") is not None
    assert Reservation.objects.filter(run=leader, during__isnull=False).count() == 4
    assert all(claim(run_id=other.pk, owner=f"w-{other.pk}") for other in others)
    # Another run on one of the sources can't have it.
    late = make_run(pair=make_pair(source=others[0].pair.source))
    assert claim(run_id=late.pk, owner="late") is None


def test_a_shuffled_plan_has_one_order_for_all() -> None:
    campaign = together(incast(), order="shuffled", repetitions=4)
    orders = {tuple(run.trials.values_list("params__message_size_bytes", flat=True)) for run in campaign.runs.all()}
    assert len(orders) == 1


def test_cancelling_one_that_waits_cancels_all() -> None:
    campaign = together(incast())
    assert run_cancel(run=campaign.runs.order_by("pk")[2])
    assert set(campaign.runs.values_list("state", flat=True)) == {State.CANCELLED}
    assert not Reservation.objects.exists()


def test_what_cannot_be_measured_in_one_window_is_refused() -> None:
    one_host = pair_of_host(make_endpoint())
    memory = [{"kind": "memory_bandwidth", "params": {}}]
    confidence = {"level_percent": 95, "width_percent": 5, "max_repetitions": 9}
    refused: list[tuple[list[Pair], dict[str, object], str]] = [
        (incast(1), {}, "Together are 2 to 32 pairs with one sink"),
        (incast(33), {}, "Together are 2 to 32 pairs with one sink"),
        ([make_pair(), make_pair()], {}, "have one sink, and these have several"),
        ([one_host, make_pair(sink=one_host.sink)], {}, "one host alone"),
        (incast(), {"steps": [*SWEEP, *memory]}, "tests of one host alone"),
        (incast(), {"confidence": confidence, "repetitions": 3}, "repeats until its results converge"),
    ]
    for pairs, plan, why in refused:
        with pytest.raises(LaunchError, match=why):
            together(pairs, **plan)
    assert not Campaign.objects.exists()
