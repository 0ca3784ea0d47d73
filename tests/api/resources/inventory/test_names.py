"""A name in use answers 409 with who has it; lists are filtered by names in any spelling."""

import unicodedata

import pytest

from tests.api.conftest import ApiClient
from tests.factories import make_endpoint


@pytest.mark.parametrize("path", ["hosts", "environments"])
def test_a_name_in_use_is_409_with_the_others_id(api: ApiClient, path: str) -> None:
    first = api.post(f"/{path}", {"name": "Zürich"}).json()["id"]
    answer = api.post(f"/{path}", {"name": unicodedata.normalize("NFD", "zÜRICH")})
    problem = answer.json()
    assert (answer.status_code, problem["id"], problem["errors"][0]["field"]) == (409, first, "name")
    second = api.post(f"/{path}", {"name": "Bern"}).json()["id"]
    answer = api.patch(f"/{path}/{second}", {"name": "ZÜRICH"})
    assert (answer.status_code, answer.json()["id"]) == (409, first)
    assert [item["id"] for item in api.get(f"/{path}?name=zürich").json()["items"]] == [first]


@pytest.mark.parametrize("path", ["hosts", "environments"])
def test_restoring_a_name_that_was_taken_meanwhile_is_409(api: ApiClient, path: str) -> None:
    old = api.post(f"/{path}", {"name": "db1"}).json()["id"]
    api.delete(f"/{path}/{old}")
    new = api.post(f"/{path}", {"name": "db1"}).json()["id"]
    answer = api.post(f"/{path}/{old}/restore")
    assert (answer.status_code, answer.json()["id"]) == (409, new)
    assert api.get(f"/{path}/{old}").json()["archived_at"]


def test_labels_are_found_in_the_other_form(api: ApiClient) -> None:
    host = make_endpoint().host
    api.patch(f"/hosts/{host.pk}", {"labels": [unicodedata.normalize("NFD", "é")]})
    assert [item["id"] for item in api.get("/hosts?label=%C3%A9").json()["items"]] == [host.pk]
    assert [item["id"] for item in api.get("/hosts?label=e%CC%81").json()["items"]] == [host.pk]


def test_a_certificate_of_another_host_is_409_with_what_insists(api: ApiClient) -> None:
    first = make_endpoint(fingerprint="sha256:" + "a" * 64)
    host = api.post("/hosts", {"name": "db2"}).json()["id"]
    body = {"host": host, "control_address": "127.0.0.1:1", "fingerprint": "sha256:" + "a" * 64}
    answer = api.post("/endpoints", body)
    problem = answer.json()
    assert (answer.status_code, problem["id"], problem["insist"]) == (409, first.host_id, "same_machine")
    assert problem["errors"][0]["field"] == "fingerprint"
    made = api.post("/endpoints", body | {"same_machine": True})
    assert (made.status_code, made.json()["same_machine"]) == (201, True)
    assert api.get(f"/hosts/{host}").json()["machine"] == first.host_id
    assert api.patch(f"/endpoints/{made.json()['id']}", {"same_machine": False}).status_code == 409
