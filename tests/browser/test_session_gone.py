"""A session that ends while somebody types: the form stays, a log-in opens beside it, and the save goes on."""

import re

from playwright.sync_api import Page, expect

from benchweb.accounts.models import UserSession
from benchweb.plans.models import Plan
from tests.browser.steps import PASSWORD, log_in
from tests.factories import make_plan, make_user

SAVED = re.compile(r"/plans/\d+$")


def log_in_beside(page: Page, name: str = "ada") -> None:
    """Press the dialog's link, log in in the new tab, and close it."""
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("What you typed is kept.")
    with page.context.expect_page() as opened:
        dialog.get_by_role("link", name="Log in in a new tab").click()
    tab = opened.value
    tab.get_by_label("User name").fill(name)
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Log in").click()
    expect(tab.get_by_role("heading", name="You are logged in")).to_be_visible()
    tab.close()


def type_until_the_session_ends(page: Page) -> None:
    """Change a plan's name, and end the session before it is saved."""
    make_user("ada", PASSWORD)
    plan = make_plan()
    log_in(page)
    page.goto(f"/plans/{plan.pk}/edit")
    page.get_by_label("Name").fill("sizes at night")
    expect(page.locator("#plan-preview")).to_be_visible()
    page.wait_for_load_state("networkidle")
    UserSession.objects.all().delete()


def test_a_plan_that_is_typed_is_saved_after_a_log_in_in_another_tab(page: Page, transactional_db: None) -> None:
    type_until_the_session_ends(page)
    page.get_by_role("button", name="Save new version").click()
    log_in_beside(page)
    page.wait_for_url(SAVED)
    assert Plan.objects.get().name == "sizes at night"


def test_what_is_typed_is_saved_after_a_log_in_that_nobody_asked_for(page: Page, transactional_db: None) -> None:
    type_until_the_session_ends(page)
    # She logs in again in a tab of her own: the page's token is an old one by then.
    tab = page.context.new_page()
    log_in(tab)
    tab.close()
    page.get_by_role("button", name="Save new version").click()
    page.wait_for_url(SAVED)
    assert Plan.objects.get().name == "sizes at night"


def test_a_preview_that_finds_no_session_leaves_what_is_typed(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    make_user("bea", PASSWORD)
    log_in(page)
    # What the page asks for by itself is answered: without a session it would lead to the log-in.
    page.goto("/plans/new", wait_until="networkidle")
    UserSession.objects.all().delete()
    page.get_by_label("Name").fill("sizes at night")
    dialog = page.get_by_role("dialog")
    log_in_beside(page, "bea")
    expect(dialog).to_contain_text("Somebody else is logged in now.")
    page.context.clear_cookies()
    log_in_beside(page)
    expect(dialog).to_be_hidden()
    expect(page.get_by_label("Name")).to_have_value("sizes at night")
    page.get_by_role("button", name="Save plan").click()
    page.wait_for_url(SAVED)
    assert Plan.objects.get().name == "sizes at night"


def test_a_second_click_on_save_makes_nothing_twice(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    log_in(page)
    page.goto("/plans/new")
    page.get_by_label("Name").fill("once")
    page.get_by_role("button", name="Save plan").dblclick()
    page.wait_for_url(SAVED)
    assert Plan.objects.count() == 1
