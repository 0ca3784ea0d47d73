"""What an attacker tries first: each is refused, and nothing has changed afterwards."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.models import ApiToken, Grant, Role
from benchweb.accounts.services import TokenLimits, token_create
from benchweb.api.urls import api as the_api
from benchweb.hosts.models import Host
from tests.accounts.routes import needing_routes, page_routes
from tests.factories import make_endpoint, make_user

pytestmark = pytest.mark.django_db

PASSWORD = "a password of hers"  # pragma: allowlist secret
# What no caller may set by naming it: keys, owners, secrets, states and rights.
FORBIDDEN: dict[str, Any] = {
    "id": 7,
    "pk": 7,
    "created_at": "2020-01-01T00:00:00Z",
    "archived_at": None,
    "is_synthetic": True,
    "created_by": 1,
    "created_by_id": 1,
    "user": 1,
    "user_id": 1,
    "author_id": 1,
    "owner": "ada",
    "role": "admin",
    "is_superuser": True,
    "is_staff": True,
    "is_active": True,
    "password": "x",
    "scope": "admin",
    "digest": "0" * 64,
    "token_encrypted": "x",
    "secret_encrypted": "x",
    "lease_owner": "me",
    "opened": 0,
    "__class__": "x",
}

# They give their connection to the database back while they stream.
STREAMS = ("live", "run_events")


@pytest.fixture
def ada() -> User:
    return make_user("ada", PASSWORD)


def test_no_page_is_posted_to_without_the_token_of_its_form(ada: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    posted = {route.path: client.post(route.path, {"name": "x"}).status_code for route in page_routes()}
    assert len(posted) > 150
    # 405 where nothing is posted; addresses of links let nobody change anything; a push has a token of its own.
    assert {path: status for path, status in posted.items() if status < 400} == {}


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example/x", "javascript:alert(1)", "/\\evil.example"]
)
def test_a_log_in_leads_nowhere_else(ada: User, target: str) -> None:
    answer = Client().post(f"/login?next={target}", {"username": "ada", "password": PASSWORD, "next": target})
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/"


def test_forms_that_go_back_lead_nowhere_else(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    for route, _needs in needing_routes():
        if route.name in STREAMS:
            continue
        answer = client.post(route.path, {"back": "https://evil.example/", "next": "https://evil.example/"})
        assert "evil.example" not in answer.headers.get("Location", ""), route.path


def test_a_session_from_before_the_log_in_is_worth_nothing(ada: User) -> None:
    client = Client()
    client.get("/login")
    client.cookies["sessionid"] = "a" * 32
    client.post("/login", {"username": "ada", "password": PASSWORD})
    assert client.cookies["sessionid"].value != "a" * 32
    assert Client(headers={"cookie": f"sessionid={'a' * 32}"}).get("/account").status_code == 302


def test_who_is_deactivated_is_out_at_the_next_request(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    _, secret = token_create(user=ada, name="ci")
    assert client.get("/account").status_code == 200
    User.objects.filter(pk=ada.pk).update(is_active=False)
    assert client.get("/account").status_code == 302
    assert client.get("/api/v1/hosts", headers={"authorization": f"Bearer {secret}"}).status_code == 401


def test_no_patch_takes_what_only_the_dashboard_sets(ada: User) -> None:
    endpoint = make_endpoint(host_name="alder")
    _, secret = token_create(user=ada, name="ci")
    client, tried = Client(headers={"authorization": f"Bearer {secret}"}), 0
    for path, methods in the_api.get_openapi_schema()["paths"].items():
        for method in methods.keys() & {"patch", "put"}:
            taken = _fields(methods[method])
            address = path.replace("{host_id}", str(endpoint.host_id)).replace("{endpoint_id}", str(endpoint.pk))
            for name, value in FORBIDDEN.items():
                if name in taken:
                    continue
                body = json.dumps({name: value})
                answer = client.generic(method.upper(), _any_id(address), body, "application/json")
                assert answer.status_code in (404, 422), (path, name)
                tried += 1
    assert tried > 100
    assert Host.objects.get().name == "alder"


def test_a_form_gives_nobody_more_rights(ada: User) -> None:
    Grant.objects.create(user=ada, role=Role.VIEWER)
    client = Client()
    client.force_login(ada)
    rights = {"role": "admin", "is_superuser": "on", "is_staff": "on", "user": "1", "grants": "admin"}
    client.post("/account", {"time_zone": "", "language": "", "theme": "", **rights})
    client.post("/tokens", {"name": "ci", "scope": "admin", "lasts": "30", **rights})
    ada.refresh_from_db()
    assert not ada.is_superuser and not ada.is_staff
    assert Grant.objects.get().role == Role.VIEWER
    token = ApiToken.objects.get()
    _, secret = token_create(user=ada, name="ci", limits=TokenLimits(scope=token.scope))
    headers = {"authorization": f"Bearer {secret}"}
    made = client.post("/api/v1/environments", {"name": "rack 7"}, "application/json", headers=headers)
    assert made.status_code == 403


def _fields(operation: dict[str, Any]) -> set[str]:
    content = operation["requestBody"]["content"]["application/json"]["schema"]
    reference = content.get("$ref", "")
    components = the_api.get_openapi_schema()["components"]["schemas"]
    return set(components.get(reference.rsplit("/", 1)[-1], content).get("properties", {}))


def _any_id(path: str) -> str:
    return "/".join("1" if part.startswith("{") else part for part in path.split("/"))
