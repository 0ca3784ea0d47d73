"""Environments: list, create, edit, archive, restore."""

import pytest
from django.test import Client

from benchweb.hosts.models import Environment, Pair
from benchweb.hosts.services import environment_create, pair_create
from tests.factories import make_endpoint, make_pair


def test_an_empty_list_names_the_one_next_step(signed_in: Client) -> None:
    assert "Add the first environment" in signed_in.get("/environments").content.decode()


def test_an_environment_without_a_pair_asks_for_one_on_its_page_and_in_the_matrix(signed_in: Client) -> None:
    environment = environment_create(name="lab")
    make_endpoint(), make_endpoint()
    for address in (f"/environments/{environment.pk}", f"/matrix?environment={environment.pk}"):
        page = signed_in.get(address).content.decode().partition("<main")[2]
        assert "/pairs/new" in page
        assert "/launch" not in page


def test_an_environment_is_created(signed_in: Client) -> None:
    response = signed_in.post("/environments/new", {"name": "same zone", "description": "two of a type"})
    environment = Environment.objects.get()
    assert response.headers["Location"] == f"/environments/{environment.pk}"
    assert (environment.name, environment.description) == ("same zone", "two of a type")


def test_an_environment_without_a_name_is_refused_and_its_description_kept(signed_in: Client) -> None:
    text = signed_in.post("/environments/new", {"name": "", "description": "two of a type"}).content.decode()
    assert "Name is required." in text
    assert "two of a type" in text
    assert Environment.objects.count() == 0


def test_an_environment_is_renamed(signed_in: Client) -> None:
    environment = environment_create(name="lab")
    signed_in.post(f"/environments/{environment.pk}/edit", {"name": "laboratory", "description": ""})
    assert Environment.objects.get().name == "laboratory"


def test_the_list_counts_pairs_and_sorts_by_them(signed_in: Client) -> None:
    environment_create(name="alone")
    make_pair(environment="with a pair")
    rows = signed_in.get("/environments?sort=-pair_count").context["page"].rows
    assert [(row.name, row.pair_count) for row in rows] == [("with a pair", 1), ("alone", 0)]


def test_archiving_takes_its_pairs_along_and_restoring_brings_it_back(signed_in: Client) -> None:
    pair = make_pair()
    url = f"/environments/{pair.environment_id}"
    assert "Also archived: 1 pair." in signed_in.get(f"{url}/archive").content.decode()
    signed_in.post(f"{url}/archive")
    assert Pair.objects.get().archived_at is not None
    assert signed_in.get("/environments").context["page"].rows == []
    signed_in.post(f"{url}/restore")
    assert [row.name for row in signed_in.get("/environments").context["page"].rows] == ["lab"]


def test_its_page_shows_the_first_pairs_and_leads_to_all_of_them(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchweb.web.environments.views.PAIRS_DISPLAYED", 1)
    first, second = make_pair(), make_endpoint()
    pair_create(source=first.source, sink=second, environment=first.environment)
    page = signed_in.get(f"/environments/{first.environment_id}")
    assert len(page.context["pairs"]) == 1
    assert f'href="/pairs?environment={first.environment_id}">All pairs</a>' in page.content.decode()
