"""A client of the REST API that speaks JSON and keeps the bearer token."""

import json
from typing import Any, Protocol

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.services import token_create
from tests.responses import Response


class ApiClient:
    """Calls /api/v1 as one user; `data` is encoded as JSON unless it is bytes."""

    def __init__(self, token: str) -> None:
        self.client = Client(headers={"Authorization": f"Bearer {token}"} if token else {})

    def call(self, method: str, path: str, data: Any = None, **headers: str) -> Response:
        body = data if isinstance(data, bytes) else b"" if data is None else json.dumps(data).encode()
        return self.client.generic(
            method, f"/api/v1{path}", body, content_type="application/json", headers=headers or None
        )

    def get(self, path: str, **headers: str) -> Response:
        return self.call("GET", path, **headers)

    def post(self, path: str, data: Any = None, **headers: str) -> Response:
        return self.call("POST", path, data, **headers)

    def patch(self, path: str, data: Any = None) -> Response:
        return self.call("PATCH", path, data)

    def put(self, path: str, data: Any = None) -> Response:
        return self.call("PUT", path, data)

    def delete(self, path: str) -> Response:
        return self.call("DELETE", path)


class Refused(Protocol):
    """Checks a problem document: its status, and the one field that it blames; returns its message."""

    def __call__(self, response: Response, status: int, field: str | None = None) -> str: ...


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def token(user: User) -> str:
    return token_create(user=user, name="scripts")[1]


@pytest.fixture
def api(token: str) -> ApiClient:
    return ApiClient(token)


@pytest.fixture
def anonymous(db: None) -> ApiClient:
    return ApiClient("")


@pytest.fixture
def refused() -> Refused:
    """Check a problem document: status, and the one field it blames; return its message."""

    def check(response: Response, status: int, field: str | None = None) -> str:
        document = response.json()
        assert response.headers["Content-Type"] == "application/problem+json", document
        assert (response.status_code, document["status"]) == (status, status), document
        if field is not None:
            assert [error["field"] for error in document["errors"]] == [field], document
        return str(document["errors"][0]["message"] if document["errors"] else document["detail"])

    return check
