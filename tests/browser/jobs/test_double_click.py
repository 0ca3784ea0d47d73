"""A double click does once what one click does."""

import pytest
from playwright.sync_api import Page, expect

from benchweb.runs.models import Run
from tests.browser.steps import PASSWORD, log_in
from tests.factories import make_pair, make_plan, make_user
from tests.regressions.judged import quiet


@pytest.mark.usefixtures("transactional_db")
def test_run_again_and_launch_make_one_run_each(page: Page) -> None:
    make_user("ada", PASSWORD)
    run, plan, pair = quiet(make_pair(), 1)[0], make_plan(name="other"), make_pair()
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    page.get_by_role("button", name="Run again").dblclick()
    expect(page).to_have_url(f"/runs/{run.pk + 1}")
    assert Run.objects.count() == 2
    page.goto(f"/launch?plan={plan.pk}&pairs={pair.pk}")
    page.get_by_role("button", name="Launch", exact=True).dblclick()
    expect(page).to_have_url(f"/runs/{run.pk + 2}")
    assert Run.objects.count() == 3
