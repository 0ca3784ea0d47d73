"""What a hostile or clumsy caller sends: every answer is a problem document, nothing is a 500."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client

from benchweb.accounts.services import token_create, token_revoke
from benchweb.api.parser import MAXIMUM_BODY_BYTES
from benchweb.hosts import services
from benchweb.hosts.models import Host
from benchweb.plans.models import Plan
from benchweb.plans.services import plan_archive
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_pair, make_plan

pytestmark = pytest.mark.django_db

PATHS = [
    ("GET", "/hosts"),
    ("POST", "/hosts"),
    ("GET", "/hosts/1"),
    ("DELETE", "/hosts/1"),
    ("GET", "/environments"),
    ("GET", "/endpoints"),
    ("POST", "/endpoints/1/check"),
    ("GET", "/pairs"),
    ("POST", "/plans"),
    ("POST", "/plans/preview"),
    ("POST", "/runs"),
    ("GET", "/runs/1"),
    ("GET", "/runs/1/results.csv"),
    ("GET", "/runs/1/results.json"),
    ("POST", "/campaigns"),
    ("GET", "/campaigns/1"),
    ("GET", "/schedules"),
    ("POST", "/schedules"),
    ("PATCH", "/schedules/1"),
    ("POST", "/schedules/1/run"),
    ("GET", "/schedules/1/slots"),
    ("GET", "/series"),
    ("GET", "/series/1/points"),
    ("GET", "/catalog"),
]


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_no_token_is_401_whatever_is_asked(anonymous: ApiClient, refused: Refused, method: str, path: str) -> None:
    answer = anonymous.call(method, path, {"name": "a"})
    assert "Authorization: Bearer TOKEN" in refused(answer, 401)
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="benchweb"'
    assert Host.objects.count() == 0


@pytest.mark.parametrize("token", ["wrong", "bw_", "a" * 10_000, "é", "null", "' OR 1=1 --"])
def test_a_wrong_token_is_401_and_says_so(refused: Refused, token: str) -> None:
    answer = ApiClient(token).get("/hosts")
    refused(answer, 401)
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="benchweb", error="invalid_token"'


def test_a_revoked_token_and_one_of_an_inactive_user_are_refused(user: User, refused: Refused) -> None:
    token, secret = token_create(user=user, name="old")
    assert ApiClient(secret).get("/hosts").status_code == 200
    token_revoke(user=user, token_id=token.pk)
    refused(ApiClient(secret).get("/hosts"), 401)
    _, secret = token_create(user=user, name="new")
    user.is_active = False
    user.save()
    refused(ApiClient(secret).get("/hosts"), 401)


@pytest.mark.parametrize("header", ["Basic YTpi", "Bearer", "Token abc", "bw_something"])
def test_another_way_to_log_in_is_refused(db: None, refused: Refused, header: str) -> None:
    refused(Client(headers={"Authorization": header}).get("/api/v1/hosts"), 401)


def test_a_browsers_session_is_no_token(user: User, refused: Refused) -> None:
    client = Client()
    client.force_login(user)
    refused(client.get("/api/v1/hosts"), 401)
    refused(client.post("/api/v1/hosts", {"name": "a"}, content_type="application/json"), 401)


def test_the_word_bearer_may_be_written_in_any_case(token: str) -> None:
    assert Client(headers={"Authorization": f"bearer {token}"}).get("/api/v1/hosts").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nothing",
        b"{'name': 'a'}",
        b'{"name": "a"} {"name": "b"}',
        b'{"name": NaN}',
        b'{"name": Infinity}',
        b'{"name": 1e999}',
        b'{"name": ' + b"9" * 5000 + b"}",
        b"\xff\xfe{}",
        b'{"name": "\xc3\x28"}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"name": ' + b"[" * 40 + b"]" * 40 + b"}",
        b"name=a&description=b",
        b"\x00",
    ],
    ids=range(15),
)
def test_a_body_that_is_no_json_is_400_with_a_sentence(api: ApiClient, refused: Refused, body: bytes) -> None:
    message = refused(api.post("/hosts", body), 400)
    assert message.startswith(("The body is not ", "The body holds ", "The body's JSON "))
    assert Host.objects.count() == 0


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'"a"', b"5", b"true"])
def test_a_body_that_is_no_object_is_422(api: ApiClient, refused: Refused, body: bytes) -> None:
    refused(api.post("/hosts", body), 422, "")
    assert Host.objects.count() == 0


@pytest.mark.parametrize("size", [MAXIMUM_BODY_BYTES + 1, 5_000_000])
def test_a_huge_body_is_413_with_the_limit(api: ApiClient, refused: Refused, size: int) -> None:
    body = json.dumps({"name": "a", "description": "b" * size}).encode()
    assert f"{MAXIMUM_BODY_BYTES:,} bytes" in refused(api.post("/hosts", body), 413)
    assert Host.objects.count() == 0


def test_a_nul_in_a_key_or_deep_inside_is_refused_where_it_is(api: ApiClient, refused: Refused) -> None:
    refused(api.post("/plans", {"name": "a", "ste\x00ps": []}), 422, "")
    steps = [{"kind": "tcp_stream"}, {"kind": "tcp_stream", "params": {"source_cpus": ["0", "1\x00"]}}]
    refused(api.post("/plans", {"name": "a", "steps": steps}), 422, "steps.1.params.source_cpus.1")
    assert Plan.objects.count() == 0


def test_a_megabyte_sent_in_a_field_does_not_come_back(api: ApiClient, refused: Refused) -> None:
    answer = api.post("/plans", {"name": "a", "steps": [{"kind": "tcp_rr", "params": {"k" * 1_000_000: 1}}]})
    refused(answer, 422)
    assert len(answer.content) < 5000


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/hosts", {"GET", "POST"}),
        ("PUT", "/hosts/1", {"GET", "PATCH", "DELETE"}),
        ("POST", "/runs/1", {"GET"}),
        ("GET", "/runs/1/cancel", {"POST"}),
        ("PATCH", "/plans/1", {"GET", "PUT", "DELETE"}),
        ("DELETE", "/runs/1", {"GET"}),
        ("TRACE", "/hosts", {"GET", "POST"}),
    ],
)
def test_a_method_that_is_not_there_is_405_with_those_that_are(
    api: ApiClient, refused: Refused, method: str, path: str, allowed: set[str]
) -> None:
    answer = api.call(method, path)
    refused(answer, 405)
    assert set(answer.headers["Allow"].split(", ")) == allowed


@pytest.mark.parametrize("path", ["/", "/nothing", "/hosts/", "/hosts/1/nothing", "/../admin", "/runs/1/results.xml"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_path_that_is_not_there_is_a_404_problem(api: ApiClient, refused: Refused, method: str, path: str) -> None:
    refused(api.call(method, path), 404)


def test_head_is_get_without_its_content(api: ApiClient, refused: Refused) -> None:
    answer = api.call("HEAD", "/hosts")
    assert (answer.status_code, answer.content) == (200, b"")
    assert api.call("HEAD", "/runs/1/cancel").status_code == 405


def test_a_slash_at_the_end_is_told(api: ApiClient, refused: Refused) -> None:
    assert "no slash at the end" in refused(api.get("/hosts/"), 404)


def test_a_problem_document_has_every_field_of_the_rfc(api: ApiClient) -> None:
    assert api.post("/hosts", {"name": ""}).json() == {
        "type": "about:blank",
        "title": "Unprocessable Entity",
        "status": 422,
        "detail": "A name has 1 to 100 characters.",
        "instance": "/api/v1/hosts",
        "errors": [{"field": "name", "message": "A name has 1 to 100 characters."}],
    }


def test_a_bug_is_a_500_problem_that_tells_nothing_and_is_logged(
    api: ApiClient, refused: Refused, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(**fields: Any) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr(services, "host_create", broken)
    answer = api.post("/hosts", {"name": "a"})
    refused(answer, 500)
    assert b"secret" not in answer.content
    assert "a secret of the inside" in caplog.text


def test_a_database_that_is_away_is_a_503_with_a_time_to_try_again(
    api: ApiClient, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(**fields: Any) -> None:
        raise OperationalError("connection failed: socket /secret/path")

    monkeypatch.setattr(services, "host_create", away)
    answer = api.post("/hosts", {"name": "a"})
    refused(answer, 503)
    assert answer.headers["Retry-After"] == "5"
    assert b"secret" not in answer.content


def test_text_of_every_script_is_kept_as_it_is(api: ApiClient) -> None:
    for name in ("机房-7", "Münster", "مضيف", "👩‍🔬 lab", "a'; DROP TABLE hosts_host; --", "<script>alert(1)</script>"):
        assert api.post("/hosts", {"name": name}).json()["name"] == name


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/hosts", {"name": " "}, "A name has 1 to 100 characters."),
        (
            "/plans/preview",
            {"steps": [{"kind": "udp_stream", "params": {"message_size_bytes": 65536}}]},
            "message_size_bytes is 65536, but must be from 1 to 65,507 B.",
        ),
        ("/schedules", {"name": "nightly", "cron": "0 24 * * *"}, "'24' in the hour: write 0 to 23."),
        ("/campaigns", {}, "Plan old is archived: restore it, or choose another."),
    ],
)
def test_a_refusal_is_english_whatever_language_the_caller_accepts(
    api: ApiClient, refused: Refused, path: str, body: dict[str, Any], message: str
) -> None:
    plan, pair = make_plan(name="old"), make_pair()
    if path in ("/schedules", "/campaigns"):
        body = body | {"plan": plan.pk, "pairs": [pair.pk]}
    if path == "/campaigns":
        plan_archive(plan=plan)
    answer = api.call("POST", path, body, **{"Accept-Language": "zh-hans"})
    assert refused(answer, 422) == message
