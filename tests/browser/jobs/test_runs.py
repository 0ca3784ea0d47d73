"""Jobs walked from the overview in a real browser, with their clicks counted; what is typed or pressed is no click."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run, State
from benchweb.runs.services import run_cancel
from tests.browser.steps import PASSWORD, log_in, tab_to, travel, wait_until
from tests.charts.history_rows import past_run
from tests.factories import make_endpoint, make_pair, make_plan, make_run, make_user

STEPS = [{"kind": "tcp_stream", "params": {"message_size_bytes": 4096, "duration_seconds": 1}}]

_COUNT_WHAT_IS_TOLD = """() => {
    window.told = 0;
    new MutationObserver(() => { window.told += 1; }).observe(document.querySelector("#told"), { childList: true });
}"""
_FETCH_QUEUE = """() => {
    document.querySelector("#run-queue").dataset.isOld = "";
    document.body.dispatchEvent(new Event("benchweb:run"));
}"""


class Clicks:
    """Clicks and choices of a list, counted."""

    def __init__(self) -> None:
        self.count = 0

    def on(self, target: Locator) -> None:
        target.click()
        self.count += 1

    def choose(self, select: Locator, label: str) -> None:
        select.select_option(label=label)
        self.count += 1


@pytest.fixture
def clicks(page: Page, transactional_db: None) -> Clicks:
    make_user("ada", PASSWORD)
    return Clicks()


def a_run(pair: Pair | None = None, *, days_ago: float = 0) -> Run:
    pair = pair or make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    at = timezone.now() - timedelta(days=days_ago)
    run = past_run(make_plan(name="nightly sizes", steps=STEPS), pair, at, {"throughput_bps": 4e9})
    rebuild()
    return run


def test_the_first_chart_is_one_click_from_the_overview(page: Page, clicks: Clicks) -> None:
    run = a_run()
    log_in(page)
    clicks.on(page.locator("main").get_by_role("link", name=f"Run {run.pk}").first)
    expect(page.get_by_role("heading", name="Throughput by message size")).to_be_visible()
    expect(page.locator("canvas").first).to_be_visible()
    assert clicks.count == 1


def test_two_hosts_are_tested_in_three_clicks_without_a_plan(page: Page, clicks: Clicks) -> None:
    for name in ("alder", "birch", "cedar"):
        make_endpoint(host_name=name)
    log_in(page)
    page.keyboard.press("t")
    expect(page.get_by_role("heading", level=1, name="Quick test")).to_be_visible()
    clicks.choose(page.get_by_label("Source", exact=True), "birch (host)")
    clicks.choose(page.get_by_label("Sink", exact=True), "cedar (host)")
    clicks.on(page.get_by_role("button", name="Go"))
    expect(page).to_have_url(re.compile(r"/runs/[0-9]+$"))
    run = Run.objects.get()
    assert (run.pair.source.host.name, run.pair.sink.host.name) == ("birch", "cedar")
    assert clicks.count == 3


def test_the_quick_test_again_takes_two_clicks_from_the_overview(page: Page, clicks: Clicks) -> None:
    run = a_run()
    log_in(page)
    clicks.on(page.locator("main").get_by_role("link", name="Quick test"))
    clicks.on(page.get_by_role("button", name="Go"))
    expect(page).to_have_url(re.compile(r"/runs/[0-9]+$"))
    assert Run.objects.exclude(pk=run.pk).get().pair_id == run.pair_id
    assert clicks.count == 2


def test_the_quick_test_is_done_by_keyboard_alone(page: Page, clicks: Clicks) -> None:
    run = a_run()
    log_in(page)
    travel(page, lambda: page.keyboard.press("t"))
    expect(page.get_by_label("Source", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/runs/[0-9]+$"))
    made = Run.objects.exclude(pk=run.pk).get()
    assert (made.pair_id, made.trials.all()[0].kind) == (run.pair_id, "udp_stream")


def test_the_same_plan_with_other_sizes_takes_three_clicks(page: Page, clicks: Clicks) -> None:
    run = a_run()
    log_in(page)
    clicks.on(page.locator("main").get_by_role("link", name=str(run.pk), exact=False).first)
    # What is typed before the scripts are there is shown by none of them.
    travel(page, lambda: clicks.on(page.get_by_role("link", name="Run with changes…")))
    page.get_by_label("Message size").fill("1Ki, 8Ki")
    expect(page.locator("#plan-preview")).to_contain_text("1 KiB")
    clicks.on(page.get_by_role("button", name="Launch").last)
    expect(page).to_have_url(re.compile(r"/runs/[0-9]+$"))
    made = Run.objects.exclude(pk=run.pk).get()
    assert {trial.params["message_size_bytes"] for trial in made.trials.all()} == {1024, 8192}
    assert Plan.objects.get(name="nightly sizes").versions.get().steps == STEPS
    assert clicks.count == 3


def test_why_a_run_waits_is_one_click_from_the_overview(page: Page, clicks: Clicks) -> None:
    run = a_run()
    Run.objects.filter(pk=run.pk).update(state=State.PENDING, started_at=None, finished_at=None)
    log_in(page)
    clicks.on(page.locator("main").get_by_role("link", name=f"Run {run.pk}").first)
    expect(page.locator("#run-queue")).to_contain_text("Expected start:")
    assert clicks.count == 1


def test_the_place_in_the_queue_is_told_again_only_when_it_changes(page: Page, clicks: Clicks) -> None:
    shared = make_endpoint()
    ahead, waiting = (make_run(pair=make_pair(sink=shared)) for _ in range(2))
    log_in(page)
    page.goto(f"/runs/{waiting.pk}")
    told = page.locator("#told")
    expect(told).to_have_text("Position 2 in the queue of its hosts: 1 run is ahead.")
    page.evaluate(_COUNT_WHAT_IS_TOLD)
    for _ in range(2):
        page.evaluate(_FETCH_QUEUE)
        wait_until(page, "!document.querySelector('#run-queue[data-is-old]')")
    run_cancel(run=ahead)
    page.evaluate(_FETCH_QUEUE)
    expect(told).to_have_text("Next in the queue of its hosts.")
    assert page.evaluate("window.told") == 1


def test_by_keyboard_a_run_says_why_it_waits_and_another_is_launched_with_other_sizes(
    page: Page, clicks: Clicks
) -> None:
    ended = a_run()
    pending = a_run(ended.pair)
    Run.objects.filter(pk=pending.pk).update(state=State.PENDING, started_at=None, finished_at=None)
    log_in(page)
    tab_to(page, f"Run {pending.pk} · nightly sizes")
    travel(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#run-queue")).to_contain_text("Expected start:")
    page.keyboard.press("g")
    travel(page, lambda: page.keyboard.press("o"))
    tab_to(page, f"Run {ended.pk} · nightly sizes")
    travel(page, lambda: page.keyboard.press("Enter"))
    tab_to(page, "Run with changes…")
    travel(page, lambda: page.keyboard.press("Enter"))
    page.get_by_label("Message size").fill("1Ki, 8Ki")
    expect(page.locator("#plan-preview")).to_contain_text("8 KiB")
    page.get_by_role("button", name="Launch").last.press("Enter")
    expect(page).to_have_url(re.compile(r"/runs/[0-9]+$"))
    made = Run.objects.exclude(pk__in=[ended.pk, pending.pk]).get()
    assert {trial.params["message_size_bytes"] for trial in made.trials.all()} == {1024, 8192}


def test_three_weeks_ago_on_a_host_at_4_kib_takes_three_clicks(page: Page, clicks: Clicks) -> None:
    run = a_run(days_ago=21)
    a_run(run.pair)
    log_in(page)
    page.keyboard.press("/")
    page.keyboard.type("alder 4k three weeks ago")
    travel(page, lambda: clicks.on(page.get_by_role("option", name=re.compile("^alder · 4 KiB")).first))
    row = page.locator("#runs tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("4.00 Gbit/s")
    clicks.on(row.get_by_role("link", name=str(run.pk)))
    expect(page).to_have_url(re.compile(rf"/runs/{run.pk}$"))
    assert clicks.count <= 3


def test_chosen_columns_are_gone_after_another_visit(page: Page, clicks: Clicks) -> None:
    a_run()
    log_in(page)
    page.goto("/runs")
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("checkbox", name="Environment", exact=True).uncheck()
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("columnheader", name="Environment")).to_have_count(0)
    page.goto("/")
    page.goto("/runs")
    expect(page.get_by_role("columnheader", name="Main figure")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Environment")).to_have_count(0)
