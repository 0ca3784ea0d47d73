"""Hosts, environments, endpoints and pairs by REST: created, changed, archived, restored, refused."""

from typing import Any

import pytest
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries

from benchweb.common import celery_client
from benchweb.hosts.endpoints.services import CHECK_TASK
from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.hosts.path_checks import PATHS_TASK
from benchweb.site.secrets import decrypted
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_endpoint, make_pair

pytestmark = pytest.mark.django_db

FINGERPRINT = "sha256:" + "ab" * 32
NAMED = [("hosts", Host), ("environments", Environment)]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Collect what is sent to the workers."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(celery_client, "send", lambda task, *arguments, **options: found.append((task, *arguments)))
    monkeypatch.setattr(celery_client, "send_on_commit", lambda task, *arguments: found.append((task, *arguments)))
    return found


@pytest.mark.parametrize(("path", "model"), NAMED)
def test_a_host_or_environment_is_created_changed_archived_and_restored(
    api: ApiClient, path: str, model: type[Host | Environment]
) -> None:
    created = api.post(f"/{path}", {"name": "rack 7", "description": "two\nlines"})
    assert created.status_code == 201
    row = created.json()
    assert (row["name"], row["description"], row["archived_at"]) == ("rack 7", "two\nlines", None)
    assert api.patch(f"/{path}/{row['id']}", {"name": "rack 8"}).json() == row | {"name": "rack 8"}
    assert api.delete(f"/{path}/{row['id']}").status_code == 204
    assert api.get(f"/{path}").json() == {"items": [], "next": None}
    assert [item["id"] for item in api.get(f"/{path}?archived=true").json()["items"]] == [row["id"]]
    assert api.get(f"/{path}/{row['id']}").json()["archived_at"] is not None
    assert api.post(f"/{path}/{row['id']}/restore").json() == row | {"name": "rack 8"}
    assert model.objects.count() == 1


@pytest.mark.parametrize(("path", "model"), NAMED)
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "a" * 101}, "name"),
        ({"name": "tab\there"}, "name"),
        ({"name": "line\u2028here"}, "name"),
        ({"name": 1}, "name"),
        ({"description": "nul\x00"}, "description"),
        ({"description": "a" * 10_001}, "description"),
        ({"id": 5}, "id"),
        ({"archived_at": None}, "archived_at"),
    ],
)
def test_a_wrong_field_is_refused_and_nothing_is_kept(
    api: ApiClient, refused: Refused, path: str, model: type[Host | Environment], change: dict[str, Any], field: str
) -> None:
    refused(api.post(f"/{path}", {"name": "a"} | change), 422, field)
    assert model.objects.count() == 0
    row = api.post(f"/{path}", {"name": "kept"}).json()
    refused(api.patch(f"/{path}/{row['id']}", change), 422, field)
    assert api.get(f"/{path}/{row['id']}").json() == row


def test_an_endpoint_is_created_with_a_token_that_never_comes_out(api: ApiClient, sent: list[tuple[Any, ...]]) -> None:
    host = api.post("/hosts", {"name": "a"}).json()["id"]
    body = {"host": host, "control_address": "192.0.2.1", "token": "engine-secret", "network_mode": "terway"}
    created = api.post("/endpoints", body)
    assert created.status_code == 201
    row = created.json()
    assert (row["host"], row["host_name"], row["control_address"]) == (host, "a", "192.0.2.1:7410")
    assert (row["network_mode"], row["has_token"], row["status"]) == ("terway", True, "unknown")
    answers = [created, api.get(f"/endpoints/{row['id']}"), api.get("/endpoints")]
    assert all(b"engine-secret" not in answer.content for answer in answers)
    assert decrypted(Endpoint.objects.get().token_encrypted) == "engine-secret"
    assert sent == [(CHECK_TASK, row["id"])]


def test_a_change_of_an_endpoint_keeps_what_it_does_not_name(api: ApiClient, sent: list[tuple[Any, ...]]) -> None:
    endpoint = make_endpoint(token="engine-secret", data_address="192.0.2.9", fingerprint=FINGERPRINT)
    sent.clear()
    changed = api.patch(f"/endpoints/{endpoint.pk}", {"name": "second"}).json()
    assert (changed["name"], changed["data_address"]) == ("second", "192.0.2.9")
    assert (changed["fingerprint"], changed["has_token"]) == (FINGERPRINT, True)
    endpoint.refresh_from_db()
    assert decrypted(endpoint.token_encrypted) == "engine-secret"
    assert sent == [(CHECK_TASK, endpoint.pk)]


def test_a_pin_is_only_dropped_together_with_a_token(api: ApiClient) -> None:
    endpoint = make_endpoint(token="engine-secret", fingerprint=FINGERPRINT)
    refused = api.patch(f"/endpoints/{endpoint.pk}", {"fingerprint": ""})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "token")
    endpoint.refresh_from_db()
    assert endpoint.fingerprint == FINGERPRINT
    changed = api.patch(f"/endpoints/{endpoint.pk}", {"fingerprint": "", "token": "another"})
    assert (changed.status_code, changed.json()["fingerprint"]) == (200, "")


@pytest.mark.parametrize("pinned", ["", FINGERPRINT])
@pytest.mark.parametrize(
    "change",
    [
        {"control_address": "203.0.113.66:7410"},
        {"control_address": "127.0.0.1:2"},
        {"fingerprint": "sha256:" + "c" * 64},
        {"control_address": "203.0.113.66:7410", "fingerprint": "sha256:" + "c" * 64},
    ],
    ids=str,
)
@pytest.mark.parametrize("given", [{}, {"token": ""}, {"token": "   "}], ids=str)
def test_a_stored_token_goes_to_no_other_address_or_certificate(
    api: ApiClient,
    refused: Refused,
    sent: list[tuple[Any, ...]],
    pinned: str,
    change: dict[str, str],
    given: dict[str, Any],
) -> None:
    endpoint = make_endpoint(token="engine-secret", fingerprint=pinned)
    before = Endpoint.objects.values("control_address", "fingerprint", "status").get()
    sent.clear()
    refused(api.patch(f"/endpoints/{endpoint.pk}", change | given), 422, "token")
    assert Endpoint.objects.values("control_address", "fingerprint", "status").get() == before
    assert sent == []
    changed = api.patch(f"/endpoints/{endpoint.pk}", change | {"token": "entered-again"})
    assert changed.status_code == 200
    endpoint.refresh_from_db()
    assert {name: getattr(endpoint, name) for name in change} == change
    assert decrypted(endpoint.token_encrypted) == "entered-again"


def test_a_check_is_asked_for_and_answered_with_202(api: ApiClient, sent: list[tuple[Any, ...]]) -> None:
    endpoint = make_endpoint()
    sent.clear()
    answer = api.post(f"/endpoints/{endpoint.pk}/check")
    assert (answer.status_code, answer.json()) == (202, {"id": endpoint.pk, "status": "unknown"})
    assert sent == [(CHECK_TASK, endpoint.pk)]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"control_address": ""}, "control_address"),
        ({"control_address": "host:99999"}, "control_address"),
        ({"control_address": "0.0.0.0:7410"}, "control_address"),
        ({"control_address": "a b"}, "control_address"),
        ({"control_address": "a" * 300}, "control_address"),
        ({"data_address": "224.0.0.1"}, "data_address"),
        ({"data_address": "255.255.255.255"}, "data_address"),
        ({"network_mode": ""}, "network_mode"),
        ({"network_mode": "m" * 41}, "network_mode"),
        ({"bind_device": "a" * 16}, "bind_device"),
        ({"name": "a" * 101}, "name"),
        ({"fingerprint": "sha256:12"}, "fingerprint"),
        ({"token": 5}, "token"),
        ({"token": "a\nb"}, "token"),
        ({"token_encrypted": "x"}, "token_encrypted"),
        ({"status": "answered"}, "status"),
    ],
)
def test_a_wrong_endpoint_is_refused_and_nothing_is_kept(
    api: ApiClient, refused: Refused, sent: list[tuple[Any, ...]], change: dict[str, Any], field: str
) -> None:
    endpoint = make_endpoint(token="engine-secret", fingerprint=FINGERPRINT)
    before = Endpoint.objects.values().get()
    sent.clear()
    refused(api.post("/endpoints", {"host": endpoint.host_id, "control_address": "b:1"} | change), 422, field)
    refused(api.patch(f"/endpoints/{endpoint.pk}", change), 422, field)
    after = Endpoint.objects.values().get()
    assert before | {"token_encrypted": 0} == after | {"token_encrypted": 0}
    assert bytes(before["token_encrypted"]) == bytes(after["token_encrypted"])
    assert sent == []


@pytest.mark.parametrize("host", [999999, "1", None, 2**63, 0])
def test_an_endpoint_of_no_host_is_refused(api: ApiClient, refused: Refused, host: int | str | None) -> None:
    refused(api.post("/endpoints", {"host": host, "control_address": "b:1"}), 422, "host")
    assert Endpoint.objects.count() == 0


def test_an_endpoint_needs_a_control_address_and_a_host(api: ApiClient, refused: Refused) -> None:
    refused(api.post("/endpoints", {"control_address": "b:1"}), 422, "host")
    refused(api.post("/endpoints", {"host": make_endpoint().host_id}), 422, "control_address")


def test_endpoints_are_filtered(api: ApiClient) -> None:
    one, two = make_endpoint(), make_endpoint()
    Endpoint.objects.filter(pk=two.pk).update(status=Endpoint.Status.REFUSED)
    assert [item["id"] for item in api.get(f"/endpoints?host={one.host_id}").json()["items"]] == [one.pk]
    assert [item["id"] for item in api.get("/endpoints?status=refused").json()["items"]] == [two.pk]


def test_a_pair_lists_its_ends_and_environment_by_id_and_name(api: ApiClient) -> None:
    source, sink = make_endpoint(host_name="a"), make_endpoint(host_name="b", network_mode="terway")
    environment = api.post("/environments", {"name": "lab"}).json()["id"]
    created = api.post("/pairs", {"source": source.pk, "sink": sink.pk, "environment": environment})
    assert created.status_code == 201
    row = created.json()
    assert (row["source"], row["sink"], row["environment"]) == (source.pk, sink.pk, environment)
    assert (row["source_name"], row["sink_name"]) == ("a (host)", "b (terway)")
    assert (row["environment_name"], row["name"]) == ("lab", "a (host) → b (terway)")
    assert api.get("/pairs").json()["items"] == [row]
    assert api.get(f"/pairs/{row['id']}").json() == row


def test_pairs_are_filtered(api: ApiClient) -> None:
    one, two = make_pair(), make_pair()

    def found(query: str) -> list[int]:
        return [item["id"] for item in api.get(f"/pairs?{query}").json()["items"]]

    assert found(f"source={one.source_id}") == found(f"sink={one.sink_id}") == [one.pk]
    assert found(f"environment={two.environment_id}") == [two.pk]
    assert found(f"host={two.sink.host_id}") == found(f"host={two.source.host_id}") == [two.pk]


def test_an_equal_pair_is_a_conflict_until_the_first_is_archived(api: ApiClient, refused: Refused) -> None:
    pair = make_pair()
    body = {"source": pair.source_id, "sink": pair.sink_id, "environment": pair.environment_id}
    assert "exists" in refused(api.post("/pairs", body), 409)
    assert Pair.objects.count() == 1
    api.delete(f"/pairs/{pair.pk}")
    assert api.post("/pairs", body).status_code == 201
    assert "archive that one" in refused(api.post(f"/pairs/{pair.pk}/restore"), 409)
    pair.refresh_from_db()
    assert pair.archived_at is not None


@pytest.mark.parametrize("field", ["source", "sink", "environment"])
def test_a_pair_of_what_is_not_there_or_archived_is_refused(api: ApiClient, refused: Refused, field: str) -> None:
    pair = make_pair()
    body = {"source": pair.source_id, "sink": make_endpoint().pk, "environment": pair.environment_id}
    refused(api.post("/pairs", body | {field: 999999}), 422, field)
    path = "environments" if field == "environment" else "endpoints"
    api.delete(f"/{path}/{body[field]}")
    refused(api.post("/pairs", body), 422, field)
    assert Pair.objects.count() == 1


def test_a_pair_of_one_endpoint_is_refused(api: ApiClient, refused: Refused) -> None:
    pair = make_pair()
    body = {"source": pair.source_id, "sink": pair.source_id, "environment": pair.environment_id}
    refused(api.post("/pairs", body), 422, "sink")


def test_a_pair_moves_to_another_environment_but_its_ends_stay(api: ApiClient, refused: Refused) -> None:
    pair = make_pair()
    other = api.post("/environments", {"name": "other"}).json()["id"]
    assert api.patch(f"/pairs/{pair.pk}", {"environment": other}).json()["environment"] == other
    refused(api.patch(f"/pairs/{pair.pk}", {"environment": other, "source": pair.sink_id}), 422, "source")
    refused(api.patch(f"/pairs/{pair.pk}", {}), 422, "environment")
    refused(api.patch(f"/pairs/{pair.pk}", {"environment": None}), 422, "environment")
    assert api.patch(f"/pairs/{pair.pk}", {"labels": ["rack-7"]}).json()["environment"] == other


def test_archiving_a_host_archives_its_endpoints_and_pairs(api: ApiClient) -> None:
    pair = make_pair()
    assert api.delete(f"/hosts/{pair.source.host_id}").status_code == 204
    assert api.get(f"/endpoints/{pair.source_id}").json()["archived_at"] is not None
    assert api.get(f"/endpoints/{pair.sink_id}").json()["archived_at"] is None
    assert api.get(f"/pairs/{pair.pk}").json()["archived_at"] is not None


@pytest.mark.parametrize("path", ["hosts", "environments", "endpoints", "pairs"])
def test_a_list_costs_two_queries_however_many(
    api: ApiClient, django_assert_num_queries: DjangoAssertNumQueries, path: str
) -> None:
    for _ in range(4):
        make_pair()
    api.get("/catalog")
    with django_assert_num_queries(2):
        assert len(api.get(f"/{path}").json()["items"]) >= 4


@pytest.mark.parametrize("path", ["hosts", "environments", "endpoints", "pairs"])
def test_what_is_not_there_is_404_for_every_call(api: ApiClient, refused: Refused, path: str) -> None:
    for answer in (
        api.get(f"/{path}/999999"),
        api.patch(f"/{path}/999999", {"environment": 1} if path == "pairs" else {}),
        api.delete(f"/{path}/999999"),
        api.post(f"/{path}/999999/restore"),
    ):
        refused(answer, 404)


def test_pages_of_a_list_follow_the_cursor_to_the_end(api: ApiClient) -> None:
    ids = [api.post("/hosts", {"name": f"host {number}"}).json()["id"] for number in range(5)]
    found, cursor = [], ""
    while cursor is not None:
        answer = api.get(f"/hosts?limit=2&cursor={cursor}").json()
        found.append([item["id"] for item in answer["items"]])
        cursor = answer["next"]
    assert found == [ids[:2], ids[2:4], ids[4:]]


def test_a_pair_tells_what_its_last_path_check_found_and_is_checked_on_demand(
    api: ApiClient, refused: Refused, sent: list[tuple[Any, ...]]
) -> None:
    pair = make_pair()
    item = api.get(f"/pairs/{pair.pk}").json()
    assert (item["path_status"], item["path_reason"], item["path_checked_at"], item["path"]) == (
        "pending",
        "",
        None,
        None,
    )
    sent.clear()
    answer = api.post(f"/pairs/{pair.pk}/check")
    assert (answer.status_code, answer.json()) == (202, {"id": pair.pk, "status": "pending"})
    assert sent == [(PATHS_TASK, [pair.pk])]
    assert api.post("/pairs/9999/check").status_code == 404
    found = {
        "address": "192.0.2.9",
        "data_port": 7411,
        "tcp": {"passes": True, "round_trip_seconds": 0.001, "fault": None},
        "udp": {"passes": False, "round_trip_seconds": None, "fault": "timed_out"},
        "forward": None,
        "backward": None,
        "dead": [],
    }
    Pair.objects.update(path_status="blocked", path_reason="no", path_found=found, path_checked_at=Now())
    item = api.get("/pairs?path_status=blocked").json()["items"][0]
    assert (item["id"], item["path_reason"], item["path"]) == (pair.pk, "no", found)
    assert api.get("/pairs?path_status=passes").json()["items"] == []
    refused(api.get("/pairs?path_status=green"), 422, "path_status")


def test_the_speed_of_a_link_is_entered_kept_and_taken_back(api: ApiClient, refused: Refused) -> None:
    host = api.post("/hosts", {"name": "a"}).json()["id"]
    body = {"host": host, "control_address": "127.0.0.1:1", "link_bps": 10_000_000_000}
    row = api.post("/endpoints", body).json()
    assert row["link_bps"] == 10e9
    assert api.patch(f"/endpoints/{row['id']}", {"name": "b"}).json()["link_bps"] == 10e9
    for wrong in (-1, 0, 999, 1e15):
        refused(api.patch(f"/endpoints/{row['id']}", {"link_bps": wrong}), 422, "link_bps")
    refused(api.patch(f"/endpoints/{row['id']}", {"link_bps": "10G"}), 422, "link_bps")
    told = api.get(f"/hosts/{host}/availability").json()["endpoints"][0]
    assert (told["link_bps"], told["is_link_entered"]) == (10e9, True)
    assert api.patch(f"/endpoints/{row['id']}", {"link_bps": None}).json()["link_bps"] is None
