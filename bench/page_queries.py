"""Inside the rig: make a session (`log-in`), or tell the queries of pages (`queries`, addresses as JSON) as JSON.

A query is its statement with its values in it; one that is planned once for all values has places ($1) instead, and
`types` tells their object ids, so that it can be prepared as the page does.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import django

django.setup()

import psycopg  # noqa: E402  (Django's settings come first)
from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection  # noqa: E402
from django.db.backends.postgresql.base import ServerBindingCursor  # noqa: E402
from django.test import Client  # noqa: E402
from psycopg._queries import PostgresQuery  # noqa: E402
from psycopg.adapt import Transformer  # noqa: E402

NAME = "bench"


def session() -> str:
    """Log a user in; give the cookie's value."""
    client = logged_in()
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def logged_in() -> Client:
    user, _ = User.objects.get_or_create(username=NAME, defaults={"is_staff": True, "is_superuser": True})
    client = Client(raise_request_exception=False, headers={"host": "localhost"})
    client.force_login(user)
    return client


def queries(pages: dict[str, list[str]]) -> dict[str, list[list[dict[str, Any]]]]:
    """Give the statements of each page's addresses, the session's and the user's included."""
    client = logged_in()
    found: dict[str, list[list[dict[str, Any]]]] = {}
    for name, addresses in pages.items():
        found[name] = []
        for address in addresses:
            asked: list[dict[str, Any]] = []
            with connection.execute_wrapper(recorder(asked)):
                client.get(address)
            found[name].append(asked)
    return found


def recorder(asked: list[dict[str, Any]]) -> Callable[..., Any]:
    """Give what Django runs each statement through; it notes them down."""

    def record(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        raw = connection.connection
        if raw.cursor_factory is ServerBindingCursor:
            query = PostgresQuery(Transformer.from_context(raw))
            query.convert(sql, params or None)
            asked.append({"sql": query.query.decode(), "types": list(query.types)})
        else:
            asked.append({"sql": psycopg.ClientCursor(raw).mogrify(sql, params), "types": None})
        return execute(sql, params, many, context)

    return record


if __name__ == "__main__":
    print(session() if sys.argv[1] == "log-in" else json.dumps(queries(json.load(sys.stdin))))
