"""Plans by REST: versions, previews, refusals."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from benchweb.plans.models import Plan, PlanVersion
from tests.api.conftest import ApiClient, Refused
from tests.factories import SIZES, make_plan, make_run

pytestmark = pytest.mark.django_db

BODY = {"name": "sizes", "repetitions": 3, "order": "interleaved", "steps": SIZES}

STEP = {"kind": "tcp_rr", "params": {}}


def with_params(**params: Any) -> dict[str, Any]:
    return BODY | {"steps": [{"kind": "tcp_stream", "params": params}]}


def test_a_plan_is_created_with_its_version_one(api: ApiClient) -> None:
    answer = api.post("/plans", BODY)
    plan = answer.json()
    assert answer.status_code == 201
    assert plan == api.get(f"/plans/{plan['id']}").json()
    assert {key: plan[key] for key in BODY} == BODY
    assert (plan["version"], plan["pause_seconds"], plan["archived_at"]) == (1, 0.0, None)


def test_names_need_not_be_unique(api: ApiClient) -> None:
    assert api.post("/plans", BODY).json()["id"] != api.post("/plans", BODY).json()["id"]


def test_a_plan_needs_only_a_name_and_steps(api: ApiClient) -> None:
    plan = api.post("/plans", {"name": "one", "steps": [{"kind": "tcp_rr"}]}).json()
    assert (plan["repetitions"], plan["order"], plan["steps"]) == (1, "interleaved", [{"kind": "tcp_rr", "params": {}}])


def test_a_change_of_what_is_tested_is_a_new_version_and_runs_keep_theirs(api: ApiClient) -> None:
    run = make_run()
    plan_id = run.plan_version.plan_id
    changed = api.put(f"/plans/{plan_id}", BODY | {"repetitions": 5}).json()
    assert (changed["version"], changed["repetitions"]) == (2, 5)
    shown = api.get(f"/runs/{run.pk}").json()
    assert (shown["plan_version"], len(shown["trials"])) == (1, 1)


def test_a_change_of_the_name_alone_is_no_new_version(api: ApiClient) -> None:
    plan = api.post("/plans", BODY).json()
    renamed = api.put(f"/plans/{plan['id']}", BODY | {"name": "curve"}).json()
    assert (renamed["name"], renamed["version"]) == ("curve", 1)


def test_a_preview_counts_times_and_expands_and_keeps_nothing(api: ApiClient) -> None:
    body = {key: value for key, value in BODY.items() if key != "name"} | {"pause_seconds": 2}
    preview = api.post("/plans/preview", body).json()
    # 12 trials of 1 s, each with 1 s for set-up and drain, and 11 pauses of 2 s between them.
    assert (preview["count"], preview["measured_seconds"], preview["total_seconds"]) == (12, 12.0, 46.0)
    assert preview["trials"][3] == {
        "index": 4,
        "step": 1,
        "kind": "tcp_rr",
        "params": {"request_size_bytes": 1, "response_size_bytes": 1, "duration_seconds": 1},
        "repetition": 1,
        "slot_seconds": 2.0,
    }
    assert Plan.objects.count() == 0


REFUSED = [
    ({"name": ""}, "name"),
    ({"name": "a" * 101}, "name"),
    ({"name": "two\nlines"}, "name"),
    ({"name": "bell\x07"}, "name"),
    ({"name": "escape\x1b[31m"}, "name"),
    ({"name": "turned\u202ecod.exe"}, "name"),
    ({"name": "nul\x00"}, "name"),
    ({"name": "half \ud800"}, "name"),
    ({"name": 5}, "name"),
    ({"name": None}, "name"),
    ({"repetitions": 0}, "repetitions"),
    ({"repetitions": 1001}, "repetitions"),
    ({"repetitions": 10**40}, "repetitions"),
    ({"repetitions": 1.5}, "repetitions"),
    ({"repetitions": "3"}, "repetitions"),
    ({"repetitions": True}, "repetitions"),
    ({"order": "random"}, "order"),
    ({"pause_seconds": -1}, "pause_seconds"),
    ({"pause_seconds": 3601}, "pause_seconds"),
    ({"steps": []}, "steps"),
    ({"steps": {}}, "steps"),
    ({"steps": [5]}, "steps.0"),
    ({"steps": [{"kind": "tcp_rr"}] * 101}, "steps"),
    ({"steps": [{"kind": "tcp_stream"}, {"kind": "tcp_strean"}]}, "steps.1.kind"),
    ({"steps": [{"kind": "tcp_rr", "parameters": {}}]}, "steps.0.parameters"),
    ({"steps": [{"params": {}}]}, "steps.0.kind"),
    ({"steps": [{"kind": "tcp_rr", "params": []}]}, "steps.0.params"),
    ({"owner": "me"}, "owner"),
    (with_params(flow=1), "steps.0.params.flow"),
    (with_params(flows=0), "steps.0.params.flows"),
    (with_params(flows=10**400), "steps.0.params.flows"),
    (with_params(flows=1e300), "steps.0.params.flows"),
    (with_params(flows="8"), "steps.0.params.flows"),
    (with_params(flows=True), "steps.0.params.flows"),
    (with_params(flows=None), "steps.0.params.flows"),
    (with_params(flows={"from": 1}), "steps.0.params.flows"),
    (with_params(flows=[]), "steps.0.params.flows"),
    (with_params(flows=[1, 1]), "steps.0.params.flows"),
    (with_params(flows=[1, [2]]), "steps.0.params.flows"),
    (with_params(flows=[1, 5000]), "steps.0.params.flows"),
    (with_params(direction="sideways"), "steps.0.params.direction"),
    (with_params(source_cpus="0; reboot"), "steps.0.params.source_cpus"),
    (with_params(congestion_control="nul\x00"), "steps.0.params.congestion_control"),
    (with_params(message_size_bytes=list(range(1, 100_001)), flows=[1, 2]), "steps"),
]


@pytest.mark.parametrize(("change", "field"), REFUSED)
def test_a_plan_that_cannot_be_is_refused_where_it_is_wrong_and_nothing_is_kept(
    api: ApiClient, refused: Refused, change: dict[str, Any], field: str
) -> None:
    message = refused(api.post("/plans", BODY | change), 422, field)
    assert 10 < len(message) <= 600
    assert (Plan.objects.count(), PlanVersion.objects.count()) == (0, 0)


@pytest.mark.parametrize("field", ["name", "steps"])
def test_what_is_required_is_named(api: ApiClient, refused: Refused, field: str) -> None:
    body = {key: value for key, value in BODY.items() if key != field}
    assert refused(api.post("/plans", body), 422, field) == "This field is required."


def test_a_parameter_out_of_bounds_is_told_with_its_bounds(api: ApiClient, refused: Refused) -> None:
    steps = [{"kind": "udp_stream", "params": {"message_size_bytes": 65536}}]
    message = refused(api.post("/plans", BODY | {"steps": steps}), 422, "steps.0.params.message_size_bytes")
    assert message == "message_size_bytes is 65536, but must be from 1 to 65,507 B."


def test_a_sweep_of_a_million_trials_is_refused_with_its_count(api: ApiClient, refused: Refused) -> None:
    steps = [
        {"kind": "tcp_stream", "params": {"message_size_bytes": list(range(1, 1001)), "flows": list(range(1, 1001))}}
    ]
    message = refused(api.post("/plans/preview", {"steps": steps}), 422, "steps")
    assert message.startswith("The plan makes 1,000,000 trials, but at most 10,000 are allowed")


def test_every_fault_of_the_body_is_told_at_once(api: ApiClient) -> None:
    answer = api.post("/plans", {"repetitions": "x", "steps": [{}], "extra": 1})
    assert sorted(error["field"] for error in answer.json()["errors"]) == [
        "extra",
        "name",
        "repetitions",
        "steps.0.kind",
    ]


def test_a_hundred_faults_are_told_by_the_first_fifty(api: ApiClient) -> None:
    answer = api.post("/plans", BODY | {f"field_{number}": 1 for number in range(100)})
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 50


def test_of_a_list_of_wrong_steps_the_first_is_told(api: ApiClient, refused: Refused) -> None:
    refused(api.post("/plans", BODY | {"steps": [STEP, 5, *[6] * 100_000]}), 422, "steps.1")


def test_an_object_of_a_thousand_fields_is_refused_as_one(api: ApiClient, refused: Refused) -> None:
    params = {f"field_{number}": 1 for number in range(1000)}
    message = refused(api.post("/plans", with_params(**params)), 422, "steps.0.params")
    assert message == "The object has 1,000 fields, but at most 200 are allowed."
    refused(api.post("/plans", BODY | params), 422, "")
    assert Plan.objects.count() == 0


def test_a_refused_change_leaves_the_plan_as_it_was(api: ApiClient, refused: Refused) -> None:
    plan = api.post("/plans", BODY).json()
    refused(api.put(f"/plans/{plan['id']}", BODY | {"name": "x", "repetitions": 0}), 422, "repetitions")
    assert api.get(f"/plans/{plan['id']}").json() == plan


def test_an_archived_plan_leaves_the_list_and_can_not_be_changed(api: ApiClient, refused: Refused) -> None:
    plan = make_plan()
    for _ in range(2):
        assert api.delete(f"/plans/{plan.pk}").status_code == 204
    assert api.get("/plans").json()["items"] == []
    assert [item["id"] for item in api.get("/plans?archived=true").json()["items"]] == [plan.pk]
    refused(api.put(f"/plans/{plan.pk}", BODY), 409)
    assert plan.versions.count() == 1
    assert api.post(f"/plans/{plan.pk}/restore").json()["archived_at"] is None
    assert [item["id"] for item in api.get("/plans").json()["items"]] == [plan.pk]


def test_plans_are_listed_with_their_latest_versions_in_three_queries(
    api: ApiClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(4):
        plan = api.post("/plans", BODY | {"name": f"plan {number}"}).json()
        api.put(f"/plans/{plan['id']}", BODY | {"name": f"plan {number}", "repetitions": 5})
    with django_assert_num_queries(3):
        items = api.get("/plans").json()["items"]
    assert [(item["name"], item["version"], item["repetitions"]) for item in items] == [
        (f"plan {number}", 2, 5) for number in range(4)
    ]


def test_a_plan_that_is_not_there_is_404(api: ApiClient, refused: Refused) -> None:
    refused(api.get("/plans/999999"), 404)
    refused(api.put("/plans/999999", BODY), 404)
    refused(api.delete("/plans/999999"), 404)
    refused(api.post("/plans/999999/restore"), 404)
