"""Labels and uplinks of hosts by REST."""

from typing import Any

import pytest

from benchweb.hosts.models import Host
from tests.api.conftest import ApiClient, Refused

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
