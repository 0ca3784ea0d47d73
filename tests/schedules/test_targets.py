"""What schedules run on: pairs, environments, labels and meshes."""

import pytest
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Environment, Host, Pair
from benchweb.hosts.services import archive, environment_create, pair_create
from benchweb.schedules.errors import ScheduleError
from benchweb.schedules.targets import checked, pairs_of, resolved_target
from tests.factories import make_endpoint, make_pair

pytestmark = pytest.mark.django_db


def ends(pairs: list[Pair]) -> list[tuple[int, int]]:
    return [(pair.source_id, pair.sink_id) for pair in pairs]


def test_an_environment_s_pairs_are_those_it_has_at_the_slot() -> None:
    first = make_pair()
    target = checked({"environment": first.environment_id})
    second = pair_create(source=first.sink, sink=first.source, environment=first.environment)
    make_pair()
    assert [pair.pk for pair in pairs_of(target)] == [first.pk, second.pk]
    archive(row=first)
    assert [pair.pk for pair in pairs_of(target)] == [second.pk]


def test_a_label_means_pairs_whose_two_hosts_bear_it() -> None:
    both, one = make_pair(), make_pair()
    hosts = [both.source.host_id, both.sink.host_id, one.source.host_id]
    Host.objects.filter(pk__in=hosts).update(labels=["nightly", "rack-7"])
    assert [pair.pk for pair in pairs_of(checked({"label": " nightly "}))] == [both.pk]


def test_a_mesh_is_every_ordered_pair_and_makes_those_that_are_missing_once() -> None:
    endpoints = [make_endpoint() for _ in range(3)]
    environment = environment_create(name="lab")
    known = pair_create(source=endpoints[0], sink=endpoints[1], environment=environment)
    target = checked({"mesh": {"endpoints": [each.pk for each in endpoints], "environment": environment.pk}})
    assert Pair.objects.count() == 1
    a, b, c = (each.pk for each in endpoints)
    pairs = pairs_of(target)
    assert ends(pairs) == [(a, b), (a, c), (b, a), (b, c), (c, a), (c, b)]
    assert pairs[0].pk == known.pk and all(pair.pk for pair in pairs)
    assert {pair.environment_id for pair in pairs} == {environment.pk}
    assert [pair.pk for pair in pairs_of(target)] == [pair.pk for pair in pairs]
    assert Pair.objects.count() == 6


def test_a_preview_of_a_mesh_makes_nothing_but_knows_hosts() -> None:
    endpoints = [make_endpoint() for _ in range(3)]
    found = resolved_target({"mesh": {"endpoints": [each.pk for each in endpoints]}})
    assert (len(found.pairs), Pair.objects.count(), Environment.objects.count()) == (6, 0, 0)
    assert found.pairs[0].source.host_id == endpoints[0].host_id
    assert str(found.pairs[0]) == f"{endpoints[0]} → {endpoints[1]}"


def test_a_mesh_without_environment_takes_the_one_that_most_of_its_pairs_are_in() -> None:
    endpoints = [make_endpoint() for _ in range(3)]
    rare, usual = environment_create(name="rare"), environment_create(name="usual")
    pair_create(source=endpoints[0], sink=endpoints[1], environment=rare)
    pair_create(source=endpoints[0], sink=endpoints[1], environment=usual)
    pair_create(source=endpoints[1], sink=endpoints[0], environment=usual)
    pairs = pairs_of({"mesh": {"endpoints": [each.pk for each in endpoints]}})
    assert {pair.environment.name for pair in pairs} == {"usual"}


def test_a_mesh_of_strangers_makes_an_environment_named_mesh_once() -> None:
    endpoints = [make_endpoint().pk for _ in range(2)]
    for _ in range(2):
        pairs = pairs_of({"mesh": {"endpoints": endpoints}})
    assert [pair.environment.name for pair in pairs] == ["mesh", "mesh"]
    assert Environment.objects.count() == 1


def test_what_somebody_took_out_of_a_mesh_stays_out() -> None:
    endpoints = [make_endpoint() for _ in range(3)]
    target = {"mesh": {"endpoints": [each.pk for each in endpoints]}}
    gone = pairs_of(target)[0]
    archive(row=gone)
    found = resolved_target(target, make=True)
    assert len(found.pairs) == 5 and gone.pk not in [pair.pk for pair in found.pairs]
    assert found.left_out == [f"{gone}: its pair {gone} is archived"]
    archive(row=endpoints[2].host)
    assert ends(pairs_of(target)) == [(endpoints[1].pk, endpoints[0].pk)]


def test_modes_meet_between_different_hosts_of_the_environment() -> None:
    plain = make_pair()
    for end in (plain.source, plain.sink):
        other = make_endpoint(network_mode="terway")
        type(other).objects.filter(pk=other.pk).update(host=end.host)
        other.refresh_from_db()
        pair_create(source=other, sink=end, environment=plain.environment)
    target = checked(
        {"mesh": {"source_modes": ["host"], "sink_modes": ["terway"], "environment": plain.environment_id}}
    )
    found = pairs_of(target)
    assert [(pair.source.network_mode, pair.sink.network_mode) for pair in found] == [("host", "terway")] * 2
    assert all(pair.source.host_id != pair.sink.host_id for pair in found)


def test_a_mesh_over_an_archived_host_is_refused_by_its_name() -> None:
    endpoints = [make_endpoint() for _ in range(3)]
    archive(row=endpoints[1].host)
    with pytest.raises(ScheduleError, match=endpoints[1].host.name) as caught:
        checked({"mesh": {"endpoints": [each.pk for each in endpoints]}})
    assert caught.value.field == "mesh"


def test_a_large_mesh_costs_few_queries(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    endpoints = [make_endpoint().pk for _ in range(20)]
    target = {"mesh": {"endpoints": endpoints}}
    with django_assert_max_num_queries(12):
        assert len(pairs_of(target)) == 380
    with django_assert_max_num_queries(5):
        assert len([str(pair.source.host) for pair in pairs_of(target)]) == 380
