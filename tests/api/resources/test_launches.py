"""Launches by REST that need no plan, the queue that a pending run stands in, and labels."""

from typing import Any

import pytest

from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.runs.models import Run
from tests.api.conftest import ApiClient, Refused
from tests.factories import ONE_TRIAL, SIZES, make_endpoint, make_pair, make_plan, make_run

pytestmark = pytest.mark.django_db


def test_a_test_without_a_plan_is_launched_and_stands_in_no_list_of_plans(api: ApiClient) -> None:
    pair = make_pair()
    created = api.post("/runs", {"test": {"steps": SIZES, "repetitions": 2, "name": "tuned"}, "pair": pair.pk})
    assert created.status_code == 201
    run = api.get(f"/runs/{created.json()['id']}").json()
    assert (run["plan_name"], run["plan_version"], len(run["trials"])) == ("tuned", 1, 8)
    assert api.get("/plans").json()["items"] == []
    plan = api.get(f"/plans/{run['plan']}").json()
    assert plan["is_one_off"]
    assert not api.post(f"/plans/{run['plan']}/keep", {}).json()["is_one_off"]
    assert [item["id"] for item in api.get("/plans").json()["items"]] == [run["plan"]]


def test_a_kind_between_two_endpoints_is_a_quick_test_and_makes_its_pair(api: ApiClient) -> None:
    source, sink = make_endpoint(), make_endpoint()
    body = {"kind": "tcp_rr", "source": source.pk, "sink": sink.pk}
    runs = [api.post("/runs", body).json()["id"] for _ in range(2)]
    assert [run.pair_id for run in Run.objects.filter(pk__in=runs)] == [Pair.objects.get().pk] * 2
    assert Plan.objects.get().versions.count() == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"plan": None}, "plan"),
        ({"kind": "tcp_rr"}, "kind"),
        ({"pair": None}, "pair"),
        ({"source": 1}, "source"),
        ({"plan": None, "kind": "tcp_strem"}, "kind"),
        ({"pair": None, "source": 999999, "sink": 999999}, "source"),
        ({"plan": None, "test": {"steps": []}}, "steps"),
    ],
)
def test_what_names_too_little_or_too_much_is_refused_and_launches_nothing(
    api: ApiClient, refused: Refused, change: dict[str, Any], field: str
) -> None:
    body = {"plan": make_plan().pk, "pair": make_pair().pk} | change
    refused(api.post("/runs", body), 422, field)
    assert (Run.objects.count(), Plan.objects.count(), Pair.objects.count()) == (0, 1, 1)


def test_from_an_endpoint_to_itself_is_refused(api: ApiClient, refused: Refused) -> None:
    source = make_endpoint()
    refused(api.post("/runs", {"kind": "tcp_rr", "source": source.pk, "sink": source.pk}), 422, "sink")


def test_a_pending_run_tells_its_queue_and_one_that_is_not_pending_has_none(api: ApiClient) -> None:
    shared = make_endpoint()
    _, second = (make_run(pair=make_pair(sink=shared)) for _ in range(2))
    queue = api.get(f"/runs/{second.pk}").json()["queue"]
    assert (queue["ahead"], queue["running"], queue["is_estimate"]) == (1, [], False)
    assert queue["expected_start_at"] < queue["expected_end_at"]
    api.post(f"/runs/{second.pk}/cancel", {})
    assert api.get(f"/runs/{second.pk}").json()["queue"] is None


def test_a_plan_lists_its_versions_the_latest_first(api: ApiClient) -> None:
    plan = make_plan(steps=ONE_TRIAL)
    body = {"name": "sizes", "steps": SIZES, "repetitions": 2}
    assert api.put(f"/plans/{plan.pk}", body).status_code == 200
    items = api.get(f"/plans/{plan.pk}/versions").json()["items"]
    assert [(item["version"], item["repetitions"], len(item["steps"])) for item in items] == [(2, 2, 2), (1, 1, 1)]


def test_runs_are_labelled_and_found_by_label_and_size(api: ApiClient, refused: Refused) -> None:
    run, other = make_run(steps=SIZES), make_run()
    for _ in range(2):
        labelled = api.post(f"/runs/{run.pk}/labels", {"label": "before upgrade"})
        assert (labelled.status_code, labelled.json()["labels"]) == (201, ["before upgrade"])
    assert [item["id"] for item in api.get("/runs?label=before upgrade").json()["items"]] == [run.pk]
    assert [item["id"] for item in api.get("/runs?size_bytes=1024").json()["items"]] == [run.pk]
    assert [item["id"] for item in api.get("/runs?size_bytes=16384").json()["items"]] == [other.pk, run.pk]
    refused(api.post(f"/runs/{other.pk}/labels", {"label": " "}), 422, "label")
    assert api.delete(f"/runs/{run.pk}/labels/before upgrade").json()["labels"] == []
    assert api.delete("/runs/999999/labels/x").status_code == 404


def test_one_host_alone_is_launched_by_its_endpoint_for_kinds_that_need_no_sink(
    api: ApiClient, refused: Refused
) -> None:
    endpoint = make_endpoint(host_name="alone")
    body = {"kind": "memory_bandwidth", "endpoint": endpoint.pk}
    runs = [api.post("/runs", body).json()["id"] for _ in range(2)]
    pair = api.get(f"/pairs/{Run.objects.get(pk=runs[0]).pair_id}").json()
    assert (pair["name"], pair["is_one_host"], pair["sink"]) == ("alone (host)", True, endpoint.pk)
    assert Pair.objects.count() == 1
    refused(api.post("/runs", {"kind": "tcp_rr", "endpoint": endpoint.pk}), 422, "pair")
    refused(api.post("/runs", body | {"pair": pair["id"]}), 422, "pair")
