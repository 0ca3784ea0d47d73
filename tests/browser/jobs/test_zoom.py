"""A page at 200 % and 400 % zoom and on a tablet: it doesn't scroll sideways, every control can be reached and seen.

All pages are asked by test_accessibility.py.
"""

from typing import Any

from django.db.models import F, Value
from django.db.models.functions import Concat
from playwright.sync_api import Page, ViewportSize, expect

from benchweb.hosts.models import Host
from tests.browser.site import Address
from tests.browser.steps import PASSWORD, log_in, wait_until
from tests.browser.test_focus_seen import unseen_stops
from tests.factories import make_pair, make_user

# A window of 1280 × 1024 magnified twice and four times, and a tablet.
_WINDOWS: dict[str, ViewportSize] = {
    "tablet": {"width": 1024, "height": 768},
    "200 %": {"width": 640, "height": 512},
    "400 %": {"width": 320, "height": 256},
}
# Controls out of the window, but for those within what scrolls by itself and is a stop of the keyboard.
_OUTSIDE = """() => {
    const width = window.innerWidth;
    const scrolls = each => each && each !== document.body && (
        (each.scrollWidth > each.clientWidth && each.tabIndex === 0
            && ["auto", "scroll"].includes(getComputedStyle(each).overflowX))
        || scrolls(each.parentElement));
    const found = [];
    for (const each of document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")) {
        if (each.closest(".visually-hidden, .skip-link, dialog:not([open])") || !each.checkVisibility()) continue;
        const box = each.getBoundingClientRect();
        // The head of cards is there for who comes to it by the keyboard.
        if (box.width === 0 || each.closest("thead")?.offsetWidth === 1) continue;
        const isOutside = box.right > width + 1 || box.left < -1;
        if (isOutside && !scrolls(each.parentElement)) found.push(each.outerHTML.slice(0, 90));
    }
    return {width: document.documentElement.scrollWidth, controls: found.slice(0, 3)};
}"""

# What scripts do about a new size of the window, they have done by the second frame.
_LAID_OUT = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


def faults_in_windows(page: Page, address: Address, tabbed: set[str]) -> list[str]:
    """Look at an open page in all windows, the most magnified last; there go through the stops of one of its states."""
    faults = []
    for window, size in _WINDOWS.items():
        page.set_viewport_size(size)
        page.evaluate(_LAID_OUT)
        found: dict[str, Any] = page.evaluate(_OUTSIDE)
        if found["width"] > size["width"]:
            faults.append(f"{address.path}, {window}: {found['width']} px wide")
        faults += [f"{address.path}, {window}: {control}" for control in found["controls"]]
    if address.name not in tabbed:
        tabbed.add(address.name)
        faults += [f"{address.path}, {window}: {stop}" for stop in unseen_stops(page)]
    return faults


def test_a_table_that_scrolls_is_a_stop_of_the_keyboard_and_one_that_fits_is_none(
    page: Page, transactional_db: None
) -> None:
    make_user("ada", PASSWORD)
    make_pair()
    page.set_viewport_size(_WINDOWS["200 %"])
    log_in(page)
    Host.objects.update(name=Concat(F("name"), Value("y" * 40)))
    page.get_by_role("button", name="Inventory").click()
    page.get_by_role("link", name="Pairs", exact=True).click()
    table = page.get_by_role("region", name="Pairs")
    expect(table).to_have_attribute("tabindex", "0")
    table.focus()
    page.keyboard.press("ArrowRight")
    wait_until(page, "document.activeElement.scrollLeft > 0")
    page.set_viewport_size({"width": 2560, "height": 1024})
    expect(page.get_by_role("region", name="Pairs")).to_have_count(0)
    expect(page.locator("#list .table-scroll")).not_to_have_attribute("tabindex", "0")
