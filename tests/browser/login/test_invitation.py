"""An invitation: an admin makes the link, and whom it is for is in by it."""

import re

from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from benchweb.accounts.permissions import access_of
from tests.browser import steps
from tests.factories import make_user

CHOSEN = "analytical-engine-1843"


def test_an_admin_invites_an_operator_who_is_logged_in_by_the_link(transactional_db: None, page: Page) -> None:
    make_user("ada", steps.PASSWORD)
    steps.log_in(page)
    page.goto("/invitations")
    page.get_by_role("link", name="Invite…").first.click()
    page.get_by_label("Role").select_option("operator")
    page.get_by_role("button", name="Create link").click()
    link = page.locator("#link").inner_text()
    page.context.clear_cookies()
    page.goto(link)
    page.get_by_label("User name").fill("grace")
    page.get_by_label("New password", exact=True).fill(CHOSEN)
    page.get_by_label("New password confirmation").fill(CHOSEN)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("navigation", name="Sections")).to_be_visible()
    expect(page).to_have_url(re.compile(r"://[^/]+/$"))
    assert access_of(User.objects.get(username="grace")).everywhere == "operator"
    page.goto("/users")
    expect(page.get_by_text("This needs the role")).to_be_visible()
