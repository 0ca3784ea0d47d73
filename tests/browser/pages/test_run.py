"""A run's page: its answer first, on few screens."""

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.steps import PASSWORD, log_in, wait_until
from tests.factories import make_run, make_user
from tests.web.runs.test_run_page import finish

pytestmark = pytest.mark.django_db(transaction=True)

STEPS = [
    {
        "kind": "tcp_stream",
        "params": {"message_size_bytes": [64, 256, 1024, 4096, 16384, 65536], "duration_seconds": 1},
    },
    {"kind": "tcp_rr", "params": {"request_size_bytes": 1, "response_size_bytes": 1, "duration_seconds": 1}},
]
REPETITIONS = 5
# As many facts as an engine tells.
FACTS = {f"sysctl net.ipv4.{number}": str(number) for number in range(40)}


@pytest.mark.parametrize(
    ("window", "screens"), [({"width": 1440, "height": 900}, 3), ({"width": 390, "height": 844}, 6)]
)
def test_a_run_of_two_kinds_takes_few_screens(
    transactional_db: None, page: Page, window: ViewportSize, screens: int
) -> None:
    make_user("ada", PASSWORD)
    run = make_run(steps=STEPS, repetitions=REPETITIONS)
    finish(run, [size * 1e9 for size in (1, 2, 3, 4, 5, 6) for _ in range(REPETITIONS)], FACTS)
    page.set_viewport_size(window)
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    wait_until(page, "document.querySelectorAll('.chart canvas').length >= 2")
    assert page.evaluate("document.documentElement.scrollHeight") <= screens * window["height"]
    figure = page.locator(".figure-large .quantity").first
    assert figure.evaluate("each => each.getBoundingClientRect().bottom") < window["height"]
    expect(page.get_by_role("button", name="Run again")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= window["width"]


def test_trials_are_folded_by_step_and_open_on_paper(transactional_db: None, page: Page) -> None:
    make_user("ada", PASSWORD)
    run = make_run(steps=STEPS, repetitions=REPETITIONS)
    finish(run, [1e9] * 30)
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    folds = page.locator(".trial-step")
    expect(folds).to_have_count(2)
    expect(folds.first.locator("summary")).to_contain_text("30 of 30 trials finished")
    expect(folds.first.get_by_role("table")).to_be_hidden()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(folds.first.get_by_role("table")).to_be_visible()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(folds.first.get_by_role("table")).to_be_hidden()
