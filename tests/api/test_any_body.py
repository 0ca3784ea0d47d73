"""No body, however strange, makes the API fail: every writing call is answered below 500, a refusal with its field."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model
from django.test import Client

from benchweb.accounts.login.invitations import invitation_create
from benchweb.accounts.models import Invitation, Team
from benchweb.accounts.roles.grants import team_create
from benchweb.accounts.roles.service_accounts import service_account_create, service_accounts
from benchweb.accounts.services import token_create
from benchweb.api.urls import api as the_api
from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.imports.models import Import
from benchweb.notifications.models import Channel, MaintenanceWindow, Rule
from benchweb.plans.models import Plan
from benchweb.regressions.models import Alert, Baseline, Sensitivity, Threshold
from benchweb.reports.models import Report
from benchweb.results.models import Series
from benchweb.runs.models import Campaign, Run
from benchweb.schedules.models import Schedule
from benchweb.sharing.models import Share
from tests.factories import (
    make_alert,
    make_channel,
    make_endpoint,
    make_pair,
    make_plan,
    make_run,
    make_schedule,
    make_threshold,
    make_user,
)

pytestmark = pytest.mark.django_db

SCHEMA = the_api.get_openapi_schema()
COMPONENTS = SCHEMA["components"]["schemas"]
OPERATIONS = [
    (method, path, operation)
    for path, methods in SCHEMA["paths"].items()
    for method, operation in methods.items()
    if method in ("post", "put", "patch", "delete")
]
# Of every type, at its edges and beyond: what PostgreSQL can't hold, what JSON can and Python's dates can't.
STRANGE: list[Any] = [
    *(None, True, 0, -1, 1, 2**31, 2**63, 10**30, 1.5, -1e308, 1e-320),
    *("", " ", "\0", "a\0b", "\ud800", "\u202e", "x" * 5_000, "null", "0", "-1", "1e999", "NaN", "١٢"),
    *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-02-30", "2026-11-27T25:00:00Z", "24:00", "-1:00"),
    *("Europe/Berlin", "../etc/passwd", "http://[::1", "%s%s%n", "' OR 1=1 --"),
    *([], [None], [[]], [1, 1], [2**63], list(range(300)), {}, {"": ""}, {"id": 1}, {"kind": {}}, [{"kind": "ping"}]),
]
ROWS: dict[str, type[Model]] = {
    "host": Host,
    "endpoint": Endpoint,
    "environment": Environment,
    "pair": Pair,
    "plan": Plan,
    "run": Run,
    "source": Endpoint,
    "sink": Endpoint,
    "campaign": Campaign,
    "schedule": Schedule,
    "series": Series,
    "alert": Alert,
    "threshold": Threshold,
    "baseline": Baseline,
    "sensitivity": Sensitivity,
    "share": Share,
    "channel": Channel,
    "rule": Rule,
    "window": MaintenanceWindow,
    "report": Report,
    "import": Import,
    "user": User,
    "team": Team,
    "invitation": Invitation,
}
# A field gets one in so many.
EACH = 6
BODIES = [b"", b"{", b"[]", b"null", b"1", b'"text"', b"[" * 10_000, b'{"name": NaN}', b'{"a": 1, "a": 2}', b"\xff\xfe"]


def properties(operation: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a call's body."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return dict(resolved(content.get("schema", {})).get("properties", {}))


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return resolved(COMPONENTS[schema["$ref"].rsplit("/", 1)[-1]])
    if "allOf" in schema:
        return resolved(schema["allOf"][0])
    if "anyOf" in schema:
        return resolved(next(each for each in schema["anyOf"] if each.get("type") != "null"))
    return schema


def plain(schema: dict[str, Any]) -> Any:
    """Return a value that may well be taken for a schema."""
    schema = resolved(schema)
    if schema.get("default") is not None:
        return schema["default"]
    if "examples" in schema or "enum" in schema or "const" in schema:
        return schema.get("const") or (schema.get("examples") or schema["enum"])[0]
    if schema.get("type") == "object":
        return {name: plain(each) for name, each in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        return [plain(schema["items"])]
    values: dict[str, Any] = {"string": "text", "boolean": False, "integer": 1, "number": 1.0}
    return values.get(str(schema.get("type")))


@pytest.fixture
def caller(db: None) -> Iterator[Client]:
    """A client with a token, and a row of most things for ids to hit."""
    ada = make_user("ada", "a password of hers")
    _, secret = token_create(user=ada, name="ci")
    invitation_create(by=ada, lasts=timedelta(days=7))
    team_create(name="night shift")
    service_account_create(name="export", role="viewer")
    make_run(pair=make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch")))
    make_schedule()
    make_channel()
    make_plan()
    make_threshold()
    make_alert()
    yield Client(raise_request_exception=False, headers={"authorization": f"Bearer {secret}"})


def filled(path: str) -> str:
    """Fill the places of a path with the ids of rows that there are."""
    path = path.replace("{account_id}", str(service_accounts().values_list("pk", flat=True).first()))
    for name, model in ROWS.items():
        path = path.replace(f"{{{name}_id}}", str(model._default_manager.values_list("pk", flat=True).first() or 1))
    return path.replace("{label}", "nightly").replace("{night}", "2026-11-27")


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_a_strange_body_is_refused_in_words(caller: Client, method: str, path: str, operation: dict[str, Any]) -> None:
    fields = properties(operation)
    usual = {name: plain(schema) for name, schema in fields.items()}
    rows = {name: model._default_manager.values_list("pk", flat=True).first() for name, model in ROWS.items()}
    usual |= {name: row for name, row in rows.items() if name in fields}
    bodies = [*BODIES, json.dumps(usual).encode()]
    # All of them for every field take two minutes, and found nothing more.
    for number, name in enumerate(fields):
        bodies += [json.dumps(usual | {name: value}).encode() for value in STRANGE[number % EACH :: EACH]]
    address = filled(path)
    for body in bodies:
        with transaction.atomic():
            answer = caller.generic(method.upper(), address, body, "application/json")
            transaction.set_rollback(True)
        assert answer.status_code < 500, (body[:300], answer.content[:500])
        if answer.status_code >= 400:
            assert answer.headers["Content-Type"] == "application/problem+json", body[:300]
            assert answer.json()["detail"], body[:300]
