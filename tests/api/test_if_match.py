"""`If-Match`: a change is made only where the row is as it was read; else both states are told, and nothing changes."""

import threading

import pytest
from django.db import connection

from benchweb.api.editing import changed_fields
from benchweb.api.urls import api as all_of_it
from benchweb.plans.models import Plan
from tests.api.conftest import ApiClient
from tests.factories import make_endpoint, make_environment, make_pair, make_plan, make_schedule, make_threshold

PLAN = {"name": "sizes", "repetitions": 2, "steps": [{"kind": "tcp_stream", "params": {"duration_seconds": 1}}]}


def test_every_row_that_can_be_changed_shows_a_version(api: ApiClient) -> None:
    pair = make_pair()
    paths = {
        f"/plans/{make_plan().pk}": {"name": "other"} | PLAN,
        f"/hosts/{pair.source.host_id}": {"description": "rack 7"},
        f"/environments/{pair.environment_id}": {"description": "rack 7"},
        f"/pairs/{pair.pk}": {"labels": ["nightly"]},
        f"/schedules/{make_schedule().pk}": {"name": "other"},
        f"/thresholds/{make_threshold().pk}": {"name": "other"},
    }
    for path, body in paths.items():
        read = api.get(path)
        tag = read.headers["ETag"]
        assert api.get(path).headers["ETag"] == tag
        method = "PUT" if path.startswith("/plans") else "PATCH"
        assert api.call(method, path, body, **{"If-Match": tag}).status_code == 200, path
        changed = api.get(path).headers["ETag"]
        assert changed != tag, path
        refused = api.call(method, path, body, **{"If-Match": tag})
        assert (refused.status_code, refused.headers["ETag"]) == (409, changed), path
        document = refused.json()
        assert (document["sent"], document["current"]["id"]) == (body, read.json()["id"])
        # Without it, and with any, a change is made as ever.
        assert api.call(method, path, body).status_code == 200
        assert api.call(method, path, body, **{"If-Match": "*"}).status_code == 200


def test_the_tag_of_a_compressed_answer_is_that_of_the_same_state(api: ApiClient) -> None:
    # Long enough to be shorter when it is compressed, whatever random bytes Django adds against BREACH.
    plan = make_plan(steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": list(range(64, 264))}}])
    tag = api.call("GET", f"/plans/{plan.pk}", None, **{"Accept-Encoding": "gzip"}).headers["ETag"]
    assert tag.startswith('W/"')
    body = {"name": "other"} | PLAN
    assert api.call("PUT", f"/plans/{plan.pk}", body, **{"If-Match": tag}).status_code == 200
    assert api.call("PUT", f"/plans/{plan.pk}", body, **{"If-Match": tag}).status_code == 409


def test_what_was_measured_meanwhile_is_no_change_of_a_row(api: ApiClient) -> None:
    endpoint = make_endpoint()
    tag = api.get(f"/endpoints/{endpoint.pk}").headers["ETag"]
    type(endpoint).objects.update(status="unreachable", status_reason="timed out")
    assert api.get(f"/endpoints/{endpoint.pk}").headers["ETag"] == tag


def test_a_row_is_archived_only_as_it_was_read(api: ApiClient) -> None:
    environment = make_environment()
    tag = api.get(f"/environments/{environment.pk}").headers["ETag"]
    api.patch(f"/environments/{environment.pk}", {"description": "rack 7"})
    assert api.call("DELETE", f"/environments/{environment.pk}", **{"If-Match": tag}).status_code == 409
    environment.refresh_from_db()
    assert environment.archived_at is None


def test_a_body_that_can_not_be_read_is_refused_as_ever(api: ApiClient) -> None:
    plan = make_plan()
    stale = api.call("PUT", f"/plans/{plan.pk}", b"{", **{"If-Match": '"old"'})
    assert (stale.status_code, stale.json()["sent"]) == (409, None)
    tag = api.get(f"/plans/{plan.pk}").headers["ETag"]
    assert api.call("PUT", f"/plans/{plan.pk}", b"{", **{"If-Match": tag}).status_code in (400, 422)


@pytest.mark.django_db(transaction=True)
def test_of_two_changes_at_the_same_moment_one_is_refused(token: str) -> None:
    plan = make_plan()
    tag = ApiClient(token).get(f"/plans/{plan.pk}").headers["ETag"]
    statuses, ready = list[int](), threading.Barrier(2)

    def change(name: str) -> None:
        ready.wait()
        try:
            answer = ApiClient(token).call("PUT", f"/plans/{plan.pk}", PLAN | {"name": name}, **{"If-Match": tag})
            statuses.append(answer.status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=change, args=[name]) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 409]
    assert Plan.objects.get().name in ("one", "other")


def test_the_description_tells_of_it(api: ApiClient) -> None:
    paths = api.get("/openapi.json").json()["paths"]
    told = {
        path
        for path, operations in paths.items()
        for method, operation in operations.items()
        if method in ("put", "patch") and any(each["name"] == "If-Match" for each in operation.get("parameters", []))
    }
    expected = {f"/api/v1{path}" for path, view in all_of_it.path_views() if changed_fields(view)}
    assert told == expected
    assert "/api/v1/plans/{plan_id}" in told
