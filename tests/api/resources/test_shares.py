"""Share links by REST."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from benchweb.sharing.models import Share
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_endpoint, make_pair, make_run

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


@pytest.mark.parametrize("is_live", [False, True])
def test_a_view_is_shared_listed_opened_and_revoked(api: ApiClient, is_live: bool) -> None:
    path = f"/pairs/{make_pair(source=make_endpoint(host_name='quartz')).pk}"
    body = {"path": path, "is_live": is_live, "time_zone": "Europe/Berlin", "expires_at": None, "anonymise": True}
    made = api.post("/shares", body)
    assert made.status_code == 201
    opened = Client().get(made.json()["url"])
    assert opened.status_code == 200
    assert "quartz" not in opened.content.decode()
    (item,) = api.get(f"/shares?path={path}").json()["items"]
    assert (item["id"], item["run"], item["path"], item["is_live"]) == (made.json()["id"], None, path, is_live)
    assert "quartz" in item["title"]
    assert api.delete(f"/shares/{item['id']}").status_code == 204
    assert Client().get(made.json()["url"]).status_code == 410


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "run"),
        ({"path": "/hosts"}, "path"),
        ({"path": "/pairs/999999"}, "path"),
        ({"path": "https://elsewhere.example/history"}, "path"),
        ({"path": "/history", "run": 1}, "path"),
        ({"run": 1, "is_live": True}, "is_live"),
        ({"path": "/history", "time_zone": "Europe/Atlantis"}, "time_zone"),
        ({"path": "/history", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
    ],
)
def test_a_view_that_cannot_be_shared_is_refused(
    api: ApiClient, refused: Refused, body: dict[str, Any], field: str
) -> None:
    refused(api.post("/shares", body), 422, field)
    assert Share.objects.count() == 0


def test_a_share_without_an_end_expires_after_the_days_of_the_setting(api: ApiClient, settings: Settings) -> None:
    settings.SHARE_DAYS = 3
    api.post("/shares", {"run": make_run().pk})
    expires_at = Share.objects.get().expires_at
    assert expires_at is not None
    assert abs(expires_at - datetime.now(UTC) - timedelta(days=3)) < timedelta(minutes=1)
