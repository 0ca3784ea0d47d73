"""Sharing, printing and watching in a real browser."""

import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from benchweb.runs import live
from benchweb.runs.models import Run, State
from benchweb.sharing.models import Share
from tests.browser.steps import PASSWORD, ink_of, log_in
from tests.factories import SIZES, make_run, make_user
from tests.reports.scene import imported_run, make_report
from tests.sharing.scene import told_run
from tests.web.runs.test_run_page import finish

pytestmark = pytest.mark.django_db(transaction=True)

_FRAME = """url => {
    const frame = document.createElement("iframe");
    frame.src = url;
    document.body.replaceChildren(frame);
}"""


@pytest.fixture
def ada(transactional_db: None) -> User:
    return make_user("ada", PASSWORD)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """Serve a page of another site, which has no policy; gives its address."""
    (tmp_path / "news.html").write_text("<title>News</title><link rel=icon href=data:,>", encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}/news.html"
    server.shutdown()
    server.server_close()


def test_a_link_is_made_and_revoked_by_keyboard_and_works_for_a_stranger(
    page: Page, browser: Browser, web: str, elsewhere: str, ada: User
) -> None:
    run = told_run()
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    page.get_by_role("button", name="Share…").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=f"Share run {run.pk}")
    expect(dialog.get_by_text("No links to this run yet.")).to_be_visible()
    dialog.get_by_label("Replace host names and addresses").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    link = dialog.get_by_label("Link", exact=True)
    expect(link).to_be_focused()
    url = link.input_value()
    assert url.startswith(f"{web}/s/")

    stranger = browser.new_context()
    complaints: list[str] = []
    try:
        seen = stranger.new_page()
        seen.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        seen.on("pageerror", lambda error: complaints.append(str(error)))
        seen.goto(url)
        expect(seen.locator("canvas").first).to_be_visible()
        assert min(ink_of(seen)) > 1000
        assert re.search("quartz|basalt|10\\.77", seen.content(), re.IGNORECASE) is None
        assert stranger.cookies() == []
        # Another site that shows the chart in a frame: to a browser this is one.
        seen.goto(elsewhere)
        seen.evaluate(_FRAME, f"{url}/embed")
        expect(seen.frame_locator("iframe").locator("canvas")).to_be_visible()
        assert complaints == []
        page.once("dialog", lambda question: question.accept())
        dialog.get_by_role("button", name="Revoke").press("Enter")
        expect(dialog.locator(".share-ended")).to_contain_text("revoked")
        answer = seen.goto(url)
        assert answer is not None and answer.status == 410
        expect(seen.get_by_text("This link was revoked")).to_be_visible()
    finally:
        stranger.close()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_a_run_of_twelve_trials_prints_on_two_pages(page: Page, ada: User) -> None:
    run = make_run(steps=SIZES, repetitions=3)
    finish(run, [1e9, 5e9, 16e9] * 3)
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    expect(page.locator("canvas").first).to_be_visible()
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 2


def test_a_report_prints_within_the_paper_and_without_what_is_clicked(page: Page, ada: User) -> None:
    report = make_report(imported_run("server_baseline.md"), template="baseline")
    log_in(page)
    page.goto(f"/reports/{report.pk}")
    page.emulate_media(media="print")
    # A4 without its margins, at 96 dots per inch.
    page.set_viewport_size({"width": 703, "height": 1032})
    expect(page.get_by_role("button", name="Print or PDF")).to_be_hidden()
    expect(page.get_by_role("navigation", name="Sections")).to_be_hidden()
    cells = page.locator("main :is(td, th, h1, h2, h3, p)")
    assert max(cells.evaluate_all("all => all.map(each => each.getBoundingClientRect().right)")) <= 703
    # A heading stays with what follows.
    breaks = page.locator(".report-section h3").evaluate_all(
        "all => all.map(each => getComputedStyle(each).breakAfter)"
    )
    assert set(breaks) == {"avoid"}
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 3


def test_a_browser_that_was_cut_off_is_told_what_it_missed(page: Page, ada: User) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=State.RUNNING)
    trial = run.trials.get()

    def tell(second: int) -> None:
        interval = {"start_seconds": second, "end_seconds": second + 1, "metrics": {"throughput_bps": 1e9}}
        message = {"type": "interval", "trial": trial.pk, "index": 1, "event": second + 1, "metric": "throughput_bps"}
        live.publish_interval(run.pk, message | {"interval": interval})

    tell(0)
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    chart = page.get_by_role("region", name="Measured live", exact=True)
    chart.get_by_role("button", name="Table").click()
    # What came before the page was opened, and then what comes.
    expect(chart.get_by_role("row")).to_have_count(2)
    tell(1)
    expect(chart.get_by_role("row")).to_have_count(3)
    page.context.set_offline(True)
    tell(2)
    page.context.set_offline(False)
    tell(3)
    expect(chart.get_by_role("row")).to_have_count(5)


def test_a_file_that_is_downloaded_is_whole(page: Page, ada: User) -> None:
    run = told_run()
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    page.get_by_text("More", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV", exact=True).click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + run.trials.count()


def test_a_live_page_on_a_wall_comes_again_and_waits_for_a_server_that_is_away(page: Page, ada: User) -> None:
    pair = told_run().pair
    log_in(page)
    page.goto(f"/share?path=/pairs/{pair.pk}")
    page.get_by_label("The link shows").select_option("live")
    page.get_by_role("button", name="Create link").click()
    url = page.get_by_label("Link", exact=True).input_value()
    page.clock.install()
    page.goto(url)
    page.route("**/*again=1", lambda route: route.abort())
    page.clock.fast_forward("05:01")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.url == url
    page.unroute_all()
    page.clock.fast_forward("05:01")
    page.wait_for_url(f"{url}?again=1")
    assert Share.objects.get().opened == 1
