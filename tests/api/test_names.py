"""A name in use answers 409 with who has it; lists are filtered by names in any spelling."""

import unicodedata

import pytest

from tests.factories import make_endpoint


@pytest.mark.parametrize("path", ["hosts", "environments"])
def test_a_name_in_use_is_409_with_the_others_id(api, path):
    first = api.post(f"/{path}", {"name": "Zürich"}).json()["id"]
    answer = api.post(f"/{path}", {"name": unicodedata.normalize("NFD", "zÜRICH")})
    problem = answer.json()
    assert (answer.status_code, problem["id"], problem["errors"][0]["field"]) == (409, first, "name")
    second = api.post(f"/{path}", {"name": "Bern"}).json()["id"]
    answer = api.patch(f"/{path}/{second}", {"name": "ZÜRICH"})
    assert (answer.status_code, answer.json()["id"]) == (409, first)
    assert [item["id"] for item in api.get(f"/{path}?name=zürich").json()["items"]] == [first]


@pytest.mark.parametrize("path", ["hosts", "environments"])
def test_restoring_a_name_that_was_taken_meanwhile_is_409(api, path):
    old = api.post(f"/{path}", {"name": "db1"}).json()["id"]
    api.delete(f"/{path}/{old}")
    new = api.post(f"/{path}", {"name": "db1"}).json()["id"]
    answer = api.post(f"/{path}/{old}/restore")
    assert (answer.status_code, answer.json()["id"]) == (409, new)
    assert api.get(f"/{path}/{old}").json()["archived_at"]


def test_labels_are_found_in_the_other_form(api):
    host = make_endpoint().host
    api.patch(f"/hosts/{host.pk}", {"labels": [unicodedata.normalize("NFD", "é")]})
    assert [item["id"] for item in api.get("/hosts?label=%C3%A9").json()["items"]] == [host.pk]
    assert [item["id"] for item in api.get("/hosts?label=e%CC%81").json()["items"]] == [host.pk]
