"""Changes of facts by REST."""

from datetime import UTC, datetime, timedelta

import pytest

from benchweb.hosts.facts.records import facts_record
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_endpoint

pytestmark = pytest.mark.django_db
FIRST = datetime(2026, 11, 1, 2, tzinfo=UTC)


def test_changes_are_listed_filtered_and_paged(api: ApiClient) -> None:
    endpoint = make_endpoint(host_name="alder")
    for day, mtu in enumerate((1500, 9000, 1500)):
        document = {"interfaces": [{"name": "eth0", "mtu": mtu}], "boot_id": str(day)}
        facts_record(endpoint_id=endpoint.pk, document=document, at=FIRST + timedelta(days=day))
    first = api.get("/fact-changes?fact=mtu&limit=1").json()
    assert first["items"] == [
        {
            "at": "2026-11-03T02:00:00.000000Z",
            "host": endpoint.host_id,
            "host_name": "alder",
            "endpoint": endpoint.pk,
            "changes": [
                {
                    "fact": "mtu",
                    "key": "mtu",
                    "interface": "eth0",
                    "before": 9000,
                    "after": 1500,
                    "text": "MTU 9000 B → 1500 B on eth0",
                }
            ],
        }
    ]
    second = api.get(f"/fact-changes?fact=mtu&limit=1&cursor={first['next']}").json()
    assert ([each["at"] for each in second["items"]], second["next"]) == (["2026-11-02T02:00:00.000000Z"], None)
    assert api.get("/fact-changes?from=2026-11-03T00:00:00Z&to=2026-11-04T00:00:00Z").json()["items"] == first["items"]
    assert api.get(f"/fact-changes?host={endpoint.host_id + 1}").json() == {"items": [], "next": None}


def test_two_changes_of_one_moment_are_on_two_pages(api: ApiClient) -> None:
    endpoint = make_endpoint(host_name="alder")
    for day, kernel in enumerate(("6.1", "6.8", "6.1")):
        facts_record(endpoint_id=endpoint.pk, document={"kernel": kernel}, at=FIRST + timedelta(days=day))
    first = api.get("/fact-changes?limit=1").json()
    second = api.get(f"/fact-changes?limit=1&cursor={first['next']}").json()
    texts = [each["changes"][0]["text"] for each in (*first["items"], *second["items"])]
    assert (texts, second["next"]) == (["kernel 6.8 → 6.1", "kernel 6.1 → 6.8"], None)


def test_an_unknown_fact_or_filter_is_named(api: ApiClient, refused: Refused) -> None:
    refused(api.get("/fact-changes?fact=shoe"), 422, "fact")
    refused(api.get("/fact-changes?facts=kernel"), 422, "facts")
    refused(api.get("/fact-changes?cursor=x"), 422, "cursor")
