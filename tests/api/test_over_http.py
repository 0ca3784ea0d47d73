"""The API as it is served: uvicorn, real sockets, bodies without a length."""

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User

from benchweb.accounts.services import token_create
from benchweb.api.parser import MAXIMUM_BODY_BYTES
from benchweb.hosts.models import Host

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def connection(web: str) -> Iterator[http.client.HTTPConnection]:
    opened = http.client.HTTPConnection(urlsplit(web).netloc, timeout=60)
    yield opened
    opened.close()


@pytest.fixture
def headers(transactional_db: None) -> dict[str, str]:
    _, secret = token_create(user=User.objects.create_user("ada"), name="scripts")
    return {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}


def answer(connection: http.client.HTTPConnection) -> tuple[int, dict[str, Any]]:
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def test_a_body_in_chunks_is_read_and_one_that_is_too_large_is_413(
    connection: http.client.HTTPConnection, headers: dict[str, str]
) -> None:
    connection.request("POST", "/api/v1/hosts", iter([b'{"name": ', b'"a"}']), headers, encode_chunked=True)
    status, host = answer(connection)
    assert (status, host["name"]) == (201, "a")
    chunks = (b" " * 65536 for _ in range(MAXIMUM_BODY_BYTES // 65536 + 1))
    connection.request("POST", "/api/v1/hosts", chunks, headers, encode_chunked=True)
    status, problem = answer(connection)
    assert (status, problem["status"]) == (413, 413)
    assert Host.objects.count() == 1


def test_calls_share_a_connection_and_a_permalink_is_absolute(
    connection: http.client.HTTPConnection, headers: dict[str, str], web: str
) -> None:
    from tests.factories import make_pair, make_plan

    plan, pair = make_plan(), make_pair()
    for _ in range(2):
        body = json.dumps({"plan": plan.pk, "pair": pair.pk})
        connection.request("POST", "/api/v1/runs", body, headers)
        status, run = answer(connection)
        assert (status, run["url"]) == (201, f"{web}/runs/{run['id']}")


def test_a_refusal_over_http_is_a_problem_too(connection: http.client.HTTPConnection, headers: dict[str, str]) -> None:
    connection.request("GET", "/api/v1/runs/%00", headers=headers)
    assert answer(connection)[0] == 404
    connection.request("GET", "/api/v1/hosts", headers={"Authorization": "Bearer wrong"})
    response = connection.getresponse()
    assert (response.status, response.headers["Content-Type"]) == (401, "application/problem+json")
    response.read()
