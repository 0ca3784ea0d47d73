"""Inside the rig: make a session (`log-in`), or tell the queries of pages (`queries`, addresses as JSON) as JSON.

A query is its statement with its values in it.
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
from django.test import Client  # noqa: E402

from benchweb.common.followed import follow_all  # noqa: E402

NAME = "bench"


def session() -> str:
    """Log a user in; return the cookie's value."""
    client = logged_in()
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def logged_in() -> Client:
    user, _ = User.objects.get_or_create(username=NAME, defaults={"is_staff": True, "is_superuser": True})
    client = Client(raise_request_exception=False, headers={"host": "localhost"})
    client.force_login(user)
    return client


def queries(pages: dict[str, list[str]]) -> dict[str, list[list[str]]]:
    """Return the statements of each page's addresses, the session's and the user's included."""
    # As the server does: what all pages need of the database no page reads.
    follow_all()
    client = logged_in()
    statements: dict[str, list[list[str]]] = {}
    for name, addresses in pages.items():
        statements[name] = []
        for address in addresses:
            executed: list[str] = []
            with connection.execute_wrapper(recorder(executed)):
                client.get(address)
            statements[name].append(executed)
    return statements


def recorder(executed: list[str]) -> Callable[..., Any]:
    """Return what Django runs each statement through; it notes them down."""

    def record(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        executed.append(psycopg.ClientCursor(connection.connection).mogrify(sql, params))
        return execute(sql, params, many, context)

    return record


if __name__ == "__main__":
    print(session() if sys.argv[1] == "log-in" else json.dumps(queries(json.load(sys.stdin))))
