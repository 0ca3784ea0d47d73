"""The OpenAPI document: valid by its own rules, and true to what the API does."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from jsonschema import Draft202012Validator

from benchweb.accounts.permissions import Permission
from benchweb.catalog import catalog
from tests.api.conftest import ApiClient
from tests.factories import SIZES, make_pair
from tests.responses import Response

pytestmark = pytest.mark.django_db


@pytest.fixture
def document(anonymous: ApiClient) -> dict[str, Any]:
    answer = anonymous.get("/openapi.json")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def references(value: object) -> list[str]:
    if isinstance(value, dict):
        found = [value["$ref"]] if "$ref" in value else []
        return found + [reference for item in value.values() for reference in references(item)]
    return [reference for item in value for reference in references(item)] if isinstance(value, list) else []


def test_the_document_is_openapi_3_1_with_every_resource(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    roots = {path.split("/")[3] for path in document["paths"]}
    assert roots == {
        "hosts", "fact-changes", "environments", "endpoints", "pairs", "plans", "runs", "compare", "campaigns",
        "schedules", "series", "shares", "reports", "imports", "results", "catalog", "own-kinds", "own-metrics",
        "audit", "alerts", "alerts.atom",
        "thresholds", "sensitivities",
        "baselines", "nights", "channels", "alert-rules", "maintenance-windows", "users", "teams", "invitations",
        "service-accounts", "enrolment-codes",
    }  # fmt: skip


def test_every_reference_leads_somewhere_and_every_schema_is_json_schema(document: dict[str, Any]) -> None:
    for reference in references(document):
        target = document
        for part in reference.removeprefix("#/").split("/"):
            target = target[part]
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_operations_are_named_once_and_declare_what_is_in_their_paths(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names)) >= 40
    for path, _, operation in operations(document):
        declared = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
        assert declared == set(re.findall(r"{(\w+)}", path))
        assert all(each["required"] for each in operation["parameters"] if each["in"] == "path")


def test_every_operation_needs_the_bearer_token_and_tells_of_problems(document: dict[str, Any]) -> None:
    (scheme,) = document["components"]["securitySchemes"].items()
    assert (scheme[1]["type"], scheme[1]["scheme"]) == ("http", "bearer")
    for _, _, operation in operations(document):
        (needed,) = operation["security"]
        assert list(needed) == [scheme[0]]
        (permission,) = needed[scheme[0]]
        assert f"Needs the role {Permission(permission).role.value}" in operation["description"]
        problem = operation["responses"]["default"]["content"]["application/problem+json"]["schema"]
        assert problem == {"$ref": "#/components/schemas/Problem"}


def test_operations_are_named_as_in_the_code_and_the_csv_is_declared_as_such(document: dict[str, Any]) -> None:
    assert document["paths"]["/api/v1/runs"]["post"]["operationId"] == "run_create"
    download = document["paths"]["/api/v1/runs/{run_id}/results.csv"]["get"]["responses"]["200"]
    assert list(download["content"]) == ["text/csv"]


def test_the_page_of_the_document_loads_nothing_from_elsewhere(anonymous: ApiClient) -> None:
    page = anonymous.get("/docs").content.decode()
    assets = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(assets) >= 3
    for asset in assets:
        assert asset.startswith("/static/")
        assert finders.find(asset.removeprefix("/static/"))


def test_every_creating_post_answers_201(document: dict[str, Any]) -> None:
    resources = (
        "hosts", "environments", "endpoints", "pairs", "plans", "runs", "campaigns", "schedules", "shares", "channels",
        "alert-rules", "maintenance-windows", "users", "teams", "invitations", "service-accounts",
    )  # fmt: skip
    for resource in resources:
        assert list(document["paths"][f"/api/v1/{resource}"]["post"]["responses"]) == ["201", "default"]


def test_answers_are_as_the_document_says(api: ApiClient, document: dict[str, Any]) -> None:
    def check(answer: Response, path: str, method: str, status: str) -> dict[str, Any]:
        response = document["paths"][f"/api/v1{path}"][method]["responses"][status]
        (content,) = response["content"].values()
        schema = {**content["schema"], "components": document["components"]}
        found: dict[str, Any] = answer.json()
        Draft202012Validator(schema).validate(found)
        return found

    pair = make_pair()
    plan = check(api.post("/plans", {"name": "sizes", "steps": SIZES}), "/plans", "post", "201")
    run = check(api.post("/runs", {"plan": plan["id"], "pair": pair.pk}), "/runs", "post", "201")
    check(api.get(f"/runs/{run['id']}"), "/runs/{run_id}", "get", "200")
    nightly = {"name": "nightly", "plan": plan["id"], "pairs": [pair.pk], "cron": "0 2 * * *"}
    schedule = check(api.post("/schedules", nightly), "/schedules", "post", "201")
    check(api.post(f"/schedules/{schedule['id']}/run"), "/schedules/{schedule_id}/run", "post", "201")
    check(api.get(f"/schedules/{schedule['id']}/slots"), "/schedules/{schedule_id}/slots", "get", "200")
    lists = (
        "/hosts",
        "/environments",
        "/endpoints",
        "/pairs",
        "/plans",
        "/runs",
        "/campaigns",
        "/schedules",
        "/series",
    )
    for path in lists:
        check(api.get(path), path, "get", "200")
    check(api.post("/hosts", {"name": ""}), "/hosts", "post", "default")


def test_the_catalog_is_given_whole(api: ApiClient) -> None:
    assert api.get("/catalog").json() == catalog().document | {"own_kinds": {}}


def test_creating_operations_and_no_others_take_an_idempotency_key(document: dict[str, Any]) -> None:
    taking = {
        (method, path)
        for path, method, operation in operations(document)
        if any((each["in"], each["name"]) == ("header", "Idempotency-Key") for each in operation["parameters"])
    }
    creating = {(method, path) for path, method, each in operations(document) if "201" in each["responses"]}
    assert taking == creating
    assert {method for method, _ in creating} == {"post"}
