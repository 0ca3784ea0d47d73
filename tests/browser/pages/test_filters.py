"""Filters as a sentence of chips in a real browser: read, by keyboard, on a phone, and without a script."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from benchweb.hosts.models import Pair
from tests.browser import steps
from tests.browser.pages.test_history import pairs

__all__ = ["pairs"]
DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
# In CSS pixels, from the page's top.
CHART_BEGINS_ABOVE = 220
# All that the history could be filtered by before its filters were a sentence.
HISTORY_FILTERS = ("q", "kind", "metric", "environment", "host", "pair", "plan", "split", "changes", "from", "to")


def said(page: Page) -> str:
    """Read the sentence as it stands on a wide page."""
    return " · ".join(
        text
        for text in page.locator("#filters").evaluate(
            """line => [...line.querySelectorAll(".chip-line > .chip > :is(select, input), .chip-value")].map(each =>
                each.matches("select") ? each.selectedOptions[0].textContent : each.value ?? each.textContent)"""
        )
    )


def field(page: Page, name: str) -> Locator:
    return page.locator(f'#filters [name="{name}"]:not([type=hidden])')


def test_the_history_opens_on_one_pair_and_its_chart_begins_at_once(page: Page, pairs: list[Pair]) -> None:
    page.set_viewport_size(DESK)
    steps.log_in(page)
    page.goto("/history")
    expect(page).to_have_url(re.compile(r"/history\?kind=udp_stream.*&pair=\d+$"))
    canvas = page.locator(".chart-canvas canvas")
    expect(canvas).to_have_count(1)
    box = canvas.bounding_box()
    assert box
    assert box["y"] <= CHART_BEGINS_ABOVE
    expect(page.locator(".legend button")).to_have_count(1)


def test_the_chips_read_as_a_sentence_and_what_is_chosen_joins_it(page: Page, pairs: list[Pair]) -> None:
    page.set_viewport_size(DESK)
    steps.log_in(page)
    page.goto(f"/history?pair={pairs[0].pk}")
    sentence = "Throughput, received · UDP stream · alder (host) → birch (host) · last 90 days"
    assert said(page) == sentence
    page.get_by_text("More", exact=True).click()
    field(page, "plan").select_option(label="nightly")
    expect(page).to_have_url(re.compile(r"plan=\d+"))
    expect(page.locator("#filter-plan")).to_be_visible()
    assert said(page) == sentence.replace(" · last", " · nightly · last")
    page.go_back()
    expect(page.locator("#filter-plan")).not_to_be_visible()
    assert said(page) == sentence


def test_each_chip_is_reached_and_used_by_keyboard(page: Page, pairs: list[Pair]) -> None:
    page.set_viewport_size(DESK)
    steps.log_in(page)
    page.goto("/history?over=30d")
    for name in ("Figure", "Test kind", "Pair"):
        steps.tab_to(page, name)
    page.keyboard.press("a")
    expect(page).to_have_url(re.compile(rf"pair=({pairs[0].pk}|{pairs[1].pk})"))
    more = page.locator("#more-filters summary")
    more.focus()
    page.keyboard.press("Enter")
    steps.tab_to(page, "Host")
    page.keyboard.press("b")
    expect(page).to_have_url(re.compile(r"host=\d+"))
    expect(page.locator("#filter-host")).to_be_focused()
    page.locator("#period summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    steps.travel(page, lambda: page.keyboard.press("Enter"))
    expect(page).to_have_url(re.compile(r"over=7d"))
    page.keyboard.press("Escape")
    expect(page.locator("#period")).not_to_have_attribute("open", "")


@pytest.mark.parametrize("view", ["", "&view=sizes"])
def test_every_filter_of_before_is_there(page: Page, pairs: list[Pair], view: str) -> None:
    names = {*HISTORY_FILTERS}
    if view:
        names = names - {"metric", "split", "changes"} | {"overlay"}
    steps.log_in(page)
    page.goto(f"/history?over=30d{view}")
    page.get_by_text("More", exact=True).click()
    page.locator("#period summary").click()
    page.get_by_text("More", exact=True).click()
    for name in names:
        expect(field(page, name)).to_have_count(1)
    expect(page.get_by_role("link", name="last year")).to_have_count(1)


def test_on_a_phone_the_sentence_opens_one_sheet_that_stays_while_one_chooses(page: Page, pairs: list[Pair]) -> None:
    page.set_viewport_size(PHONE)
    steps.log_in(page)
    page.goto(f"/history?over=30d&pair={pairs[0].pk}")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    expect(page.locator("#filter-pair")).not_to_be_visible()
    page.get_by_role("button", name=re.compile("^Filters: Throughput, received · UDP stream · alder")).click()
    expect(page.locator("#filter-pair")).to_be_visible()
    page.locator("#filter-pair").select_option(str(pairs[1].pk))
    expect(page).to_have_url(re.compile(rf"pair={pairs[1].pk}"))
    expect(page.locator("#filter-pair")).to_be_visible()
    expect(page.locator("#filter-pair")).to_have_value(str(pairs[1].pk))
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("button", name="Done").click()
    expect(page.locator("#filter-pair")).not_to_be_visible()
    expect(page.get_by_role("button", name=re.compile("birch .* → alder"))).to_have_count(1)


def test_without_a_script_the_form_has_a_button_and_the_sheet_opens(
    browser: Browser, page: Page, web: str, pairs: list[Pair]
) -> None:
    steps.log_in(page)
    context = browser.new_context(java_script_enabled=False, base_url=web, viewport=PHONE)
    context.add_cookies(page.context.cookies())  # type: ignore[arg-type]
    plain = context.new_page()
    plain.goto("/history?over=30d")
    plain.get_by_role("button", name=re.compile("^Filters: ")).click()
    plain.locator("#filter-pair").select_option(str(pairs[0].pk))
    plain.get_by_role("button", name="Show").first.click()
    assert re.search(rf"[?&]pair={pairs[0].pk}(&|$)", plain.url)
    context.close()


def test_of_several_lines_the_one_that_is_looked_at_stands_out(page: Page, pairs: list[Pair]) -> None:
    page.set_viewport_size(DESK)
    steps.log_in(page)
    page.goto("/history?over=30d")
    expect(page.locator(".legend button")).to_have_count(2)
    page.mouse.move(2, 2)
    (whole,) = solid(page)
    page.locator(".legend button").first.hover()
    (faded,) = solid(page)
    assert faded < whole * 0.8
    page.mouse.move(2, 2)
    assert solid(page) == [whole]


def solid(page: Page) -> list[int]:
    """Count the pixels of each chart that are drawn at full strength."""
    counts: list[int] = page.locator(".chart canvas").evaluate_all(
        """all => all.map(canvas => {
            const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            return data.filter((value, index) => index % 4 === 3 && value === 255).length;
        })"""
    )
    return counts
