"""Pairs: list, create in one or both directions, move, archive, restore."""

import pytest
from django.test import Client

from benchweb.hosts.models import Endpoint, Pair
from benchweb.hosts.services import archive, environment_create, pair_create
from tests.factories import make_endpoint, make_pair


def test_an_empty_list_names_the_one_next_step(signed_in: Client) -> None:
    assert "Next step: add a host." in signed_in.get("/pairs").content.decode()
    make_endpoint()
    words = (
        "Next step: add another host, or a second endpoint to the existing one. A plan measures between two endpoints."
    )
    assert words in signed_in.get("/pairs").content.decode()
    make_endpoint()
    assert "Next step: create a pair of two endpoints" in signed_in.get("/pairs").content.decode()


def test_the_form_says_what_is_needed_first(signed_in: Client) -> None:
    text = signed_in.get("/pairs/new").content.decode()
    assert "A pair needs an endpoint. No endpoints yet." in text
    assert "A pair belongs to an environment. No environments yet." in text
    assert '<button class="btn" type="submit" disabled>Add pair' in text


def test_the_form_can_be_sent_once_there_is_something_to_choose(signed_in: Client) -> None:
    make_endpoint(), make_endpoint(), environment_create(name="lab")
    text = signed_in.get("/pairs/new").content.decode()
    assert '<button class="btn btn-primary" type="submit">Add pair' in text


@pytest.mark.parametrize(("both", "count"), [({}, 1), ({"both_directions": "on"}, 2)])
def test_a_pair_is_created_in_one_or_both_directions(signed_in: Client, both: dict[str, str], count: int) -> None:
    source, sink, lab = make_endpoint(), make_endpoint(), environment_create(name="lab")
    values = {"source": source.pk, "sink": sink.pk, "environment": lab.pk} | both
    response = signed_in.post("/pairs/new", values)
    directions = {(pair.source_id, pair.sink_id) for pair in Pair.objects.all()}
    assert directions == {(source.pk, sink.pk), (sink.pk, source.pk)} if both else {(source.pk, sink.pk)}
    assert len(directions) == count
    first = Pair.objects.get(source=source)
    assert response.headers["Location"] == f"/pairs/{first.pk}"


def test_both_directions_are_refused_together_when_one_exists(signed_in: Client) -> None:
    source, sink, lab = make_endpoint(), make_endpoint(), environment_create(name="lab")
    pair_create(source=sink, sink=source, environment=lab)
    values = {"source": source.pk, "sink": sink.pk, "environment": lab.pk, "both_directions": "on"}
    response = signed_in.post("/pairs/new", values)
    assert "exists in lab already: use that pair." in response.content.decode()
    assert response.context["form"]["both_directions"].value() is True
    assert Pair.objects.count() == 1


def test_a_pair_of_an_endpoint_with_itself_is_refused_at_the_sink(signed_in: Client) -> None:
    endpoint, lab = make_endpoint(), environment_create(name="lab")
    response = signed_in.post("/pairs/new", {"source": endpoint.pk, "sink": endpoint.pk, "environment": lab.pk})
    assert response.context["form"].errors == {
        "sink": ["The sink is the source: choose another, or none to measure this host alone."]
    }
    assert Pair.objects.count() == 0


def test_missing_choices_are_named_each(signed_in: Client) -> None:
    errors = signed_in.post("/pairs/new", {}).context["form"].errors
    assert errors == {
        "source": ["Choose the sending endpoint."],
        "environment": ["Choose an environment."],
    }


def test_an_archived_endpoint_is_neither_offered_nor_taken(signed_in: Client) -> None:
    source, sink, lab = make_endpoint(), make_endpoint(host_name="gone"), environment_create(name="lab")
    archive(row=sink.host)
    assert "gone" not in signed_in.get("/pairs/new").content.decode()
    response = signed_in.post("/pairs/new", {"source": source.pk, "sink": sink.pk, "environment": lab.pk})
    assert response.context["form"].errors == {"sink": ["This endpoint is archived."]}
    assert Pair.objects.count() == 0


@pytest.mark.parametrize(
    ("query", "count"),
    [("", 2), ("q=alder", 1), ("status=unreachable", 1), ("environment=0", 0), ("environment=x", 0)],
)
def test_the_list_filters_in_the_url(signed_in: Client, query: str, count: int) -> None:
    make_pair(source=make_endpoint(host_name="alder"))
    other = make_pair()
    Endpoint.objects.filter(pk=other.sink_id).update(status="unreachable")
    assert len(signed_in.get(f"/pairs?{query}").context["page"].rows) == count


def test_the_list_filters_by_environment_and_sorts_by_the_sink(signed_in: Client) -> None:
    lab = environment_create(name="lab")
    source, birch, alder = (make_endpoint(host_name=name) for name in ("source", "birch", "alder"))
    for sink in (birch, alder):
        pair_create(source=source, sink=sink, environment=lab)
    make_pair()
    rows = signed_in.get(f"/pairs?environment={lab.pk}&sort=sink__host__name").context["page"].rows
    assert [pair.sink.host.name for pair in rows] == ["alder", "birch"]


def test_a_pair_moves_to_another_environment(signed_in: Client) -> None:
    pair, other = make_pair(), environment_create(name="other")
    signed_in.post(f"/pairs/{pair.pk}/edit", {"environment": other.pk})
    pair.refresh_from_db()
    assert pair.environment == other


def test_a_pair_does_not_move_to_where_its_equal_is(signed_in: Client) -> None:
    pair, other = make_pair(), environment_create(name="other")
    pair_create(source=pair.source, sink=pair.sink, environment=other)
    response = signed_in.post(f"/pairs/{pair.pk}/edit", {"environment": other.pk})
    assert "exists in other already." in response.context["form"].errors["environment"][0]
    pair.refresh_from_db()
    assert pair.environment.name == "lab"


def test_an_archived_pair_leaves_the_list_and_comes_back(signed_in: Client) -> None:
    pair = make_pair()
    assert (
        "Kept, with results and links: 0 runs and 0 series."
        in signed_in.get(f"/pairs/{pair.pk}/archive").content.decode()
    )
    signed_in.post(f"/pairs/{pair.pk}/archive")
    assert signed_in.get("/pairs").context["page"].rows == []
    assert signed_in.get("/pairs?archived=1").context["page"].rows == [pair]
    signed_in.post(f"/pairs/{pair.pk}/restore")
    assert signed_in.get("/pairs").context["page"].rows == [pair]


def test_a_pair_is_not_restored_before_its_host(signed_in: Client) -> None:
    pair = make_pair()
    archive(row=pair.source.host)
    response = signed_in.post(f"/pairs/{pair.pk}/restore", follow=True)
    assert "which is archived: restore it first." in response.content.decode()
    assert Pair.objects.get().archived_at is not None


def test_a_pair_is_not_restored_beside_its_equal(signed_in: Client) -> None:
    pair = make_pair()
    archive(row=pair)
    pair_create(source=pair.source, sink=pair.sink, environment=pair.environment)
    response = signed_in.post(f"/pairs/{pair.pk}/restore", follow=True)
    assert "An equal pair was made since: archive that one first." in response.content.decode()
    assert Pair.objects.get(pk=pair.pk).archived_at is not None
