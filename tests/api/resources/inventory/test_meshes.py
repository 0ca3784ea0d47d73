"""Many pairs by one call."""

from benchweb.hosts.models import Pair
from benchweb.hosts.services import archive
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_endpoint, make_environment


def test_a_mesh_is_made_once(api: ApiClient) -> None:
    endpoints, lab = [make_endpoint().pk for _ in range(3)], make_environment()
    body = {"endpoints": endpoints, "environment": lab.pk}
    answer = api.post("/pairs/mesh", body)
    assert (answer.status_code, answer.json()) == (
        201,
        {
            "id": lab.pk,
            "pairs": list(Pair.objects.order_by("pk").values_list("pk", flat=True)),
            "created": 6,
            "existing": 0,
            "archived": 0,
            "within_hosts": 0,
        },
    )
    again = api.post("/pairs/mesh", body).json()
    assert (again["created"], again["existing"], len(again["pairs"])) == (0, 6, 6)


def test_a_hub_has_pairs_with_its_spokes_only(api: ApiClient) -> None:
    hub, *spokes = [make_endpoint().pk for _ in range(3)]
    body = {"endpoints": spokes, "hub": hub, "environment": make_environment().pk, "both_directions": False}
    assert api.post("/pairs/mesh", body).json()["created"] == 2
    assert {(pair.source_id, pair.sink_id) for pair in Pair.objects.all()} == {(hub, spoke) for spoke in spokes}


def test_what_is_wrong_is_refused_at_its_field(api: ApiClient, refused: Refused) -> None:
    one, lab = make_endpoint(), make_environment()
    body = {"endpoints": [one.pk], "environment": lab.pk}
    assert "at least two hosts" in refused(api.post("/pairs/mesh", body), 422, "endpoints")
    refused(api.post("/pairs/mesh", body | {"endpoints": [one.pk, 999_999]}), 422, "endpoints.1")
    refused(api.post("/pairs/mesh", body | {"hub": 999_999}), 422, "hub")
    archive(row=lab)
    refused(api.post("/pairs/mesh", body), 422, "environment")
    assert not Pair.objects.exists()
