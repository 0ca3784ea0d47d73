"""Thresholds by REST: made, listed, archived with their alerts, restored, and refused with the field at fault."""

from typing import Any

import pytest

from benchweb.regressions.models import Alert, Threshold
from tests.api.conftest import ApiClient
from tests.factories import make_pair
from tests.regressions.judged import judged

pytestmark = pytest.mark.django_db
BODY: dict[str, Any] = {
    "name": "floor",
    "kind": "tcp_stream",
    "metric": "throughput_bps",
    "relation": "below",
    "limit": 0.8e9,
}


def test_a_threshold_is_made_judges_and_is_archived_and_restored(api: ApiClient) -> None:
    pair = make_pair()
    answer = api.post("/thresholds", BODY | {"pair": pair.pk, "severity": "critical"})
    assert answer.status_code == 201, answer.json()
    made = answer.json()
    assert (made["unit"], made["pair"], made["plan"], made["limit"]) == ("bit/s", pair.pk, None, 0.8e9)
    judged(pair, [0.5])
    (alert,) = api.get("/alerts?kind=threshold").json()["items"]
    assert (alert["state"], alert["severity"]) == ("open", "critical")
    assert api.delete(f"/thresholds/{made['id']}").status_code == 204
    assert Alert.objects.get().state == "fixed"
    assert api.get("/thresholds").json()["items"] == []
    assert [each["id"] for each in api.get("/thresholds?archived=true").json()["items"]] == [made["id"]]
    assert api.post(f"/thresholds/{made['id']}/restore", {}).json()["archived_at"] is None


def test_a_threshold_may_be_of_one_test_by_a_series_of_it(api: ApiClient) -> None:
    (run,) = judged(make_pair(), [1.0])
    series = run.figures.get().series
    made = api.post("/thresholds", BODY | {"series": series.pk}).json()
    assert made["params"] == series.identity
    assert Threshold.objects.get().identity_digest == series.identity_digest
    assert api.get("/thresholds").json()["items"] == [made]
    assert api.post("/thresholds", BODY).json()["params"] is None
    answer = api.post("/thresholds", BODY | {"kind": "udp_stream", "series": series.pk})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "series")
    assert api.post("/thresholds", BODY | {"series": 9_999_999}).status_code == 422


def test_name_limit_and_severity_are_changed_and_nothing_else(api: ApiClient) -> None:
    made = api.post("/thresholds", BODY).json()
    path = f"/thresholds/{made['id']}"
    changed = api.patch(path, {"limit": 0.7e9, "severity": "critical"}).json()
    assert changed == made | {"limit": 0.7e9, "severity": "critical"}
    for body, field in (
        ({"metric": "loss_ratio"}, "metric"),
        ({"severity": "awful"}, "severity"),
        ({"name": ""}, "name"),
    ):
        answer = api.patch(path, body)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
    assert api.get(path).json() == changed


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "none"}, "kind"),
        ({"metric": "x"}, "metric"),
        ({"relation": "near"}, "relation"),
        ({"pair": 9}, "pair"),
    ],
)
def test_what_can_be_no_threshold_is_refused(api: ApiClient, change: dict[str, Any], field: str) -> None:
    answer = api.post("/thresholds", BODY | change)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
    assert Threshold.objects.count() == 0
