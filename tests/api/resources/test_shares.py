"""Share links by REST."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from benchweb.sharing.models import Share
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_run

pytestmark = pytest.mark.django_db


def test_a_share_is_made_listed_opened_and_revoked(api: ApiClient) -> None:
    run = make_run()
    made = api.post("/shares", {"run": run.pk, "expires_at": None, "anonymise": True})
    assert made.status_code == 201
    share, url = made.json()["id"], made.json()["url"]
    assert url.startswith("/s/")
    assert made.json()["link"] == f"http://testserver{url}"
    assert Client().get(url).status_code == 200
    (item,) = api.get(f"/shares?run={run.pk}").json()["items"]
    assert (item["id"], item["run"], item["url"], item["opened"]) == (share, run.pk, url, 1)
    assert (item["anonymise"], item["expires_at"], item["revoked_at"]) == (True, None, None)
    assert api.delete(f"/shares/{share}").status_code == 204
    assert Client().get(url).status_code == 410
    assert api.get(f"/shares/{share}").json()["revoked_at"] is not None
    assert api.delete(f"/shares/{share}").status_code == 204


def test_a_share_may_end_at_a_time(api: ApiClient) -> None:
    at = datetime.now(UTC) + timedelta(days=1)
    share = api.post("/shares", {"run": make_run().pk, "expires_at": at.isoformat()}).json()["id"]
    row = Share.objects.get(pk=share)
    assert (row.expires_at, row.anonymise) == (at, False)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"run": 999_999}, "run"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"anonymise": "yes"}, "anonymise"),
        ({"token": "mine"}, "token"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_made(
    api: ApiClient, refused: Refused, change: dict[str, Any], field: str
) -> None:
    refused(api.post("/shares", {"run": make_run().pk} | change), 422, field)
    assert Share.objects.count() == 0


def test_what_is_not_there_is_a_404_and_a_stranger_is_refused(
    api: ApiClient, anonymous: ApiClient, refused: Refused
) -> None:
    refused(api.delete("/shares/999999"), 404)
    refused(api.get("/shares/999999"), 404)
    refused(anonymous.post("/shares", {"run": make_run().pk}), 401)
    assert Share.objects.count() == 0
