"""Many pairs at once from the page: what it comes to, what is made, and where it leads."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from benchweb.hosts.models import Environment, Pair
from benchweb.hosts.services import archive, host_update
from tests.factories import make_endpoint, make_environment, make_plan


@pytest.fixture
def endpoints(db: None) -> list[int]:
    return [make_endpoint().pk for _ in range(3)]


def test_the_pages_of_pairs_and_of_a_launch_lead_to_it(signed_in: Client) -> None:
    plan = make_plan()
    assert 'href="/pairs/mesh"' in signed_in.get("/pairs").content.decode()
    text = signed_in.get(f"/launch?plan={plan.pk}").content.decode()
    assert f'href="/pairs/mesh?plan={plan.pk}"' in text and f"?shape=hub&amp;plan={plan.pk}" in text


def test_the_summary_counts_new_pairs_and_those_that_exist(signed_in: Client, endpoints: list[int]) -> None:
    lab = make_environment()
    values = {"shape": "mesh", "endpoints": endpoints[:2], "environment": lab.pk, "both_directions": "on"}
    signed_in.post("/pairs/mesh", values | {"action": "save"})
    text = signed_in.post("/pairs/mesh/summary", values | {"endpoints": endpoints}).content.decode()
    assert "<strong>4 new pairs</strong> · 2 exist already" in text
    assert Pair.objects.count() == 2


def test_nothing_chosen_is_no_fault_yet_and_one_endpoint_is(signed_in: Client, endpoints: list[int]) -> None:
    empty = signed_in.post("/pairs/mesh/summary", {"shape": "mesh"}).content.decode()
    assert "Choose endpoints to see how many pairs they make." in empty
    one = {"shape": "mesh", "endpoints": endpoints[:1], "new_environment": "lab"}
    assert "at least two hosts" in signed_in.post("/pairs/mesh/summary", one).content.decode()
    assert "at least two hosts" in signed_in.post("/pairs/mesh", one | {"action": "save"}).content.decode()
    assert not Environment.objects.exists()


def test_a_mesh_in_a_new_environment_leads_to_its_pairs(signed_in: Client, endpoints: list[int]) -> None:
    values = {"shape": "mesh", "endpoints": endpoints, "new_environment": "rack 7", "action": "save"}
    response = signed_in.post("/pairs/mesh", values)
    lab = Environment.objects.get(name="rack 7")
    assert response.headers["Location"] == f"/pairs?environment={lab.pk}"
    assert Pair.objects.filter(environment=lab).count() == 6
    assert "6 pairs added to rack 7." in signed_in.get(response.headers["Location"]).content.decode()
    # The same again adds nothing, and takes the environment that has the name.
    again = signed_in.post("/pairs/mesh", values, follow=True).content.decode()
    assert "0 pairs added to rack 7; 6 existed already." in again
    assert Environment.objects.count() == 1


def test_a_hub_leads_to_a_launch_with_its_pairs_ticked(signed_in: Client, endpoints: list[int]) -> None:
    plan, lab = make_plan(), make_environment()
    hub, *spokes = endpoints
    values = {"shape": "hub", "hub": hub, "endpoints": spokes, "environment": lab.pk, "plan": plan.pk}
    response = signed_in.post("/pairs/mesh", values | {"action": "launch"})
    assert {(pair.source_id, pair.sink_id) for pair in Pair.objects.all()} == {(hub, spoke) for spoke in spokes}
    page = signed_in.get(response.headers["Location"]).context["page"]
    assert (page.plan, len(page.chosen)) == (plan, 2)


def test_a_mesh_leads_to_a_schedule_of_it(signed_in: Client, endpoints: list[int]) -> None:
    lab = make_environment("rack 7")
    values = {"shape": "mesh", "endpoints": endpoints, "environment": lab.pk, "action": "schedule"}
    url = signed_in.post("/pairs/mesh", values).headers["Location"]
    assert parse_qs(urlsplit(url).query)["name"] == ["rack 7, nightly"]
    form = signed_in.get(url).context["form"]
    assert form.chosen("target") == "mesh"
    assert (form["endpoints"].value(), form["mesh_environment"].value()) == (endpoints, lab.pk)


def test_a_hub_leads_to_a_schedule_of_its_pairs(signed_in: Client, endpoints: list[int]) -> None:
    lab = make_environment()
    values = {"shape": "hub", "hub": endpoints[0], "endpoints": endpoints, "environment": lab.pk}
    url = signed_in.post("/pairs/mesh", values | {"both_directions": "on", "action": "schedule"}).headers["Location"]
    form = signed_in.get(url).context["form"]
    assert form["pairs"].value() == list(Pair.objects.order_by("pk").values_list("pk", flat=True))
    assert len(form["pairs"].value()) == 4


def test_a_label_ticks_its_hosts_and_a_lone_environment_is_chosen(signed_in: Client, endpoints: list[int]) -> None:
    lab, labelled = make_environment(), make_endpoint()
    host_update(host=labelled.host, name=labelled.host.name, description="", labels=["rack-7"], uplink="")
    form = signed_in.get("/pairs/mesh?label=rack-7").context["page"].form
    assert (form.chosen, form["environment"].value()) == ({labelled.pk}, lab.pk)
    # Of several none is chosen, and a new one has a name.
    make_environment("other")
    form = signed_in.get("/pairs/mesh").context["page"].form
    assert (form["environment"].value(), form["new_environment"].value()) == (None, "mesh")


def test_a_hub_that_is_missing_or_archived_is_named(signed_in: Client, endpoints: list[int]) -> None:
    lab, gone = make_environment(), make_endpoint()
    archive(row=gone)
    values = {"shape": "hub", "endpoints": endpoints, "environment": lab.pk, "action": "save"}
    assert "Choose the hub." in signed_in.post("/pairs/mesh", values).content.decode()
    assert "This endpoint is archived." in signed_in.post("/pairs/mesh", values | {"hub": gone.pk}).content.decode()
    assert not Pair.objects.exists()
