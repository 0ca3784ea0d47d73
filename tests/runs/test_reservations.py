"""Two exclusive runs never overlap on a resource: the database says so, whatever the code does."""

import threading
import time

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Host, Pair
from benchweb.runs.execution import run_end
from benchweb.runs.models import Reservation, Resource, Run, State, Trial
from benchweb.runs.queueing.claims import Claimed, claim, reservation_extend
from tests.factories import begun, make_endpoint, make_pair, make_run
from workers.runs.overtime import Overtime

pytestmark = pytest.mark.django_db

INSERT = (
    "INSERT INTO runs_reservation (run_id, resource_id, exclusive, during) "
    "VALUES (%s, %s, %s, tstzrange(now() + %s * interval '1 second', now() + %s * interval '1 second'))"
)


def insert(run: Run, resource: Resource, exclusive: int, start: float, end: float) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(INSERT, [run.pk, resource.pk, exclusive, start, end])


@pytest.fixture
def resource() -> Resource:
    return Resource.objects.create(host=make_endpoint().host)


def test_raw_sql_cannot_insert_two_overlapping_exclusive_reservations(resource: Resource) -> None:
    insert(make_run(), resource, 1, 0, 10)
    with pytest.raises(IntegrityError, match="exclusive_excludes_exclusive"):
        insert(make_run(), resource, 1, 9, 20)
    assert resource.reservations.count() == 1


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0)])
def test_raw_sql_cannot_insert_exclusive_over_normal_or_normal_over_exclusive(
    resource: Resource, first: int, second: int
) -> None:
    insert(make_run(), resource, first, 0, 10)
    with pytest.raises(IntegrityError, match="exclusive_excludes_normal"):
        insert(make_run(), resource, second, 9, 20)
    assert resource.reservations.count() == 1


def test_normal_runs_overlap_and_exclusive_ones_may_follow_at_once(resource: Resource) -> None:
    insert(make_run(), resource, 0, 0, 10)
    insert(make_run(), resource, 0, 5, 15)
    insert(make_run(), resource, 1, 15, 20)
    insert(make_run(), resource, 1, 20, 25)
    assert resource.reservations.count() == 4


def test_a_run_that_takes_longer_extends_its_span_unless_another_reservation_follows(resource: Resource) -> None:
    run = make_run()
    held = Claimed(run, "w1", taken_over=True)
    insert(run, resource, 1, -5, 5)
    assert reservation_extend(claimed=held, seconds=2)
    until = run.reservations.get(resource=resource).during.upper
    assert 11 < (until - timezone.now()).total_seconds() <= 12
    assert reservation_extend(claimed=held, seconds=1)
    assert run.reservations.get(resource=resource).during.upper == until
    insert(make_run(), resource, 1, 15, 20)
    assert not reservation_extend(claimed=held, seconds=60)
    assert run.reservations.get(resource=resource).during.upper == until


def test_a_trial_beyond_its_slot_holds_the_hosts_a_little_at_a_time(
    resource: Resource, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    trial = Trial(run=run, kind="tcp_stream", params={"duration_seconds": 2})
    insert(run, resource, 1, -5, 5)
    before = run.reservations.get(resource=resource).during.upper
    overtime = Overtime(trial)
    assert not overtime.extend_if_due()
    assert run.reservations.get(resource=resource).during.upper == before
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 3.5)
    assert overtime.extend_if_due()
    until = run.reservations.get(resource=resource).during.upper
    assert 14 < (until - timezone.now()).total_seconds() <= 15
    assert not overtime.extend_if_due()
    assert run.reservations.get(resource=resource).during.upper == until


def test_other_hosts_are_free(resource: Resource) -> None:
    other = Resource.objects.create(host=make_endpoint().host)
    insert(make_run(), resource, 1, 0, 10)
    insert(make_run(), other, 1, 0, 10)
    assert Reservation.objects.exclude(during=None).count() == 2


def test_a_claim_reserves_both_hosts_for_the_plans_length_and_a_margin() -> None:
    run = make_run(steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 5}}], repetitions=3)
    assert claim(run_id=run.pk, owner="w1") is not None
    spans = [r.during.upper - r.during.lower for r in run.reservations.all()]
    assert [span.total_seconds() for span in spans] == [3 * 6 + 10] * 2
    assert {r.resource.host_id for r in run.reservations.all()} == {run.pair.source.host_id, run.pair.sink.host_id}


def test_a_pair_on_one_host_reserves_it_once() -> None:
    source = make_endpoint()
    sink = type(source).objects.create(host=source.host, control_address="127.0.0.1:2")
    run = make_run(pair=make_pair(source=source, sink=sink))
    assert claim(run_id=run.pk, owner="w1") is not None
    assert run.reservations.count() == 1


def test_a_run_whose_host_is_busy_stays_pending_in_its_queue() -> None:
    shared = make_endpoint(host_name="shared")
    first, second = make_run(pair=make_pair(sink=shared)), make_run(pair=make_pair(source=shared))
    assert begun(first, "w1") is not None
    assert claim(run_id=second.pk, owner="w2") is None
    second.refresh_from_db()
    assert (second.state, second.lease_owner, second.started_at) == (State.PENDING, "", None)
    assert list(second.reservations.values_list("during", flat=True)) == [None, None]


def test_an_ended_run_frees_its_hosts_at_once_and_what_it_occupied_stays_on_record() -> None:
    shared = make_endpoint()
    first, second = make_run(pair=make_pair(sink=shared)), make_run(pair=make_pair(source=shared))
    begun(first, "w1")
    assert run_end(run_id=first.pk, owner="w1")
    first.refresh_from_db()
    assert all(r.during.lower < r.during.upper <= first.finished_at for r in first.reservations.all())
    assert first.reservations.count() == 2
    assert claim(run_id=second.pk, owner="w2") is not None


def test_a_run_between_two_uplinks_occupies_both_and_one_within_an_uplink_occupies_none() -> None:
    here, there, near = make_endpoint(), make_endpoint(), make_endpoint()
    Host.objects.filter(pk__in=[here.host_id, near.host_id]).update(uplink="rack-1")
    Host.objects.filter(pk=there.host_id).update(uplink="rack-2")
    far = make_run(pair=fresh(make_pair(source=here, sink=there)))
    within = make_run(pair=fresh(make_pair(source=here, sink=near)))
    assert {str(r.resource) for r in far.reservations.all()} == {
        f"host {here.host.name}",
        f"host {there.host.name}",
        "uplink rack-1",
        "uplink rack-2",
    }
    assert within.reservations.count() == 2


def fresh(pair: Pair) -> Pair:
    return Pair.objects.select_related("source__host", "sink__host", "environment").get(pk=pair.pk)


def test_a_pending_run_of_before_reservations_were_made_with_it_gets_them_at_its_claim() -> None:
    run = make_run()
    run.reservations.all().delete()
    Run.objects.filter(pk=run.pk).update(planned_at=None)
    assert claim(run_id=run.pk, owner="w1") is not None
    run.refresh_from_db()
    assert run.reservations.exclude(during=None).count() == 2
    assert run.planned_at == run.created_at


@pytest.mark.django_db(transaction=True)
def test_of_many_claims_at_once_on_one_host_exactly_one_wins() -> None:
    shared = make_endpoint()
    runs = [make_run(pair=make_pair(sink=shared)) for _ in range(8)]
    won: list[int] = []

    def try_claim(run: Run) -> None:
        if begun(run, f"w{run.pk}") is not None:
            won.append(run.pk)
        connection.close()

    threads = [threading.Thread(target=try_claim, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert Run.objects.filter(state=State.RUNNING).count() == 1
    assert Run.objects.filter(state=State.PENDING).count() == 7


@pytest.mark.django_db(transaction=True)
def test_claims_on_a_host_come_one_after_another_so_that_they_never_deadlock() -> None:
    pair = make_pair()
    before, run = make_run(pair=pair), make_run(pair=pair)
    begun(before, "before")
    run_end(run_id=before.pk, owner="before")
    won: list[int] = []

    def try_claim() -> None:
        if claim(run_id=run.pk, owner="after") is not None:
            won.append(run.pk)
        connection.close()

    thread = threading.Thread(target=try_claim)
    with transaction.atomic():
        list(Resource.objects.select_for_update(no_key=True))
        thread.start()
        thread.join(timeout=0.7)
        assert thread.is_alive()
    thread.join()
    assert won == [run.pk]


def test_a_span_that_reaches_far_enough_is_not_asked_of_the_database(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    run = make_run(steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 5}}])
    claimed = claim(run_id=run.pk, owner="w1")
    assert claimed is not None
    with django_assert_num_queries(0):
        assert reservation_extend(claimed=claimed, seconds=5.5)
    assert reservation_extend(claimed=claimed, seconds=30)
    until = run.reservations.all()[0].during.upper
    assert 39 < (until - timezone.now()).total_seconds() <= 40
