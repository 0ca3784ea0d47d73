"""Many tabs of a run under way in one browser: all are told, and none keeps the others from the server."""

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from benchweb.runs import live
from benchweb.runs.models import Run, State
from tests.browser.steps import PASSWORD, log_in
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db(transaction=True)
TABS = 8
# What a browser without the one or the other does.
_WITHOUT = {
    "shared worker": "",
    "leading tab": "delete window.SharedWorker;",
    "worker that fails": "const Made = SharedWorker; window.SharedWorker = class { constructor(address, options) "
    "{ return new Made('/static/no-such.js', options); } };",
}


@pytest.fixture
def run(transactional_db: None) -> Run:
    """Return a run that stays under way, and a user who may look at it."""
    make_user("ada", PASSWORD)
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=State.RUNNING)
    return run


@pytest.fixture(params=_WITHOUT)
def browsing(request: pytest.FixtureRequest, page: Page, run: Run) -> Iterator[Page]:
    """Return a logged-in page of a browser with and without shared workers."""
    page.context.add_init_script(_WITHOUT[request.param])
    log_in(page)
    yield page


def tell(run: Run, second: int) -> None:
    """Tell an interval of the run's trial, as the worker does."""
    interval = {"start_seconds": second, "end_seconds": second + 1, "metrics": {"throughput_bps": 1e9}}
    message = {"type": "interval", "trial": run.trials.get().pk, "index": 1, "event": second + 1}
    live.publish_interval(run.pk, message | {"metric": "throughput_bps", "interval": interval})


def opened(page: Page, run: Run) -> Page:
    """Open a tab of the run's page with the table of what is measured; only the tab in front may be clicked in."""
    page.goto(f"/runs/{run.pk}", timeout=30_000)
    chart = page.get_by_role("region", name="Measured live", exact=True)
    chart.get_by_role("button", name="Table").dispatch_event("click")
    return page


def rows_are(tabs: list[Page], count: int) -> None:
    """Expect the same rows of measured intervals in all tabs."""
    for tab in tabs:
        chart = tab.get_by_role("region", name="Measured live", exact=True)
        expect(chart.get_by_role("row")).to_have_count(1 + count)


def streams(run: Run) -> int:
    """Count the streams in which the server tells of a run, by what it would tell next."""
    return live.client().pubsub_numsub(live.channel(run.pk))[0][1]


def test_eight_tabs_of_a_running_run_are_all_told_and_the_last_can_cancel(browsing: Page, run: Run) -> None:
    tell(run, 0)
    tabs = [opened(tab, run) for tab in (browsing, *(browsing.context.new_page() for _ in range(TABS - 1)))]
    rows_are(tabs, 1)
    tell(run, 1)
    rows_are(tabs, 2)
    # The first holds the stream where a tab does; the next goes on with it.
    tabs.pop(0).close()
    tell(run, 2)
    rows_are(tabs, 3)
    tabs[-1].bring_to_front()
    tabs[-1].get_by_role("button", name="Cancel", exact=True).click()
    tabs[-1].get_by_role("dialog").get_by_role("button", name="Cancel run").click()
    expect(tabs[-1]).to_have_url(re.compile(rf"/runs/{run.pk}$"))
    Run.objects.filter(pk=run.pk).update(state=State.CANCELLED, reason="cancelled by ada")
    live.publish(run.pk, {"type": "run", "state": "cancelled"})
    for tab in tabs:
        expect(tab.get_by_role("button", name="Run again")).to_be_visible()


def test_tabs_of_eight_runs_share_one_stream(browsing: Page, run: Run) -> None:
    runs = [run, *(make_run() for _ in range(TABS - 1))]
    Run.objects.update(state=State.RUNNING)
    for each in runs:
        tell(each, 0)
    tabs = [browsing, *(browsing.context.new_page() for _ in runs[1:])]
    for tab, each in zip(tabs, runs, strict=True):
        opened(tab, each)
        rows_are([tab], 1)
    tell(runs[0], 1)
    tell(runs[-1], 1)
    rows_are([tabs[0], tabs[-1]], 2)
    rows_are(tabs[1:-1], 1)


def test_a_hidden_tab_lets_go_and_is_told_what_it_missed_when_it_is_seen_again(browsing: Page, run: Run) -> None:
    tell(run, 0)
    opened(browsing, run)
    show(browsing, is_hidden=True)
    give_up_at = time.monotonic() + 30
    while streams(run):
        assert time.monotonic() < give_up_at
        time.sleep(0.1)
    tell(run, 1)
    show(browsing, is_hidden=False)
    rows_are([browsing], 2)


def test_a_tab_does_without_a_shared_worker_that_never_answers(page: Page, run: Run) -> None:
    silent = "window.SharedWorker = class { port = { postMessage() {}, close() {} }; };"
    page.context.add_init_script(silent)
    log_in(page)
    tell(run, 0)
    rows_are([opened(page, run)], 1)


def show(page: Page, *, is_hidden: bool) -> None:
    """Hide the page or show it again, as a change of the tab does; a browser without a screen shows them all."""
    script = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true})"
    page.evaluate(script % ("true" if is_hidden else "false"))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_who_logs_out_in_one_tab_sees_the_log_in_page_in_the_others(browsing: Page, run: Run) -> None:
    tell(run, 0)
    tabs = [opened(browsing.context.new_page(), run) for _ in range(2)]
    rows_are(tabs, 1)
    browsing.goto("/")
    browsing.evaluate("document.querySelector('form[action$=\"/logout\"]').submit()")
    expect(browsing.get_by_role("button", name="Log in")).to_be_visible()
    for tab in tabs:
        expect(tab.get_by_role("button", name="Log in")).to_be_visible()
