"""The overview: of twelve environments one screen of a laptop, of two a full one; its charts and where they lead."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, ViewportSize, expect

from benchweb.hosts.models import Endpoint
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.results import nightly_summaries
from benchweb.results.models import Point, Series
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run, State
from tests.browser.steps import PASSWORD, log_in
from tests.charts.history_rows import DAY, past_run
from tests.factories import make_alert, make_endpoint, make_pair, make_plan, make_run, make_schedule, make_user

LAPTOP: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
MOST_PHONES = 4
# About one screen.
MOST_LAPTOPS = 1.1
ENVIRONMENTS = 12
# So many of the alerts tell of a change, and have a chart.
CHANGES = 4
ROW_PIXELS = 40
NIGHTS = 8
# So many nights ago nothing was measured.
MISSED = 3
# How far what is drawn in a column reaches over what is drawn in the next one, where it does.
_OVERLAPS = """rows => rows.flatMap(row => {
    const drawn = [...row.children].map(cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getBoundingClientRect();
    });
    const beside = drawn.slice(1).map((next, place) => [drawn[place], next]);
    return beside.filter(([one, next]) => one.bottom > next.top && next.bottom > one.top && one.left < next.left)
        .map(([one, next]) => one.right - next.left).filter(over => over > 0);
})"""
_SCROLLED = """cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.textContent)"""
# Of each canvas whether anything is drawn on it.
_ARE_DRAWN = """all => all.map(canvas => {
    const { width, height } = canvas, context = canvas.getContext("2d");
    return width > 0 && new Uint32Array(context.getImageData(0, 0, width, height).data.buffer).some(Boolean);
})"""
_HEIGHT = "document.documentElement.scrollHeight"


@pytest.fixture
def fleet(transactional_db: None) -> None:
    """Fill the overview of twelve environments as after a bad night."""
    fill(ENVIRONMENTS)


@pytest.fixture
def couple(transactional_db: None) -> None:
    """Fill the overview of two environments."""
    fill(2)


def fill(environments: int) -> None:
    """Make environments with nights, alerts, incomplete runs, a host that is silent, runs and schedules."""
    make_user("ada", PASSWORD)
    now = timezone.now()
    streams = [
        make_plan(name=f"{size} B", steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": size}}])
        for size in (64, 1024, 16384)
    ]
    stream = streams[-1]
    rates = make_plan(name="rates", steps=[{"kind": "udp_stream", "params": {"message_size_bytes": 64}}])
    requests = make_plan(name="requests", steps=[{"kind": "tcp_rr", "params": {"request_size_bytes": 1}}])
    pairs = [make_pair(environment=f"zone {n} {'terway' if n % 2 else 'host'}") for n in range(environments)]
    for number, pair in enumerate(pairs):
        for night in range(NIGHTS, 0, -1):
            if night == MISSED:
                continue
            at, wobble = now - night * DAY + timedelta(hours=3), 1 + (night * 7 + number) % 5 / 100
            for place, plan in enumerate(streams, 1):
                past_run(plan, pair, at, *[{"throughput_bps": 5.37e9 * place * wobble + n} for n in range(3)])
            past_run(rates, pair, at, *[{"packets_per_second": 7.28e5 * wobble + n} for n in range(3)])
            past_run(requests, pair, at, *[{"latency_p99_seconds": 3.4e-5 * wobble + n * 1e-9} for n in range(3)])
    for number, reason in enumerate(["no route to host", "no route to host", "the engine restarted within the test"]):
        past_run(stream, pairs[number % environments], now - timedelta(hours=2), state=State.FAILED, reason=reason)
    for number, pair in enumerate(pairs[:6]):
        at = now - (timedelta(hours=6) if number < 2 else number * DAY)
        alert = make_alert(pair=pair, at=at)
        Alert.objects.filter(pk=alert.pk).update(environment=pair.environment, opened_at=at)
        if number < CHANGES:
            make_change(alert)
    for number in range(3):
        make_schedule(name=f"nightly {number}", plan=stream, target={"pairs": [pairs[number % environments].pk]})
    Run.objects.filter(pk=make_run(pair=pairs[0]).pk).update(state=State.RUNNING, started_at=now)
    make_run(pair=pairs[1])
    silent = Endpoint.objects.filter(pk=make_endpoint(host_name="alder").pk)
    silent.update(status="unreachable", status_reason="timed out", unreachable_since=now, checked_at=now)
    rebuild()
    while nightly_summaries.make():
        pass


def make_change(alert: Alert) -> None:
    """Let an alert tell of a change that began with the last night's run."""
    test = {"kind": "tcp_stream", "metric": "throughput_bps"}
    series = Series.objects.get(pair=alert.pair, identity={}, **test)
    run = Point.objects.filter(series=series).latest("pk").run
    levels = {"before": 1.61e10, "after": 1.42e10}
    Alert.objects.filter(pk=alert.pk).update(
        kind=Alert.Kind.CHANGE, code="change", params=test | levels | {"ratio": -0.12, "series": 1, "pairs": 1}
    )
    AlertSeries.objects.create(alert=alert, series=series, segment_key=f"{alert.pk}", first_bad_run=run, **levels)


def test_twelve_environments_are_seen_in_about_one_screen_of_a_laptop(page: Page, fleet: None) -> None:
    page.set_viewport_size(LAPTOP)
    log_in(page)
    rows = page.locator(".environments-now tbody tr")
    expect(rows).to_have_count(ENVIRONMENTS)
    expect(page.locator(".headline")).to_contain_text("2 new, 4 ongoing")
    assert {round(height) for height in rows.evaluate_all("all => all.map(row => row.offsetHeight)")} == {ROW_PIXELS}
    assert page.evaluate(_HEIGHT) <= MOST_LAPTOPS * LAPTOP["height"]


def test_a_phone_shows_it_in_four_screens(page: Page, fleet: None) -> None:
    page.set_viewport_size(PHONE)
    log_in(page)
    expect(page.locator(".environments-now tbody tr")).to_have_count(ENVIRONMENTS)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert page.evaluate(_HEIGHT) <= MOST_PHONES * PHONE["height"]


@pytest.mark.parametrize("width", [1024, 1240, 1280, 1440, 1920])
def test_columns_never_lie_over_each_other(page: Page, fleet: None, width: int) -> None:
    page.set_viewport_size({"width": width, "height": LAPTOP["height"]})
    log_in(page)
    rows = page.locator(".environments-now tr")
    expect(rows).to_have_count(ENVIRONMENTS + 1)
    assert rows.evaluate_all(_OVERLAPS) == []
    assert page.locator(".environments-now :is(th, td)").evaluate_all(_SCROLLED) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [390, 1024, 1440, 1920])
def test_two_environments_are_cards_that_fill_a_laptop(page: Page, couple: None, width: int) -> None:
    page.set_viewport_size({"width": width, "height": LAPTOP["height"]})
    log_in(page)
    expect(page.locator(".environment-card")).to_have_count(2)
    assert page.locator(".environment-pictures").evaluate_all(_OVERLAPS) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    last = page.locator(".environment-card").last.bounding_box()
    assert last is not None
    if width >= LAPTOP["width"]:
        assert last["y"] + last["height"] > 0.9 * LAPTOP["height"]


def test_every_picture_is_drawn_and_again_after_a_refresh(page: Page, couple: None) -> None:
    page.set_viewport_size(LAPTOP)
    log_in(page)
    canvases = page.locator(".environment-card canvas")
    # Three figures and the sizes, of each.
    expect(canvases).to_have_count(8)
    assert canvases.evaluate_all(_ARE_DRAWN) == [True] * 8
    page.locator(".environment-card").first.evaluate("card => card.dataset.old = 'yes'")
    page.evaluate("htmx.ajax('GET', '/?part=night', '.overview-night')")
    expect(page.locator("[data-old]")).to_have_count(0)
    expect(canvases).to_have_count(8)
    assert canvases.evaluate_all(_ARE_DRAWN) == [True] * 8


def test_one_click_leads_from_each_picture_to_its_page(page: Page, couple: None) -> None:
    page.set_viewport_size(LAPTOP)
    log_in(page)
    card = page.locator(".environment-card").first
    for name, path, least in (
        ("Throughput", "/history?environment=", 1),
        ("by message size", "view=sizes", 2),
        ("pair", "/matrix?environment=", 2),
    ):
        # A picture, and its caption where that is a link.
        links = card.get_by_role("link", name=name)
        assert links.count() >= least, name
        for place in range(links.count()):
            links.nth(place).click()
            expect(page).to_have_url(re.compile(re.escape(path)))
            log_in(page)
