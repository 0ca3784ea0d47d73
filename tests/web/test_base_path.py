"""A site that has only a path of its host, as /bench: each link of each page and answer stays below it."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client
from django.urls import set_script_prefix
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Role
from benchweb.accounts.services import token_create
from benchweb.sharing.models import Share
from benchweb.web.help import documents
from tests.browser.site import OF_STRANGERS, Address, filled_site
from tests.browser.steps import PASSWORD
from tests.factories import make_user
from tests.sharing.scene import told_run

pytestmark = pytest.mark.django_db
BASE = "/bench"
# Attributes that hold addresses; what starts with two slashes is of another host.
_ADDRESS = re.compile(r'(?:href|action|formaction|src|hx-(?:get|post|put|patch|delete)|data-[a-z-]+)="(/(?!/)[^"]*)"')
_CHARTS = re.compile(r'data-charts="([^"]+)"')
_IN_JSON = re.compile(r'"(?:href|url|link)": ?"(/(?!/)[^"]*)"')


@pytest.fixture
def below(settings: Settings) -> Iterator[None]:
    """Have the site below a path."""
    settings.BASE_PATH = settings.FORCE_SCRIPT_NAME = BASE
    settings.STATIC_URL = f"{BASE}/static/"
    set_script_prefix(f"{BASE}/")
    # A process has one path all its life, and keeps texts with their links.
    documents._document.cache_clear()
    yield
    documents._document.cache_clear()
    set_script_prefix("/")


def test_each_address_on_each_page_is_below_the_path(below: None, client: Client, settings: Settings) -> None:
    # A site that mails links has one page more.
    settings.EMAIL_HOST, settings.PUBLIC_URL = "127.0.0.1", f"https://tools.example.org{BASE}/"
    pages = {page.path.removeprefix(BASE): page for page in filled_site()}
    client.force_login(User.objects.get(username="ada"))
    paths = list(pages)
    wrong, failed = {}, {}
    for path in paths:
        page = pages.get(path, Address("charts", path))
        response = (Client() if page.name in OF_STRANGERS else client).get(path)
        if response.status_code != page.status:
            failed[path] = response.status_code
        text = response.content.decode(errors="replace") if not response.streaming else ""
        paths += {unescape(found).removeprefix(BASE) for found in _CHARTS.findall(text)} - set(paths)
        if outside := _outside(text, response.headers.get("Location", "")):
            wrong[path] = outside
    assert (wrong, failed) == ({}, {})
    assert sum(path.startswith("/history/charts.json") for path in paths) > 0


def _outside(text: str, location: str) -> list[str]:
    """Return the addresses of a page, and where it leads, that are not below the path."""
    assert 'href=""' not in text
    found = {address for pattern in (_ADDRESS, _IN_JSON) for address in pattern.findall(text)}
    return sorted(address for address in {*found, location} - {"", BASE} if not address.startswith(f"{BASE}/"))


def test_somebody_with_a_role_in_one_environment_opens_its_pages(below: None, client: Client) -> None:
    ada, run = make_user("ada", PASSWORD), told_run()
    Grant.objects.create(user=ada, role=Role.OPERATOR, environment=run.pair.environment)
    client.force_login(ada)
    for path in (f"/runs/{run.pk}", f"/pairs/{run.pair_id}", f"/environments/{run.pair.environment_id}"):
        assert client.get(path).status_code == 200, path


def test_what_is_kept_of_an_address_is_without_the_path(below: None, client: Client) -> None:
    ada, run = make_user("ada", PASSWORD), told_run()
    Grant.objects.create(user=ada, role=Role.ADMIN)
    secret = token_create(user=ada, name="script")[1]
    scripts = Client(headers={"Authorization": f"Bearer {secret}"})
    body = {"path": f"{BASE}/history?pair={run.pair_id}", "is_live": True}
    made = scripts.post("/api/v1/shares", body, content_type="application/json").json()
    assert made["url"].startswith(f"{BASE}/s/")
    assert made["link"].startswith(f"http://testserver{BASE}/s/")
    assert Share.objects.get().path == f"/history?pair={run.pair_id}"
    for asked in (BASE, ""):
        found = scripts.get("/api/v1/shares", {"path": f"{asked}/history?pair={run.pair_id}"}).json()
        assert len(found["items"]) == 1
    client.force_login(ada)
    file = client.get("/share/results.md", {"path": f"/history?pair={run.pair_id}"})
    assert f"http://testserver{BASE}/history?pair={run.pair_id}" in file.getvalue().decode()
    what = AuditEntry.objects.filter(action=AuditEntry.Action.DOWNLOADED).latest("pk").object_name
    assert what.startswith("/share/results.md?")


def test_the_page_of_a_fault_leads_to_the_overview(below: None) -> None:
    assert f'<a href="{BASE}/">' in render_to_string("500.html")
