"""The navigation: wide, narrow, and at a phone's bottom."""

import re

from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.steps import PASSWORD, focused, log_in, travel
from tests.factories import make_alert, make_user

LAPTOP: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}


def test_the_rail_is_made_narrow_and_stays_so(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    page.set_viewport_size(LAPTOP)
    log_in(page)
    runs = page.get_by_role("link", name="Runs", exact=True)
    expect(page.get_by_role("button", name="Tests", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Narrow or wide navigation").click()
    expect(runs).to_be_hidden()
    page.reload()
    expect(runs).to_be_hidden()
    page.get_by_role("button", name="Tests", exact=True).click()
    travel(page, runs.click)
    expect(page).to_have_url(re.compile("/runs$"))
    expect(runs).to_be_hidden()
    page.get_by_role("button", name="Narrow or wide navigation").click()
    expect(runs).to_be_visible()


def test_settings_are_one_entry_with_a_menu_of_their_own(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    page.set_viewport_size(LAPTOP)
    log_in(page)
    rail = page.get_by_role("navigation", name="Sections")
    expect(rail.get_by_role("link", name="API tokens")).to_be_hidden()
    # As many as are read at a glance; with those of the settings there were more than twenty.
    assert sum(link.is_visible() for link in rail.get_by_role("link").all()) <= 18
    travel(page, rail.get_by_role("link", name="Settings").click)
    menu = page.get_by_role("navigation", name="Settings")
    travel(page, menu.get_by_role("link", name="API tokens").click)
    expect(page).to_have_url(re.compile("/tokens$"))
    expect(menu.get_by_role("link", name="API tokens")).to_have_attribute("aria-current", "page")
    page.set_viewport_size(PHONE)
    expect(menu).to_be_hidden()
    rail.get_by_role("button", name="Settings").click()
    expect(rail.get_by_role("link", name="Site settings")).to_be_visible()


def test_a_phone_has_its_five_groups_at_the_bottom(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    make_alert()
    page.set_viewport_size(LAPTOP)
    log_in(page)
    expect(page.locator(".rail-sections .rail-count")).to_have_text(re.compile("1"))
    page.set_viewport_size(PHONE)
    bar = page.get_by_role("navigation", name="Sections")
    box = bar.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] == PHONE["height"]
    expect(bar.get_by_role("button")).to_have_text([re.compile("Today"), "Explore", "Tests", "Inventory", "Settings"])
    expect(bar.get_by_role("button", name="Today")).to_contain_text("1")
    bar.get_by_role("button", name="Inventory").click()
    expect(bar.get_by_role("link", name="Hosts", exact=True)).to_be_visible()
    bar.get_by_role("button", name="Tests").click()
    expect(bar.get_by_role("link", name="Hosts", exact=True)).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert focused(page) == "Tests"
    expect(bar.get_by_role("link", name="Runs", exact=True)).to_be_hidden()
