"""The history in a real browser: zoom, filters, chart choices; and back, forward and reload over them."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.runs.models import State
from tests.browser import steps
from tests.charts.history_rows import past_run
from tests.factories import make_endpoint, make_pair, make_plan, make_user

NIGHTS = 30
UDP = [{"kind": "udp_stream", "params": {"message_size_bytes": 64}}]


@pytest.fixture
def pairs(transactional_db: None) -> list[Pair]:
    """Return two pairs with a month of nights, and a user who may look at them."""
    make_user("ada", steps.PASSWORD)
    plan, hosts = make_plan(steps=UDP, name="nightly"), [make_endpoint(host_name=name) for name in ("alder", "birch")]
    pairs = [make_pair(source=hosts[place], sink=hosts[1 - place]) for place in (0, 1)]
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    for night in range(1, NIGHTS + 1):
        for pair in pairs:
            metrics = {"throughput_bps": 1e9 * night, "loss_ratio": 0.001 * night}
            past_run(plan, pair, midnight - timedelta(days=night), metrics, metrics)
    return pairs


def chart(page: Page) -> Locator:
    return page.get_by_role("region", name="Throughput, received", exact=True)


def rows(page: Page) -> Locator:
    """Open the chart's table, and give its rows without the head."""
    button = chart(page).get_by_role("button", name="Table")
    if button.get_attribute("aria-expanded") == "false":
        button.click()
    return chart(page).locator("tbody tr")


def drag(page: Page, on: Locator, start: float, end: float) -> None:
    """Drag over a part of an element, told in shares of its width."""
    on.scroll_into_view_if_needed()
    box = on.bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * start, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * end, y, steps=4)
    page.mouse.up()


def test_back_forward_and_reload_keep_filter_zoom_and_chart(page: Page, pairs: list[Pair]) -> None:
    steps.log_in(page)
    page.goto("/history?over=30d")
    expect(rows(page)).to_have_count(2 * (NIGHTS - 1))

    page.locator("#filter-pair").select_option(str(pairs[0].pk))
    expect(page).to_have_url(re.compile(rf"pair={pairs[0].pk}"))
    expect(rows(page)).to_have_count(NIGHTS - 1)
    filtered = page.url

    drag(page, chart(page).locator("canvas"), 0.5, 0.75)
    expect(page).to_have_url(re.compile(r"from=2\d\d\d-.*&to=2\d\d\d-"))
    expect(page.get_by_role("link", name="Show the whole period")).to_be_visible()
    zoomed, shown = page.url, rows(page).count()
    assert 3 <= shown <= 12
    assert f"pair={pairs[0].pk}" in zoomed

    page.reload()
    expect(rows(page)).to_have_count(shown)
    steps.travel(page, page.go_back)
    expect(page).to_have_url(filtered)
    expect(rows(page)).to_have_count(NIGHTS - 1)
    expect(page.locator("#filter-pair")).to_have_value(str(pairs[0].pk))
    steps.travel(page, page.go_back)
    expect(page).to_have_url(re.compile(r"/history\?over=30d$"))
    expect(rows(page)).to_have_count(2 * (NIGHTS - 1))
    expect(page.locator("#filter-pair")).to_have_value("")
    steps.travel(page, page.go_forward)
    expect(rows(page)).to_have_count(NIGHTS - 1)
    steps.travel(page, page.go_forward)
    expect(page).to_have_url(zoomed)
    expect(rows(page)).to_have_count(shown)
    assert all(ink > 1_000 for ink in steps.ink_of(page)[:1])

    chart(page).locator("canvas").dblclick(position={"x": 300, "y": 100})
    expect(page).to_have_url(filtered)
    expect(rows(page)).to_have_count(NIGHTS - 1)


def test_a_hidden_series_stays_hidden_over_a_reload_and_colours_hold(page: Page, pairs: list[Pair]) -> None:
    steps.log_in(page)
    page.goto("/history?over=30d")
    entry = chart(page).get_by_role("button", name=re.compile("alder.*birch"))
    color = entry.locator("line").get_attribute("stroke")
    entry.click()
    expect(entry).to_have_attribute("aria-pressed", "false")
    expect(page).to_have_url(re.compile(r"hide\.history=series-\d+"))
    page.reload()
    expect(entry).to_have_attribute("aria-pressed", "false")
    expect(entry.locator("line")).to_have_attribute("stroke", color or "")
    page.goto(f"/history?over=30d&pair={pairs[0].pk}")
    alone = chart(page).get_by_role("button", name=re.compile("alder.*birch"))
    expect(alone.locator("line")).to_have_attribute("stroke", color or "")


def test_the_legend_tells_what_a_cross_is_while_a_line_that_has_one_is_shown(page: Page, pairs: list[Pair]) -> None:
    noon = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1, hours=12)
    plan = Plan.objects.get()
    past_run(plan, pairs[0], noon, state=State.FAILED, reason="no route to host")
    steps.log_in(page)
    page.goto("/history?over=30d")
    key = chart(page).get_by_text("no result: hover or tap for the reason")
    expect(key).to_be_visible()
    chart(page).get_by_role("button", name=re.compile("alder.*birch")).click()
    expect(key).to_be_hidden()


def test_the_brush_moves_the_window_by_mouse_and_by_keyboard(page: Page, pairs: list[Pair]) -> None:
    steps.log_in(page)
    page.goto("/history?over=30d")
    drag(page, page.locator(".brush canvas"), 0.2, 0.6)
    expect(page.get_by_role("link", name="Show the whole period")).to_be_visible()
    before = page.url
    end = page.get_by_role("slider", name="End of the time range")
    expect(end).to_be_visible()
    end.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(before)
    assert re.findall(r"from=[^&]*", page.url) == re.findall(r"from=[^&]*", before) != []


def test_a_note_is_written_and_flagged(page: Page, pairs: list[Pair]) -> None:
    steps.log_in(page)
    page.goto("/history?over=30d")
    page.get_by_text("Add note").click()
    page.get_by_label("Note", exact=True).fill("new switch")
    page.get_by_label("About").select_option(label="alder")
    page.get_by_role("button", name="Save note").click()
    table = page.get_by_role("table").filter(has_text="new switch")
    expect(table).to_contain_text("alder")
    expect(page).to_have_url(re.compile(r"/history\?over=30d$"))
    table.get_by_role("button", name="Remove the note new switch").click()
    expect(page.get_by_text("new switch")).to_have_count(0)


def test_sizes_switch_to_a_linear_axis_that_a_reload_keeps(page: Page, pairs: list[Pair]) -> None:
    steps.log_in(page)
    page.goto("/history?over=30d&view=sizes")
    shown = page.get_by_role("region", name="Throughput by message size", exact=True)
    shown.get_by_role("button", name="Linear sizes").click()
    expect(page).to_have_url(re.compile("sizes.sizes-throughput=linear"))
    page.reload()
    expect(shown.get_by_role("button", name="Linear sizes")).to_have_attribute("aria-pressed", "true")
