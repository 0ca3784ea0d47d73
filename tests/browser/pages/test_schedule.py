"""A schedule made with the keyboard alone, in a real browser."""

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect

from benchweb.schedules.models import Schedule
from tests.browser import steps
from tests.factories import make_endpoint, make_pair, make_plan, make_user


@pytest.fixture
def ada(transactional_db: None) -> User:
    """Make the user who logs in."""
    return make_user("ada", steps.PASSWORD)


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until the control has the focus."""
    for _ in range(steps.MOST_TABS):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} is out of the keyboard's reach")


def test_a_schedule_is_made_by_keyboard_with_its_preview_in_sight(ada: User, page: Page) -> None:
    make_plan(name="sizes")
    pair = make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    steps.log_in(page)
    page.keyboard.press("g")
    steps.travel(page, lambda: page.keyboard.press("s"))
    tab_to(page, page.get_by_role("link", name="Create the first schedule"))
    steps.travel(page, lambda: page.keyboard.press("Enter"))

    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type("nightly")
    tab_to(page, page.get_by_label("Plan", exact=True))
    page.keyboard.type("sizes")
    tab_to(page, page.get_by_label("All pairs of an environment"))
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Individual pairs")).to_be_checked()
    tab_to(page, page.get_by_label(re.compile("alder.*birch")))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_label("At a time of day"))
    page.keyboard.press("ArrowDown")
    tab_to(page, page.get_by_label("Cron expression", exact=True))
    page.keyboard.press("Control+A")
    page.keyboard.type("every night at 02:30")
    tab_to(page, page.get_by_label("Time zone"))
    page.keyboard.press("Control+A")
    page.keyboard.type("Asia/Shanghai")
    preview = page.locator("#schedule-preview")
    expect(preview).to_contain_text("At 02:30 every day")
    expect(preview).to_contain_text("It fits in time.")
    expect(preview.locator(".slot-times tbody tr")).to_have_count(10)
    expect(preview.locator(".lane-label")).to_contain_text(["host alder", "host birch"])

    # The panels of what isn't chosen are out of the way, for the keyboard too.
    expect(page.get_by_label("Every", exact=True)).to_be_hidden()
    steps.travel(page, lambda: page.keyboard.press("Enter"))
    expect(page.get_by_role("heading", level=1, name="New schedule")).to_be_visible()
    assert Schedule.objects.count() == 0
    tab_to(page, page.get_by_role("button", name="Save schedule"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="nightly")).to_be_visible()
    schedule = Schedule.objects.get()
    assert (schedule.cron, schedule.timezone, schedule.target) == ("30 2 * * *", "Asia/Shanghai", {"pairs": [pair.pk]})


def test_the_preview_follows_what_is_typed_and_says_what_is_wrong(ada: User, page: Page) -> None:
    make_pair()
    steps.log_in(page)
    page.goto("/schedules/new")
    preview = page.locator("#schedule-preview")
    expect(preview).to_contain_text("At 02:00 every day")
    page.get_by_label("Time", exact=True).fill("03:15")
    page.get_by_label("Saturday").check()
    expect(preview).to_contain_text("At 03:15 on Saturday")
    page.get_by_label("Cron expression or words").check()
    page.get_by_label("Cron expression", exact=True).fill("0 2 13 * FRI")
    expect(preview).to_contain_text("Either day is enough: next by day of the month")
    page.get_by_label("Cron expression", exact=True).fill("0 0 30 2 *")
    expect(preview.get_by_role("link", name="Cron expression")).to_be_visible()
    expect(preview.locator(".slot-times")).to_have_count(0)
    page.get_by_label("At an interval").check()
    page.get_by_label("Every", exact=True).fill("90 min")
    expect(preview).to_contain_text("Every 1 h 30 min")
    expect(preview.locator(".slot-times tbody tr")).to_have_count(10)
