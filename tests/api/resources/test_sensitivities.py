"""Sensitivities by REST: made, listed, changed, archived, restored, and refused with the field at fault."""

from typing import Any

import pytest

from benchweb.regressions.models import Alert, Sensitivity
from tests.api.conftest import ApiClient
from tests.factories import make_pair
from tests.regressions.judged import judged, quiet

pytestmark = pytest.mark.django_db


def test_a_sensitivity_is_made_judges_and_is_changed_and_archived(api: ApiClient) -> None:
    pair = make_pair()
    answer = api.post("/sensitivities", {"environment": pair.environment_id, "floor_ratio": 0.3})
    assert answer.status_code == 201, answer.json()
    made = answer.json()
    assert made == {
        "id": made["id"],
        "plan": None,
        "environment": pair.environment_id,
        "kind": "",
        "metric": "",
        "floor_ratio": 0.3,
        "noise_times": None,
        "archived_at": None,
    }
    quiet(pair)
    judged(pair, [0.9] * 6, first=20)
    assert Alert.objects.count() == 0
    path = f"/sensitivities/{made['id']}"
    assert api.patch(path, {"floor_ratio": 0.05, "noise_times": 6}).json()["floor_ratio"] == 0.05
    assert api.patch(path, {"noise_times": None}).json() == made | {"floor_ratio": 0.05}
    assert [each["id"] for each in api.get("/sensitivities").json()["items"]] == [made["id"]]
    judged(pair, [0.9], first=26)
    assert Alert.objects.get().state == "open"
    assert api.delete(path).status_code == 204
    assert api.get("/sensitivities").json()["items"] == []
    assert [each["id"] for each in api.get("/sensitivities?archived=true").json()["items"]] == [made["id"]]
    assert api.get(path).json()["archived_at"] is not None
    assert api.post(f"{path}/restore", {}).json()["archived_at"] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "none", "floor_ratio": 0.1}, "kind"),
        ({"plan": 9, "floor_ratio": 0.1}, "plan"),
        ({"kind": "ping"}, "floor_ratio"),
        ({"kind": "ping", "noise_times": 1}, "noise_times"),
        ({"kind": "ping", "floor": 0.1}, "floor"),
    ],
)
def test_what_can_be_no_sensitivity_is_refused(api: ApiClient, body: dict[str, Any], field: str) -> None:
    answer = api.post("/sensitivities", body)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
    assert Sensitivity.objects.count() == 0


def test_a_second_one_of_the_same_scope_is_a_conflict(api: ApiClient) -> None:
    body = {"kind": "ping", "floor_ratio": 0.1}
    assert api.post("/sensitivities", body).status_code == 201
    assert api.post("/sensitivities", body).status_code == 409
    assert api.post("/sensitivities", {"floor_ratio": 0.1}).status_code == 409
    path = f"/sensitivities/{api.get('/sensitivities').json()['items'][0]['id']}"
    assert api.delete(path).status_code == 204
    assert api.post("/sensitivities", body).status_code == 201
    assert api.post(f"{path}/restore", {}).status_code == 409


def test_a_change_that_leaves_nothing_is_refused_and_changes_nothing(api: ApiClient) -> None:
    made = api.post("/sensitivities", {"kind": "ping", "floor_ratio": 0.1}).json()
    assert api.patch(f"/sensitivities/{made['id']}", {"floor_ratio": None}).status_code == 422
    assert Sensitivity.objects.get().floor_ratio == 0.1
