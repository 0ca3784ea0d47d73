"""The site at https://tools.example.org/bench/: a browser that works there asks for nothing outside of it."""

from urllib.parse import urlsplit

import pytest
import urllib3
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from benchweb.accounts.models import SavedView
from tests.browser.steps import PASSWORD
from tests.factories import make_user
from tests.sharing.scene import told_run

pytestmark = pytest.mark.django_db(transaction=True)
BASE = "/bench"


@pytest.fixture
def environment_of_test(environment_of_test: dict[str, str]) -> dict[str, str]:
    """Have the site below a path."""
    return environment_of_test | {"BENCHWEB_BASE_PATH": BASE}


def test_a_day_of_work_stays_below_the_path(page: Page, browser: Browser, web: str) -> None:
    make_user("ada", PASSWORD)
    run = told_run()
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(urlsplit(request.url).path))
    page.goto(f"{BASE}/runs/{run.pk}")
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1, name=f"Run {run.pk}")).to_be_visible()
    expect(page.locator("canvas").first).to_be_visible()

    page.get_by_role("navigation", name="Sections").get_by_role("link", name="History", exact=True).click()
    expect(page.locator("canvas").first).to_be_visible()
    here = urlsplit(page.url)
    page.locator("summary", has_text="Views").click()
    page.get_by_label("Name for this view").fill("mine")
    page.get_by_role("button", name="Save this view").click()
    expect(page.get_by_text("Saved as mine.")).to_be_visible()
    assert urlsplit(page.url).path == here.path == f"{BASE}/history"
    # As it would be of a site that has its host to itself, to which the database may move.
    assert SavedView.objects.get().path == f"/history?{here.query}"
    page.goto(f"{BASE}/views")
    page.get_by_role("link", name="/history").first.click()
    expect(page).to_have_url(f"{web}{BASE}/history?{here.query}")

    page.goto(f"{BASE}/runs/{run.pk}")
    page.get_by_role("button", name="Share…").click()
    page.get_by_role("button", name="Create link").click()
    link = page.get_by_role("dialog").get_by_label("Link", exact=True).input_value()
    assert link.startswith(f"{web}{BASE}/s/")
    stranger = browser.new_context().new_page()
    stranger.on("request", lambda request: asked.add(urlsplit(request.url).path))
    stranger.goto(link)
    expect(stranger.locator("canvas").first).to_be_visible()
    stranger.context.close()

    assert {path for path in asked if not path.startswith(f"{BASE}/")} == set()
    assert {cookie["path"] for cookie in page.context.cookies() if cookie["name"] in ("sessionid", "csrftoken")} == {
        f"{BASE}/"
    }


def test_a_proxy_may_take_the_path_away_or_leave_it(web: str) -> None:
    asked = urllib3.PoolManager()
    answers = [asked.request("GET", f"{web}{path}") for path in ("/livez", f"{BASE}/livez", "/login", f"{BASE}/login")]
    assert [answer.status for answer in answers] == [200] * 4
    assert all(f'href="{BASE}/static/' in answer.data.decode() for answer in answers[2:])
    assert asked.request("GET", f"{web}{BASE}es").status == 404
    whole = asked.request("GET", f"{web}{BASE}?over=7d", redirect=False)
    assert (whole.status, whole.headers["Location"]) == (308, f"{BASE}/?over=7d")


def test_a_large_import_is_taken_below_the_path(web: str) -> None:
    ada, client = make_user("ada", PASSWORD), Client()
    client.force_login(ada)
    cookie = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"}
    asked = urllib3.PoolManager()
    assert asked.request("GET", f"{web}{BASE}/imports", headers=cookie).status == 200
    # Without the form's token: what matters is that three megabytes are read.
    answer = asked.request("POST", f"{web}{BASE}/imports", body=b"x" * 3 * 2**20, headers=cookie, redirect=False)
    assert answer.status == 403
