"""A host's page in a real browser: its availability comes once the page is shown, and stays whatever one does there."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, Route, expect

from benchweb.hosts.models import Endpoint
from benchweb.results import run_summaries as recents
from tests.browser.steps import PASSWORD, log_in, travel
from tests.factories import make_pair, make_user
from tests.hosts.nights_alone import measured_alone
from tests.nights import measured
from tests.web.hosts.test_host_availability import probe_each_minute

CHARTS = 4


@pytest.fixture
def endpoint(transactional_db: None) -> Endpoint:
    """Return an endpoint that was probed and that has a series, and a user who may look at it."""
    make_user("ada", PASSWORD)
    pair = make_pair()
    measured(pair, timezone.now(), 1e9)
    while recents.sum_up():
        pass
    probe_each_minute(pair.source, minutes=3)
    return pair.source


def section(page: Page) -> Locator:
    return page.get_by_role("region", name="Availability and load")


def expect_period(page: Page, name: str) -> None:
    """Expect the section of a period with its charts, in view."""
    expect(section(page).locator("[aria-current]")).to_have_text(name)
    expect_charts(page)
    expect(section(page).get_by_role("heading", name="Availability and load")).to_be_in_viewport()


def expect_charts(page: Page) -> None:
    expect(section(page).locator("section.chart")).to_have_count(CHARTS)


def test_availability_is_fetched_with_words_for_each_way_it_goes(page: Page, endpoint: Endpoint) -> None:
    held: list[Route] = []
    log_in(page)
    page.route("**/availability?*", lambda route: held.append(route))  # noqa: PLW0108
    page.goto(f"/hosts/{endpoint.host_id}?over=7d#availability")
    expect(section(page).locator("[data-part]")).to_have_attribute("aria-busy", "true")
    expect(section(page).get_by_role("status")).to_have_text("Loading availability and load…")
    held.pop().abort()
    expect(section(page).get_by_role("alert")).to_contain_text("could not be loaded")
    expect(section(page).get_by_role("status")).to_be_hidden()
    expect(section(page).locator("[data-part]")).not_to_have_attribute("aria-busy", "true")

    page.unroute("**/availability?*")
    section(page).get_by_role("button", name="Try again").press("Enter")
    expect_period(page, "7 days")
    expect(section(page).get_by_role("heading", name="Availability and load")).to_be_focused()
    page.emulate_media(media="print")
    expect(section(page).get_by_role("rowheader", name="CPU utilisation")).to_be_visible()
    page.emulate_media(media="screen")

    section(page).get_by_role("link", name="30 days").click()
    expect(page).to_have_url(re.compile(r"\?over=30d#availability$"))
    expect_period(page, "30 days")
    page.reload()
    expect_period(page, "30 days")
    travel(page, page.go_back)
    expect_period(page, "7 days")
    travel(page, page.go_forward)
    expect_period(page, "30 days")
    # Other series take the place of those above alone.
    page.goto(f"/hosts/{endpoint.host_id}?over=30d&series=all")
    expect_charts(page)
    page.get_by_label("Metric").select_option(label="Throughput, sent")
    expect(page).to_have_url(re.compile("over=30d.*metric=send_throughput_bps"))
    expect(section(page).locator("section.chart")).to_have_count(CHARTS)


def test_what_the_host_measured_alone_has_its_own_place_below(page: Page, endpoint: Endpoint) -> None:
    measured_alone(endpoint, [9, 8, 4, 1])
    log_in(page)
    page.goto(f"/hosts/{endpoint.host_id}")
    itself = section(page).locator("[data-charts-of=canary]")
    expect(itself.locator("section.chart h3")).to_have_text(
        ["Memory copying", "Fixed calculation", "Loopback round trip"]
    )
    expect(section(page).locator("[data-charts] section.chart")).to_have_count(CHARTS)
