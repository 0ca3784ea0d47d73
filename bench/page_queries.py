"""Inside the rig: make a session (`log-in`), or tell the queries of pages (`queries`, addresses as JSON) as JSON."""

import json
import sys

import django

django.setup()

from django.conf import settings  # noqa: E402  (needs the settings)
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

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


def queries(pages: dict[str, list[str]]) -> dict[str, list[list[str]]]:
    """Give the statements of each page's addresses, the session's and the user's included."""
    client = logged_in()
    found: dict[str, list[list[str]]] = {}
    for name, addresses in pages.items():
        found[name] = []
        for address in addresses:
            with CaptureQueriesContext(connection) as captured:
                client.get(address)
            found[name].append([query["sql"] for query in captured.captured_queries])
    return found


if __name__ == "__main__":
    print(session() if sys.argv[1] == "log-in" else json.dumps(queries(json.load(sys.stdin))))
