"""Second factors in a browser: an authenticator app, and a passkey of Chromium's virtual authenticator."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.browser.test_accessibility import AXE, violations
from tests.factories import make_user
from tests.web.second_factors.apps import code


@pytest.fixture
def ada(transactional_db: None) -> User:
    return make_user("ada", steps.PASSWORD)


@pytest.fixture
def site(web: str) -> str:
    """Return the site by a name: passkeys belong to names, and an address is none."""
    return web.replace("127.0.0.1", "localhost")


@pytest.fixture
def key(page: Page) -> Iterator[str]:
    """Plug in a key with a fingerprint reader that knows the finger; return its id."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    added = devtools.send(
        "WebAuthn.addVirtualAuthenticator",
        {"options": options | {"isUserVerified": True, "automaticPresenceSimulation": True}},
    )
    yield str(added["authenticatorId"])
    devtools.detach()


def check(page: Page) -> None:
    """Look at a page by axe-core's rules, and at whether its pictures are there."""
    assert violations(page) == []
    assert page.evaluate("[...document.images].every(each => each.naturalWidth > 0)")


def log_in(page: Page, site: str, path: str = "/") -> None:
    page.goto(f"{site}{path}")
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(steps.PASSWORD)
    # The page of the second step has a button for a passkey, as this one has.
    steps.travel(page, page.get_by_role("button", name="Log in", exact=True).click)


def confirm(page: Page) -> None:
    page.get_by_label("Your password").fill(steps.PASSWORD)
    steps.travel(page, page.get_by_role("button", name="Continue").click)


def log_out(page: Page, site: str) -> None:
    page.context.clear_cookies()
    page.goto(f"{site}/login")


def test_an_app_is_set_up_by_its_key_and_asked_for_at_the_next_log_in(ada: User, page: Page, site: str) -> None:
    page.context.add_init_script(path=AXE)
    log_in(page, site)
    page.goto(f"{site}/account")
    page.get_by_role("link", name="Second factors…").click()
    page.get_by_role("link", name="Set up…").click()
    confirm(page)
    expect(page.get_by_role("img", name="QR code with the key below")).to_be_visible()
    check(page)
    secret = page.locator("#totp-key").inner_text()
    page.get_by_label("Code").fill(code(secret, periods_later=-1))
    steps.travel(page, page.get_by_role("button", name="Set up").click)
    expect(page.get_by_role("heading", level=1, name="Recovery codes")).to_be_visible()
    check(page)
    recovery = page.locator(".recovery-codes code").first.inner_text()

    log_out(page, site)
    log_in(page, site, "/runs")
    page.get_by_label("Code of your authenticator app").fill("000000")
    steps.travel(page, page.get_by_role("button", name="Log in").click)
    expect(page.get_by_text("This code or passkey is wrong")).to_be_visible()
    check(page)
    page.get_by_label("Code of your authenticator app").fill(code(secret))
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()

    log_out(page, site)
    log_in(page, site)
    page.get_by_label("Code of your authenticator app").fill(recovery)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("navigation", name="Sections")).to_be_visible()


def test_a_passkey_is_added_and_logs_in_alone_and_as_the_second_step(
    ada: User, page: Page, site: str, key: str
) -> None:
    page.context.add_init_script(path=AXE)
    log_in(page, site)
    page.goto(f"{site}/account/factors")
    steps.travel(page, page.get_by_role("link", name="Add passkey…").click)
    check(page)
    confirm(page)
    check(page)
    page.get_by_label("Name").fill("laptop")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", level=1, name="Recovery codes")).to_be_visible()
    page.goto(f"{site}/account/factors")
    expect(page.get_by_role("cell", name="laptop", exact=True)).to_be_visible()
    check(page)

    log_out(page, site)
    page.goto(f"{site}/runs")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()

    log_out(page, site)
    log_in(page, site, "/hosts")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", level=1, name="Hosts")).to_be_visible()


def test_a_browser_that_gives_no_passkey_leaves_the_other_ways(ada: User, page: Page, site: str, key: str) -> None:
    page.goto(f"{site}/login")
    page.evaluate("() => { navigator.credentials.get = () => Promise.reject(new DOMException('no', 'Not')) }")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("The browser gave no passkey.")).to_be_visible()
    log_in(page, site)
    expect(page.get_by_role("navigation", name="Sections")).to_be_visible()
