"""A reader whose clock is wrong is told, and ages are those of the server's clock."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from benchweb.runs.models import Run, State
from tests.browser.steps import PASSWORD, log_in
from tests.factories import make_run, make_user

HOURS = 2
# As a machine's clock is wrong: all that scripts ask it is so much off.
SHIFTED = """
const right = Date, off = %d * 3_600_000;
globalThis.Date = class extends right {
  constructor(...given) { given.length ? super(...given) : super(right.now() + off); }
  static now() { return right.now() + off; }
};
"""


@pytest.mark.parametrize(
    ("off", "said"), [(-HOURS, "2 h behind the server's"), (HOURS, "2 h ahead of the server's"), (0, "")]
)
def test_a_wrong_clock_is_told_and_bends_no_age(page: Page, transactional_db: None, off: int, said: str) -> None:
    make_user("ada", PASSWORD)
    now = timezone.now()
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED, created_at=now, started_at=now, finished_at=now)
    page.add_init_script(SHIFTED % off)
    log_in(page)
    page.goto("/runs")
    notice = page.locator("#clock-notice")
    if said:
        expect(notice).to_contain_text(f"This device's clock is {said}.")
    else:
        expect(notice).to_be_hidden()
    ages = page.locator("time[data-form=relative]").all_inner_texts()
    assert ages
    assert all(re.fullmatch(r"just now|\d+ s ago|1 min ago", age) for age in ages), ages
    # What the browser had kept says nothing of the time; the comparison of before holds.
    page.goto("/pairs")
    page.go_back()
    assert all("in " not in age for age in page.locator("time[data-form=relative]").all_inner_texts())
