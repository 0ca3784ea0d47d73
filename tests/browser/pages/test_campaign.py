"""A campaign's page in a real browser."""

from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import Page, ViewportSize, expect

from benchweb.runs.models import Campaign, Run, State
from benchweb.runs.services import launch
from tests.browser.steps import PASSWORD, log_in
from tests.charts.simultaneous.scene import incast, measured
from tests.factories import make_pair, make_plan, make_user

PHONE: ViewportSize = {"width": 390, "height": 844}


def test_what_is_said_of_the_lower_bound_stays_within_a_phone(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    campaign = launch(plan=make_plan(), pairs=[make_pair()], user=None)
    begin = timezone.now() - timedelta(seconds=900)
    Run.objects.update(state=State.FINISHED, started_at=begin, finished_at=begin + timedelta(seconds=543))
    Campaign.objects.update(lower_bound_seconds=456)
    page.set_viewport_size(PHONE)
    log_in(page)
    page.goto(f"/campaigns/{campaign.pk}")
    expect(page.get_by_text("Minimum duration")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_what_was_opened_stays_open_with_the_focus_when_the_page_refreshes(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    campaign = incast([4e9, 2e9], repetitions=3)
    for index in (1, 2):
        measured(campaign, [4e9, 2e9], index=index)
    log_in(page)
    page.goto(f"/campaigns/{campaign.pk}")
    page.get_by_text("2 repetitions").press("Enter")
    measured(campaign, [4e9, 2e9], index=3)
    # What happens every three seconds.
    page.evaluate("htmx.ajax('GET', location.href, {target: '#campaign-live', swap: 'outerHTML'})")
    opened = page.locator("details[open] > summary")
    expect(opened).to_have_text("3 repetitions")
    expect(opened).to_be_focused()
