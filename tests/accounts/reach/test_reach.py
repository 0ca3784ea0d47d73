"""Each route is tried by each role, everywhere and in one environment, on rows and hosts of it and of another."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.db import connection, transaction
from django.test import Client

from benchweb.accounts.permissions import Permission
from tests.accounts.reach import calls, pages
from tests.accounts.reach.people import PEOPLE, READERS
from tests.accounts.reach.scenery import Site, make_site
from tests.accounts.reach.scenes import Scene
from tests.accounts.reach.table import READ, Row, allowed, call_rows, page_rows, reach_page
from tests.responses import Response

pytestmark = pytest.mark.django_db
PLAYED = [*pages.SCENES, *calls.SCENES]
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "reach.md"
# What no refused request may have changed.
LOOK = """
SELECT (SELECT count(*) FROM runs_run), (SELECT count(*) FROM hosts_environment),
  (SELECT array_agg((id, environment_id, archived_at, labels) ORDER BY id) FROM hosts_pair),
  (SELECT array_agg((id, environment_ids) ORDER BY id) FROM hosts_host),
  (SELECT array_agg((id, target, cron) ORDER BY id) FROM schedules_schedule),
  (SELECT array_agg((id, state) ORDER BY id) FROM regressions_alert),
  (SELECT count(*) FROM regressions_annotation), (SELECT count(*) FROM sharing_share),
  (SELECT count(*) FROM imports_import), (SELECT count(*) FROM plans_plan)
"""


@pytest.fixture
def sites() -> tuple[Site, Site]:
    return make_site("lab"), make_site("field")


def sent(client: Client, method: str, address: str, body: dict[str, object]) -> Response:
    """Send a form to a page, or JSON to the API."""
    if address.startswith("/api/"):
        data = b"" if method == READ else json.dumps(body).encode()
        return client.generic(method, address, data, content_type="application/json")
    form = urlencode(body, doseq=True).encode()
    return client.generic(method, address, form, content_type="application/x-www-form-urlencoded")


def state_of_all() -> object:
    with connection.cursor() as cursor:
        cursor.execute(LOOK)
        return cursor.fetchone()


def is_refused(client: Client, row: Row, sites: tuple[Site, Site]) -> bool:
    """Send a request, and undo what it did."""
    lab, field = sites
    with transaction.atomic():
        response = sent(client, row.method, (field if row.place == "field" else lab).address(row.path), {})
        transaction.set_rollback(True)
    return response.status_code == 403


def result(client: Client, scene: Scene, sites: tuple[Site, Site]) -> int:
    """Play a scene, see that a refusal changed nothing, and undo what it did; return the status."""
    lab, field = sites
    with transaction.atomic():
        body = scene.body(lab, field)
        query = {name[1:]: body.pop(name) for name in list(body) if name[0] == "?"}
        path = scene.path
        for name in [name for name in body if name[0] == "<"]:
            path = path.replace(name, str(body[name])).replace(f"<int:{name[1:]}", str(body.pop(name)))
        address = (field if scene.of_field else lab).address(path)
        before = state_of_all()
        status = sent(client, scene.method, f"{address}?{urlencode(query)}", body).status_code
        assert status != 403 or state_of_all() == before
        transaction.set_rollback(True)
    return status


@pytest.mark.usefixtures("plain_refusals")
@pytest.mark.parametrize("name", PEOPLE)
def test_each_request_is_refused_exactly_where_the_role_is_missing(name: str, sites: tuple[Site, Site]) -> None:
    person = PEOPLE[name]
    client = person.client(sites[0].environment.pk)
    rows = [*(page_rows() if name in READERS else []), *call_rows()]
    # What all may read, and roles everywhere on what is in no environment, have tests of their own: test_routes.py and
    # tests/api/test_permissions.py. Where a body decides, it is played below.
    asked = [row for row in rows if row.permission != Permission.READ and not row.is_decided_by(PLAYED)]
    asked = [row for row in asked if row.place or person.is_in_lab]
    assert len(asked) > 50
    assert [row.path for row in asked if is_refused(client, row, sites) is row.allows(person.access)] == []


@pytest.mark.usefixtures("plain_refusals")
@pytest.mark.parametrize("name", PEOPLE)
def test_so_is_what_is_named_in_bodies(name: str, sites: tuple[Site, Site]) -> None:
    person = PEOPLE[name]
    client = person.client(sites[0].environment.pk)
    wrong = []
    for scene in [*(pages.SCENES if name in READERS else []), *calls.SCENES]:
        status = result(client, scene, sites)
        # What is allowed is done, or it would tell nothing.
        if (status < 400) is not allowed(person.access, scene.permission, scene.places) or 400 <= status != 403:
            wrong.append((scene.method, scene.path, scene.about, status))
    assert wrong == []


@pytest.mark.parametrize(
    ("rows", "scenes", "drafts"),
    [(page_rows, pages.SCENES, pages.DRAFTS), (call_rows, calls.SCENES, calls.DRAFTS)],
)
def test_all_that_a_body_decides_is_played(
    rows: Callable[[], list[Row]], scenes: list[Scene], drafts: set[str]
) -> None:
    asked = [row for row in rows() if row.method != READ]
    decided = {row.path for row in asked if row.stated.checked_by_view}
    assert {row.path for row in asked if row.stated.checked_by_view and not row.is_decided_by(scenes)} == drafts
    assert decided > drafts


def test_the_reference_of_who_reaches_what_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8").rstrip() == reach_page(), "run python -m tests.accounts.reach"
