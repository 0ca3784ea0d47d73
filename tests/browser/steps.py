"""What a newcomer does in the browser, step by step, by the words that the pages show."""

import re
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Error, Page, expect

from tests.processes import Engine

PASSWORD = "lovelace-1815"  # pragma: allowlist secret
# From the launch to the chart: claim, trials of half a second, ingest.
RUN_MILLISECONDS = 240_000
# What the page fetches by itself is there, and what its scripts make.
IS_WHOLE = "!document.querySelector('[data-part], [data-script]:not([data-started])')"
# A page with more stops than this before what it is about is no page for a keyboard.
MOST_TABS = 90
PATIENCE_SECONDS = 60.0
_FOCUSED = """() => {
    const focused = document.activeElement, style = getComputedStyle(focused);
    const name = focused.getAttribute("aria-label") ?? focused.labels?.[0]?.textContent ?? focused.textContent;
    return [name.trim(), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0];
}"""


def log_in_by_form(page: Page) -> None:
    """Log in as Ada, who exists."""
    page.goto("/login")
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    _expect_sections(page)


def log_in(page: Page) -> None:
    """Open the overview as Ada, who exists and is logged in: to check a password takes half a second of a CPU."""
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    name = settings.SESSION_COOKIE_NAME
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "domain": "127.0.0.1", "path": "/"}])
    page.goto("/")
    _expect_sections(page)


def _expect_sections(page: Page) -> None:
    # On a phone its links are behind buttons.
    expect(page.get_by_role("navigation", name="Sections")).to_be_visible()


def travel(page: Page, go: Callable[[], Any]) -> None:
    """Go to another page, and wait until it is read: before, keys go to the page before or to none.

    What is clicked or typed before the scripts of the page are there is lost on them, too.
    """
    page.evaluate("window.isLeft = true")
    go()
    wait_until(page, "!window.isLeft && document.readyState === 'complete'")


def wait_until(page: Page, expression: str) -> None:
    """Wait until an expression holds; wait_for_function would evaluate it where the pages' policy forbids that."""
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not _holds(page, expression):
        assert time.monotonic() < give_up_at, f"never held: {expression}"
        page.wait_for_timeout(50)


def _holds(page: Page, expression: str) -> bool:
    try:
        return bool(page.evaluate(expression))
    except Error as error:
        # Another page comes in meanwhile.
        if "context was destroyed" in str(error):
            return False
        raise


def tab_to(page: Page, name: str) -> list[str]:
    """Press Tab until what bears this name has the focus; return the names of all stops, the last included."""
    passed = []
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        passed.append(focused(page))
        if passed[-1] == name:
            return passed
    raise AssertionError(f"{name} isn't reached by Tab: {passed}")


def focused(page: Page) -> str:
    """Name what has the focus, which must be seen to have it."""
    name, is_visible = page.evaluate(_FOCUSED)
    assert is_visible, f"{name}: the focus can't be seen"
    return str(name)


def add_host(page: Page, name: str, engine: Engine) -> None:
    """Add a host whose engine runs already, and watch it turn green without a reload."""
    page.get_by_role("link", name="Hosts", exact=True).click()
    travel(page, page.get_by_role("link", name=re.compile("Add (a|the first) host")).first.click)
    page.get_by_label("Host's name").fill(name)
    page.get_by_label("Engine's address").fill(engine.control)
    page.get_by_label("Engine's token").fill(engine.token)
    expect(page.locator("#engine-command pre")).to_contain_text(engine.token)
    page.get_by_role("button", name="Add host").click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    expect(page.locator(".endpoint-watch .state-answered")).to_be_visible()
    expect(page.get_by_text(engine.fingerprint)).to_be_visible()


def add_environment(page: Page, name: str) -> None:
    """Add an environment."""
    page.get_by_role("link", name="Environments", exact=True).click()
    page.get_by_role("link", name=re.compile("Add (an|the first) environment")).first.click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def add_pair(page: Page, source: str, sink: str, environment: str) -> None:
    """Add a pair of hosts that have one endpoint each."""
    page.get_by_role("link", name="Pairs", exact=True).click()
    page.get_by_role("link", name=re.compile("Add (a|the first) pair")).first.click()
    _choose(page, "Source", source)
    _choose(page, "Sink optional", sink)
    _choose(page, "Environment", environment)
    page.get_by_role("button", name="Add pair").click()
    expect(page.get_by_role("heading", level=1, name=f"{source} (host) → {sink} (host)")).to_be_visible()


def launch(page: Page, plan: str, pair: str) -> None:
    """Launch a plan from its page on one pair and watch the run's page until it has finished."""
    travel(page, page.get_by_role("link", name="Launch…").click)
    page.get_by_label(pair).check()
    expect(page.locator("#launch-summary")).to_contain_text("1 run")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page).to_have_url(re.compile(r"/runs/[0-9]+$"))
    expect(page.locator("h1 + [data-told] .state-finished")).to_be_visible(timeout=RUN_MILLISECONDS)


def ink_of(page: Page) -> list[int]:
    """Count the drawn pixels of each chart's canvas."""
    counts: list[int] = page.locator("canvas").evaluate_all(
        """all => all.map(canvas => {
            const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            return data.filter((value, index) => index % 4 === 3 && value > 0).length;
        })"""
    )
    return counts


def _choose(page: Page, label: str, text: str) -> None:
    select = page.get_by_label(label, exact=True)
    option = select.locator("option").filter(has_text=text)
    select.select_option(value=option.first.get_attribute("value"))
