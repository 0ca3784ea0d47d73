"""Many pairs at once: meshes, hubs and spokes."""

import pytest

from benchweb.hosts.endpoints.services import endpoint_create
from benchweb.hosts.errors import HostsError
from benchweb.hosts.meshes import MAXIMUM_ENDPOINTS, mesh_make, mesh_of, pairs_chosen
from benchweb.hosts.models import Endpoint, Pair
from benchweb.hosts.services import archive
from tests.factories import make_endpoint, make_environment

pytestmark = pytest.mark.django_db


def ends(pairs: list[Pair]) -> set[tuple[int, int]]:
    return {(pair.source_id, pair.sink_id) for pair in pairs}


def test_a_mesh_pairs_each_endpoint_with_each_other() -> None:
    endpoints, lab = [make_endpoint() for _ in range(4)], make_environment()
    mesh = mesh_of(endpoints=endpoints, environment=lab)
    assert (len(mesh.missing), mesh.pairs, Pair.objects.count()) == (12, [], 0)
    made = mesh_make(mesh)
    expected = {(a.pk, b.pk) for a in endpoints for b in endpoints if a != b}
    assert ends(made) == ends(list(Pair.objects.filter(environment=lab))) == expected


def test_a_hub_is_paired_with_each_spoke_in_both_directions_or_one() -> None:
    hub, *spokes = [make_endpoint() for _ in range(3)]
    outward = {(hub.pk, spoke.pk) for spoke in spokes}
    one_way = mesh_of(endpoints=[hub, *spokes], environment=make_environment(), hub=hub, both=False)
    assert ends(mesh_make(one_way)) == outward
    both = mesh_of(endpoints=spokes, environment=make_environment(), hub=hub)
    assert ends(mesh_make(both)) == outward | {(spoke, hub_pk) for hub_pk, spoke in outward}


def test_what_exists_stays_and_what_was_archived_is_not_made_again() -> None:
    a, b, c = (make_endpoint() for _ in range(3))
    lab = make_environment()
    first = mesh_make(mesh_of(endpoints=[a, b], environment=lab))
    archive(row=first[0])
    mesh = mesh_of(endpoints=[a, b, c], environment=lab)
    assert (mesh.pairs, mesh.archived, len(mesh.missing)) == ([first[1]], [first[0]], 4)
    made = mesh_make(mesh)
    assert len(made) == 5 and first[0] not in made
    assert Pair.objects.count() == 6
    again = mesh_of(endpoints=[a, b, c], environment=lab)
    assert (again.missing, mesh_make(again)) == ([], made)


def test_pairs_within_one_host_are_left_out_and_counted() -> None:
    first = make_endpoint()
    pod = endpoint_create(host=first.host, control_address="127.0.0.1:2", name="pod", same_machine=True)
    other = make_endpoint()
    mesh = mesh_of(endpoints=[first, pod, other], environment=make_environment())
    assert (len(mesh.missing), mesh.within_hosts) == (4, 2)
    with pytest.raises(HostsError, match="at least two hosts"):
        mesh_of(endpoints=[first, pod], environment=make_environment())


def test_too_many_and_archived_endpoints_are_refused_by_name() -> None:
    lab, archived = make_environment(), make_endpoint(host_name="cedar")
    archive(row=archived.host)
    archived.refresh_from_db()
    with pytest.raises(HostsError, match="is archived") as caught:
        mesh_of(endpoints=[archived, make_endpoint()], environment=lab)
    assert caught.value.field == "endpoints"
    many = [Endpoint(pk=number, host=archived.host) for number in range(1, MAXIMUM_ENDPOINTS + 2)]
    with pytest.raises(HostsError, match="501 endpoints are too many; at most 500"):
        mesh_of(endpoints=many, environment=lab)


def test_the_pairs_of_a_mesh_are_chosen_by_its_endpoints() -> None:
    a, b, c = (make_endpoint() for _ in range(3))
    lab = make_environment()
    made = mesh_make(mesh_of(endpoints=[a, b, c], environment=lab))
    ids = [a.pk, b.pk]
    assert pairs_chosen(endpoint_ids=ids, environment_id=lab.pk) == [
        pair.pk for pair in made if c.pk not in (pair.source_id, pair.sink_id)
    ]
    of_hub = pairs_chosen(endpoint_ids=ids, environment_id=lab.pk, hub_id=c.pk)
    assert of_hub == [pair.pk for pair in made if c.pk in (pair.source_id, pair.sink_id)]
    one_way = pairs_chosen(endpoint_ids=ids, environment_id=lab.pk, hub_id=c.pk, both=False)
    assert one_way == [pair.pk for pair in made if pair.source_id == c.pk]
