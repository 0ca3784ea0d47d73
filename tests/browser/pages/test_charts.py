"""Charts in a real browser: what a reader does with them, by mouse and by keyboard, and how they fill live."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs import live
from benchweb.runs.models import Run, State, Trial
from tests.browser.steps import PASSWORD, log_in, wait_until
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db(transaction=True)
SIZES = [64, 1024, 16384]
STEPS = [{"kind": "udp_stream", "params": {"message_size_bytes": SIZES, "duration_seconds": 1}}]


@pytest.fixture
def run(transactional_db: None) -> Run:
    """Return a run of three message sizes, and a user who may look at it."""
    make_user("ada", PASSWORD)
    return make_run(steps=STEPS)


def give(trial: Trial, throughput_bps: float) -> None:
    """Give a trial its result, as the worker does."""
    metrics = {"throughput_bps": throughput_bps, "send_throughput_bps": throughput_bps * 2}
    document = {"kind": trial.kind, "metrics": metrics}
    assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)


def finish(run: Run) -> None:
    """End a run whose trials have 1, 2 and 3 Gbit/s."""
    for trial in run.trials.order_by("index"):
        give(trial, trial.index * 1e9)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)


def throughput_chart(page: Page) -> Locator:
    """Return the chart of throughput by message size."""
    return page.get_by_role("region", name="Throughput by message size", exact=True)


def test_the_table_behind_a_chart_has_every_figure(page: Page, run: Run) -> None:
    finish(run)
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    chart = throughput_chart(page)
    expect(chart.get_by_role("table")).to_be_hidden()
    chart.get_by_role("button", name="Table").click()
    table = chart.get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(1 + 2 * len(SIZES))
    expect(table).to_contain_text("Median (Gbit/s)")
    expect(table.get_by_role("cell", name="3.00", exact=True).first).to_be_visible()
    expect(table.get_by_role("cell", name="6.00", exact=True).first).to_be_visible()


def test_legend_entries_toggle_and_isolate_by_keyboard(page: Page, run: Run) -> None:
    finish(run)
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    received, sent = throughput_chart(page).locator(".legend button").all()
    received.focus()
    page.keyboard.press("Space")
    expect(received).to_have_attribute("aria-pressed", "false")
    expect(sent).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Space")
    page.keyboard.press("i")
    expect(received).to_have_attribute("aria-pressed", "true")
    expect(sent).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("i")
    expect(sent).to_have_attribute("aria-pressed", "true")


def test_a_drag_zooms_into_the_url_and_a_double_click_shows_all_again(page: Page, run: Run) -> None:
    finish(run)
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    canvas = throughput_chart(page).locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.4, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, middle, steps=3)
    page.mouse.up()
    zoomed = re.compile(rf"/runs/{run.pk}\?zoom\.udp_stream-throughput=[\d.e+]+%3A[\d.e+]+$")
    expect(page).to_have_url(zoomed)
    page.reload()
    expect(page).to_have_url(zoomed)
    throughput_chart(page).locator("canvas").dblclick(position={"x": 200, "y": 100})
    expect(page).to_have_url(re.compile(rf"/runs/{run.pk}$"))


def test_a_running_run_fills_its_chart_without_a_reload(page: Page, run: Run) -> None:
    # The stream's first message comes when it is subscribed: an interval told before that is not for this browser.
    page.add_init_script("document.addEventListener('benchweb:run', () => (window.isSubscribed = true), true)")
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    wait_until(page, "window.isSubscribed")
    page.evaluate("window.sameDocument = true")
    expect(page.get_by_text("0 of 3 trials completed")).to_be_visible()
    throughput_chart(page).get_by_role("button", name="Table").click()
    first = run.trials.get(index=1)
    interval = {"start_seconds": 0, "end_seconds": 1, "metrics": {"throughput_bps": 1e9}}
    message = {"type": "interval", "trial": first.pk, "index": 1, "metric": "throughput_bps", "interval": interval}
    live.publish(run.pk, message)
    expect(page.get_by_role("region", name="Measured live", exact=True)).to_be_visible()
    give(first, 7e9)
    expect(page.get_by_text("1 of 3 trials completed")).to_be_visible()
    expect(throughput_chart(page).get_by_role("cell", name="7.00", exact=True).first).to_be_visible()
    Run.objects.filter(pk=run.pk).update(state=State.FAILED, reason="2 of 3 trials failed: no route")
    live.publish(run.pk, {"type": "run", "state": "failed"})
    expect(page.get_by_text("2 of 3 trials failed: no route")).to_be_visible()
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    assert page.evaluate("window.sameDocument")


def test_the_question_whether_to_cancel_stays_open_while_the_run_goes_on(page: Page, run: Run) -> None:
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    button = page.get_by_role("button", name="Cancel", exact=True)
    button.evaluate("button => button.isKept = true")
    button.click()
    question = page.get_by_role("dialog", name=f"Cancel run {run.pk}?")
    expect(question).to_contain_text("0 of 3 trials are complete and are kept.")
    give(run.trials.get(index=1), 7e9)
    expect(question).to_contain_text("1 of 3 trials are complete and are kept.")
    assert button.evaluate("button => button.isKept"), "it was replaced while somebody may press it"
    question.get_by_role("button", name="Cancel run").click()
    expect(page.get_by_text("Run cancelled: cancelled before it started")).to_be_visible()


def test_a_question_that_is_no_longer_one_goes_away(page: Page, run: Run) -> None:
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    live.publish(run.pk, {"type": "run", "state": "finished"})
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_theme_switch_holds_over_pages(page: Page, run: Run) -> None:
    log_in(page)
    root = page.locator("html")
    expect(root).to_have_attribute("data-bs-theme", "light")
    page.get_by_text("Display").click()
    page.get_by_role("button", name="Dark").click()
    expect(root).to_have_attribute("data-bs-theme", "dark")
    page.get_by_role("button", name="Compact").click()
    page.goto("/runs")
    expect(root).to_have_attribute("data-density", "compact")
    expect(root).to_have_attribute("data-bs-theme", "dark")


# How many pixels of the first chart have exactly a colour that frontend/src/charts/theme.ts has for the dark theme.
_DARK_PIXELS = """() => {
    const dark = ["86 180 233", "255 138 61", "47 199 154", "227 154 196", "230 159 0", "143 208 245", "228 233 238"];
    const canvas = document.querySelector(".chart canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4)
        if (data[at + 3] === 255 && dark.includes(`${data[at]} ${data[at + 1]} ${data[at + 2]}`)) count += 1;
    return count;
}"""


def test_a_switch_of_the_theme_recolours_the_points_too(page: Page, run: Run) -> None:
    finish(run)
    page.emulate_media(color_scheme="dark")
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    expect(throughput_chart(page).locator("canvas")).to_be_visible()
    assert page.evaluate(_DARK_PIXELS) > 0
    page.get_by_text("Display").click()
    page.get_by_role("button", name="Light").click()
    assert page.evaluate(_DARK_PIXELS) == 0


def test_a_log_axis_tells_what_it_leaves_out_and_offers_symlog(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    run = make_run(steps=[{"kind": "tcp_rr", "params": {"request_size_bytes": [1, 1024], "duration_seconds": 1}}])
    for trial in run.trials.order_by("index"):
        scale = 0.0 if trial.index == 1 else 3e-4
        metrics = {"latency_min_seconds": 0.0, "latency_p50_seconds": scale, "latency_p99_seconds": 2e-2}
        assert ingest(
            trial=trial,
            result=parsed_result(trial.kind, {"kind": trial.kind, "metrics": metrics}),
            state=State.FINISHED,
        )
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    chart = page.get_by_role("region", name="Latency percentiles", exact=True)
    left_out = "values: 2 of 3 values of Request size 1 B; 1 of 3 values of Request size 1 KiB."
    expect(chart.locator(".chart-note")).to_contain_text(left_out)
    expect(chart.get_by_role("img")).to_have_attribute("aria-label", re.compile(re.escape(left_out)))
    chart.get_by_role("button", name="Symlog scale").click()
    expect(chart.get_by_role("button", name="Log scale", exact=True)).to_have_attribute("aria-pressed", "false")
    expect(chart.locator(".chart-note")).to_be_hidden()
    page.reload()
    expect(chart.get_by_role("button", name="Symlog scale")).to_have_attribute("aria-pressed", "true")
    expect(chart.locator(".chart-note")).to_be_hidden()
