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
# Pixels of a line, of many more of axes and words.
LEAST_INK = 200
# In CSS pixels, from the page's top.
CHART_BEGINS_ABOVE = 220
# What every other page could be filtered by before, and what its sentence says of the nights of two pairs.
PAGES = {
    "/matrix": (
        "environment by test metric with on until q",
        "lab (2) · by host · UDP stream: message size 64 B · Throughput, received · compared with nothing",
    ),
    "/alerts": (
        "state severity kind environment host plan night group",
        "open alerts · any severity · any environment",
    ),
    "/runs": ("q state plan host environment pair size from to", "any state · any plan · any pair"),
}
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
    expect(field(page, "q")).to_be_visible()
    page.locator("#period summary").click()
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
    expect(page.get_by_role("button", name=re.compile("^Filters: .*birch .* → alder"))).to_have_count(1)


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
    assert whole - faded > LEAST_INK
    page.mouse.move(2, 2)
    assert solid(page) == [whole]


@pytest.mark.parametrize("address", PAGES)
def test_other_pages_have_the_same_line_with_all_their_filters(page: Page, pairs: list[Pair], address: str) -> None:
    names, sentence = PAGES[address]
    page.set_viewport_size(DESK)
    steps.log_in(page)
    page.goto(address)
    assert [name for name in names.split() if field(page, name).count() != 1] == []
    assert (page.locator(".chips-open").text_content() or "").strip() == f"Filters: {sentence}"
    for chip in page.locator(".chip-line > .chip > select").all():
        chip.focus()
        expect(chip).to_be_focused()
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("button", name=f"Filters: {sentence}").click()
    chosen = page.locator("#filters select").nth(1)
    chosen.select_option(index=1)
    name, value = chosen.get_attribute("name"), chosen.input_value()
    expect(page).to_have_url(re.compile(rf"[?&]{name}={re.escape(value)}"))
    expect(page.locator(f"#filter-{name}")).to_be_visible()
    page.go_back()
    expect(page.locator(f"#filter-{name}")).not_to_have_value(value)


def test_the_sides_of_a_comparison_read_as_one_sentence(page: Page, pairs: list[Pair]) -> None:
    page.set_viewport_size(DESK)
    steps.log_in(page)
    page.goto("/compare")
    sentence = page.locator(".compare-sentence")
    expect(sentence).to_have_count(1)
    words = sentence.locator("> .chip").evaluate_all(
        """all => all.map(each => {
            const lead = each.querySelector(".chip-lead")?.textContent ?? "";
            return `${lead} ${each.querySelector("select").selectedOptions[0].textContent}`.trim();
        })"""
    )
    assert words == ["Compare choose…", "with choose…", "in any environment", "at any time"]
    # On one line.
    tops = {chip["y"] for chip in (each.bounding_box() for each in sentence.locator("> .chip").all()) if chip}
    assert len(tops) == 1
    for name in ("plan", "host", "tool", "to"):
        expect(sentence.locator(f'[name="all.{name}"]')).to_have_count(1)
    sentence.get_by_text("More", exact=True).click()
    page.locator('[name="1.of"]').select_option(label="alder")
    page.locator('[name="2.of"]').select_option(label="birch")
    page.locator('[name="all.environment"]').select_option(index=1)
    page.locator('[name="all.from"]').select_option(label="last 30 days")
    page.get_by_role("button", name="Compare sets").click()
    side = r"environment%3D\d+%26host%3D\d+%26from%3D-30d"
    expect(page).to_have_url(re.compile(rf"side={side}&side={side}"))
    page.set_viewport_size(PHONE)
    page.goto("/compare/sets")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def solid(page: Page) -> list[int]:
    """Count the pixels of each chart that are drawn at full strength."""
    counts: list[int] = page.locator(".chart canvas").evaluate_all(
        """all => all.map(canvas => {
            const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            return data.filter((value, index) => index % 4 === 3 && value === 255).length;
        })"""
    )
    return counts
