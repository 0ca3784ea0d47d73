"""Hosts by the dozen: tables, tickets, and what another host has already."""

import re

import pytest
from django.test import Client

from benchweb.accounts.models import ApiToken
from benchweb.hosts.models import Endpoint, Host
from tests.api.conftest import ApiClient
from tests.factories import make_endpoint

TABLE = "name,address\nalder,192.0.2.1\nbirch,192.0.2.2:7420\n"


def test_a_table_is_tried_and_then_added(api: ApiClient) -> None:
    tried = api.post("/hosts/import?dry_run=true", {"text": TABLE})
    assert (tried.status_code, tried.json()["hosts"], tried.json()["id"]) == (200, 2, None)
    assert not Host.objects.exists()
    made = api.post("/hosts/import", {"text": TABLE})
    alder, birch = Endpoint.objects.order_by("pk")
    assert (made.status_code, made.json()) == (
        201,
        {
            "id": alder.host_id,
            "hosts": 2,
            "lines": [
                {
                    "line": line,
                    "host": endpoint.host_id,
                    "endpoint": endpoint.pk,
                    "name": endpoint.host.name,
                    "control_address": endpoint.control_address,
                    "is_new_host": True,
                }
                for line, endpoint in ((2, alder), (3, birch))
            ],
        },
    )


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
def test_faults_of_a_table_are_told_by_line_and_column(api: ApiClient, query: str) -> None:
    taken = make_endpoint(host_name="dogwood").host
    answer = api.post(f"/hosts/import{query}", {"text": TABLE + "DOGWOOD,192.0.2.3\ncedar,\n"})
    assert answer.status_code == 422
    errors = {error["field"]: error["message"] for error in answer.json()["errors"]}
    assert set(errors) == {"lines.4.name", "lines.5.address"}
    assert f"dogwood ({taken.pk})" in errors["lines.4.name"]
    assert Host.objects.get() == taken


def test_an_address_in_use_is_409_with_the_others_id_until_it_is_insisted_on(api: ApiClient) -> None:
    other = make_endpoint(control_address="192.0.2.1:7410")
    host = api.post("/hosts", {"name": "birch"}).json()["id"]
    body = {"host": host, "control_address": "192.0.2.1"}
    answer = api.post("/endpoints", body)
    problem = answer.json()
    assert (answer.status_code, problem["id"], problem["insist"]) == (409, other.host_id, "same_machine")
    assert problem["errors"][0]["field"] == "control_address"
    assert Endpoint.objects.count() == 1
    assert api.post("/endpoints", body | {"same_machine": True}).status_code == 201


def test_a_ticket_has_its_command_and_the_programs(api: ApiClient) -> None:
    answer = api.post("/hosts/tickets")
    ticket = answer.json()
    assert answer.status_code == 201
    assert ticket["command"] == f"curl -fsSL {ticket['script_url']} | sudo sh -s -- {ticket['ticket']}"
    for program in ticket["programs"]:
        assert re.fullmatch(r"[0-9a-f]{64}", program["sha256"])
    claim = {"ticket": ticket["ticket"], "machine": "boot", "name": "alder"}
    assert len(Client().post("/install/claim", claim).content) == 43


def test_tickets_are_listed_and_revoked_without_their_texts(api: ApiClient) -> None:
    made = [api.post("/hosts/tickets").json() for _ in range(2)]
    items = api.get("/enrolment-codes").json()["items"]
    assert [item["id"] for item in items] == [made[1]["id"], made[0]["id"]]
    assert not any(ticket["ticket"] in str(items) for ticket in made)
    item = api.get(f"/enrolment-codes/{made[0]['id']}").json()
    token = ApiToken.objects.get()
    assert (item["state"], item["ends_at"]) == ("open", made[0]["expires_at"])
    assert (item["issued_by"], item["token"]) == (token.user_id, token.pk)
    assert api.delete(f"/enrolment-codes/{made[0]['id']}").status_code == 204
    assert api.delete(f"/enrolment-codes/{made[0]['id']}").status_code == 204
    assert api.get(f"/enrolment-codes/{made[0]['id']}").json()["state"] == "revoked"
    claim = {"ticket": made[0]["ticket"], "machine": "boot", "name": "alder"}
    assert Client().post("/install/claim", claim).status_code == 403
    claim["ticket"] = made[1]["ticket"]
    assert Client().post("/install/claim", claim).status_code == 200
    for is_open, ids in (("true", [made[1]["id"]]), ("false", [made[0]["id"]])):
        found = api.get(f"/enrolment-codes?is_open={is_open}").json()["items"]
        assert [each["id"] for each in found] == ids
    assert api.get(f"/enrolment-codes/{made[1]['id']}").json()["host_name"] == "alder"
    assert api.get("/enrolment-codes/999999").status_code == 404
