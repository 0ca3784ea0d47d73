"""Pages that begin with their pictures, lists of one line a row, and a matrix on a wall, in a real browser."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, ViewportSize, expect

from benchweb.hosts.models import Pair
from benchweb.hosts.services import pair_create
from benchweb.runs.models import State
from tests.browser.steps import PASSWORD, log_in
from tests.charts.history_rows import past_run
from tests.factories import make_endpoint, make_environment, make_pair, make_plan, make_user
from tests.nights import DAY, measured
from tests.sharing.test_shared_views import link
from tests.web.overview.test_pictures import summed_up
from tests.web.series.test_subject import addresses, all_figures

LAPTOP: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
WALL: ViewportSize = {"width": 1920, "height": 1080}
LEAST_ROWS, MOST_ROW_PIXELS = 20, 34
WALL_HOSTS = 12
_ARE_DRAWN = """all => all.map(canvas => {
    const { width, height } = canvas, context = canvas.getContext("2d");
    return width > 0 && new Uint32Array(context.getImageData(0, 0, width, height).data.buffer).some(Boolean);
})"""
_OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def ada(transactional_db: None) -> User:
    return make_user("ada", PASSWORD)


@pytest.mark.parametrize("name", ["pair", "host", "environment"])
def test_pictures_come_first_with_facts_at_the_side_and_on_a_phone_below(page: Page, ada: User, name: str) -> None:
    pair = make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    all_figures(pair, factor=0.8)
    summed_up()
    page.set_viewport_size(LAPTOP)
    log_in(page)
    page.goto(addresses(pair)[name])
    canvases = page.locator(".pictures .picture canvas")
    expect(canvases).to_have_count(4)
    assert canvases.evaluate_all(_ARE_DRAWN) == [True] * 4
    pictures, standing, side = (page.locator(css).bounding_box() for css in (".pictures", ".standing", ".subject-side"))
    assert pictures and standing and side
    assert side["x"] >= pictures["x"] + pictures["width"] and abs(side["y"] - pictures["y"]) < 40
    # What changed is seen without scrolling.
    assert standing["y"] + 60 < LAPTOP["height"]

    page.set_viewport_size(PHONE)
    page.reload()
    expect(canvases).to_have_count(4)
    standing, side = (page.locator(css).bounding_box() for css in (".standing", ".subject-side"))
    assert standing and side and side["y"] >= standing["y"] + standing["height"]
    assert page.evaluate(_OVER) == 0


def test_what_a_host_fetches_later_has_charts_of_its_own(page: Page, ada: User) -> None:
    pair = make_pair()
    all_figures(pair)
    summed_up()
    log_in(page)
    page.goto(f"/hosts/{pair.source.host_id}")
    expect(page.locator("#availability [data-part]")).to_have_count(0)
    expect(page.locator(".pictures .picture canvas")).to_have_count(4)


def test_runs_have_a_line_each_and_twenty_of_them_a_screen(page: Page, ada: User) -> None:
    environment = make_environment("production-east-zone-2")
    ends = [make_endpoint(host_name=f"compute-rack7-node{number:02}") for number in range(2)]
    pair = pair_create(source=ends[0], sink=ends[1], environment=environment)
    plan = make_plan(name="nightly message sizes, all", steps=[{"kind": "tcp_stream", "params": {}}])
    now = timezone.now()
    for ago in range(30, 0, -1):
        values = [{"throughput_bps": 1.63e10 + ago * 1e7 + n} for n in range(3)]
        reason = "the engine restarted within the test, and the worker gave up on it" if ago % 5 == 0 else ""
        past_run(
            plan,
            pair,
            now - timedelta(hours=ago),
            *values,
            state=State.FAILED if reason else State.FINISHED,
            reason=reason,
        )
    summed_up()
    page.set_viewport_size(LAPTOP)
    log_in(page)
    page.goto("/runs")
    boxes = [row.bounding_box() for row in page.locator("#runs tbody tr").all()]
    assert max(box["height"] for box in boxes if box) <= MOST_ROW_PIXELS
    assert sum(box["y"] + box["height"] <= LAPTOP["height"] for box in boxes if box) >= LEAST_ROWS
    scrolled = page.locator("#runs .table-scroll").evaluate("part => part.scrollWidth - part.clientWidth")
    assert scrolled == 0
    page.set_viewport_size(PHONE)
    page.reload()
    assert page.evaluate(_OVER) == 0
    expect(page.locator("#runs tbody tr").first).to_contain_text("compute-rack7-node01")


def test_a_live_matrix_of_twelve_hosts_fills_a_wall_in_its_colours(page: Page, ada: User) -> None:
    environment = make_environment("wall")
    ends = [make_endpoint(host_name=f"compute-rack7-node{number:02}") for number in range(WALL_HOSTS)]
    pairs = Pair.objects.bulk_create(
        Pair(source=one, sink=other, environment=environment) for one in ends for other in ends if one is not other
    )
    now = timezone.now()
    for place, pair in enumerate(pairs):
        for ago in range(6 if place < 2 else 0, -1, -1):
            factor = 0.7 if ago == 0 and place == 0 else 1 + ago / 1000
            measured(pair, now - timedelta(hours=1) - ago * DAY, 1.63e10 * factor, 1.64e10 * factor)
    summed_up()
    member = Client()
    member.force_login(ada)
    path = link(member, f"/matrix?environment={environment.pk}&with=usual", shows="live")
    page.set_viewport_size(WALL)
    page.goto(path)
    cells = page.locator(".shared-matrix td")
    expect(cells).to_have_count(WALL_HOSTS**2)
    worse = page.locator(".shared-matrix .level-down-3, .shared-matrix .level-down-4")
    expect(worse).to_have_count(1)
    assert worse.evaluate("cell => getComputedStyle(cell).backgroundColor") != cells.nth(5).evaluate(
        "cell => getComputedStyle(cell).backgroundColor"
    )
    size = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    assert page.evaluate(size) == [WALL["width"], WALL["height"]]
    inner = ".report-table .table-scroll"
    hidden = "part => [part.scrollWidth - part.clientWidth, part.scrollHeight - part.clientHeight]"
    assert page.locator(inner).evaluate(hidden) == [0, 0]
    last = cells.last.bounding_box()
    # It fills the screen.
    assert last and last["y"] + last["height"] > WALL["height"] * 0.9
