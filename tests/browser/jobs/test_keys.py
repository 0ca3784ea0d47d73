"""Jobs walked by keyboard alone in a real browser, with every key press counted; what is typed counts too."""

import re

from playwright.sync_api import Page, expect

from benchweb.runs.models import Run
from tests.browser.jobs.test_runs import a_run
from tests.browser.steps import PASSWORD, focused, log_in, travel
from tests.factories import make_user

MOST_PRESSES = 20


class Keys:
    """Key presses, counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.count += len(keys)

    def open(self, *keys: str) -> None:
        """Press keys, the last of which leads to another page."""
        travel(self.page, lambda: self.press(*keys))


def test_the_same_plan_with_other_sizes_takes_twenty_presses(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    first = a_run()
    last = a_run(first.pair)
    log_in(page)
    keys = Keys(page)
    keys.open("g", "r")
    for key, run in (("j", last), ("j", first), ("j", first), ("k", last)):
        keys.press(key)
        assert focused(page) == f"Run {run.pk}"
    keys.press("x")
    expect(page.locator("#told")).to_have_text("1 selected")
    expect(page.get_by_label(f"Select run {last.pk}")).to_be_checked()
    keys.open("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Run {last.pk}")
    keys.open("c")
    expect(page.get_by_label("Message size")).to_be_focused()
    # In a field j is a letter.
    keys.press("Control+A", "1", "j")
    expect(page.get_by_label("Message size")).to_have_value("1j")
    keys.press("Backspace", *"k,8k")
    keys.open("Enter")
    expect(page).to_have_url(re.compile(r"/runs/[0-9]+$"))
    made = Run.objects.exclude(pk__in=[first.pk, last.pk]).get()
    assert {trial.params["message_size_bytes"] for trial in made.trials.all()} == {1000, 8000}
    assert keys.count <= MOST_PRESSES
