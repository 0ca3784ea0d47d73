"""Labels of hosts, pairs and plans, and uplinks of hosts, by REST."""

from typing import Any

import pytest

from benchweb.hosts.models import Host, Pair
from benchweb.plans.models import Plan
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_environment, make_pair

pytestmark = pytest.mark.django_db


def test_labels_are_tidied_and_kept_and_a_patch_of_one_field_leaves_the_other(api: ApiClient) -> None:
    made = api.post("/hosts", {"name": "alder", "labels": [" rack-7", "nightly", "rack-7"], "uplink": "site-a"}).json()
    assert (made["labels"], made["uplink"]) == (["rack-7", "nightly"], "site-a")
    changed = api.patch(f"/hosts/{made['id']}", {"labels": []}).json()
    assert changed == made | {"labels": []}
    assert api.get("/hosts").json()["items"] == [changed]


def test_hosts_are_found_by_label_and_by_uplink(api: ApiClient) -> None:
    for name, labels, uplink in (("alder", ["a", "b"], ""), ("birch", ["b"], "site"), ("cedar", [], "site")):
        api.post("/hosts", {"name": name, "labels": labels, "uplink": uplink})
    for query, names in (("label=b", ["alder", "birch"]), ("uplink=site", ["birch", "cedar"]), ("label=c", [])):
        assert [host["name"] for host in api.get(f"/hosts?{query}").json()["items"]] == names


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"labels": [""]}, "labels"),
        ({"labels": ["a" * 61]}, "labels"),
        ({"labels": ["a,b"]}, "labels"),
        ({"labels": ["line\nhere"]}, "labels"),
        ({"labels": [str(number) for number in range(21)]}, "labels"),
        ({"labels": [5]}, "labels.0"),
        ({"labels": "nightly"}, "labels"),
        ({"uplink": "a" * 61}, "uplink"),
        ({"uplink": "tab\there"}, "uplink"),
    ],
)
def test_a_label_that_cannot_be_is_refused_and_nothing_is_kept(
    api: ApiClient, refused: Refused, fields: dict[str, Any], field: str
) -> None:
    refused(api.post("/hosts", {"name": "alder"} | fields), 422, field)
    assert Host.objects.count() == 0


def test_pairs_are_labelled_and_found_by_label(api: ApiClient) -> None:
    pair = make_pair()
    body = {"source": pair.sink_id, "sink": pair.source_id, "environment": pair.environment_id, "labels": [" a ", "a"]}
    made = api.post("/pairs", body).json()
    assert made["labels"] == ["a"]
    moved = api.patch(f"/pairs/{made['id']}", {"environment": make_environment().pk}).json()
    assert moved["labels"] == ["a"]
    changed = api.patch(f"/pairs/{made['id']}", {"labels": ["b"]}).json()
    assert changed == moved | {"labels": ["b"]}
    assert api.get("/pairs?label=b").json()["items"] == [changed]
    assert api.get("/pairs?label=a").json()["items"] == []


def test_plans_are_labelled_and_found_by_label(api: ApiClient) -> None:
    body = {"name": "sizes", "steps": [{"kind": "tcp_rr"}]}
    api.post("/plans", body)
    made = api.post("/plans", body | {"labels": ["nightly"]}).json()
    assert api.get("/plans?label=nightly").json()["items"] == [made]
    assert api.put(f"/plans/{made['id']}", body).json()["labels"] == ["nightly"]
    assert api.put(f"/plans/{made['id']}", body | {"labels": []}).json() == made | {"labels": []}


@pytest.mark.parametrize("path", ["/pairs", "/plans"])
def test_labels_of_pairs_and_plans_are_checked_as_those_of_hosts(api: ApiClient, refused: Refused, path: str) -> None:
    pair = make_pair()
    ends = {"source": pair.sink_id, "sink": pair.source_id, "environment": pair.environment_id}
    body = ends if path == "/pairs" else {"name": "sizes", "steps": [{"kind": "tcp_rr"}]}
    refused(api.post(path, body | {"labels": ["a,b"]}), 422, "labels")
    assert (Pair.objects.count(), Plan.objects.count()) == (1, 0)
