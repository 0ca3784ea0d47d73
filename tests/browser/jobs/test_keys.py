"""Jobs walked by keyboard alone in a real browser, with every key press counted; what is typed counts too."""

import re

from playwright.sync_api import Page, expect

from benchweb.runs.models import Run
from benchweb.schedules.models import Schedule
from tests.browser.jobs.test_runs import a_run
from tests.browser.steps import PASSWORD, focused, log_in, tab_to, travel
from tests.factories import make_endpoint, make_environment, make_pair, make_plan, make_user
from tests.regressions.judged import judged

MOST_PRESSES = 20
# Tab goes by the rail and by all fields above.
MOST_PRESSES_OF_FORMS = 120
MESH_HOSTS = 10


class Keys:
    """Key presses, counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.count += len(keys)

    def reach(self, name: str) -> None:
        """Press Tab until what bears this name has the focus."""
        self.count += len(tab_to(self.page, name))

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


def test_a_mesh_of_ten_hosts_is_made_nightly_by_keys(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    for number in range(MESH_HOSTS):
        make_endpoint(host_name=f"host-{number}")
    make_plan(name="sizes")
    make_environment("rack 7")
    log_in(page)
    keys = Keys(page)
    keys.open("g", "a")
    keys.reach("Make mesh…")
    keys.open("Enter")
    keys.reach("Choose all shown")
    keys.press("Space")
    expect(page.locator("#mesh-summary")).to_contain_text("90 new pairs")
    keys.reach("Add and schedule…")
    keys.open("Enter")
    keys.reach("Plan")
    keys.press("s")
    expect(page.locator("#schedule-preview")).to_contain_text("At 02:00 every day")
    # By the name and Cancel, back to the head.
    keys.press("Shift+Tab", "Shift+Tab", "Shift+Tab")
    assert focused(page) == "Save schedule"
    keys.open("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("rack 7, nightly")
    assert len(Schedule.objects.get().target["mesh"]["endpoints"]) == MESH_HOSTS
    assert keys.count <= MOST_PRESSES_OF_FORMS


def test_what_got_worse_is_shown_and_told_by_keys(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    pair = make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    judged(pair, [1.0] * 20 + [0.7] * 8, first=-60)
    log_in(page)
    keys = Keys(page)
    keys.open("g", "l")
    keys.press("j")
    keys.open("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("alder")
    keys.reach("Share…")
    keys.open("Enter")
    keys.reach("Create link")
    keys.open("Enter")
    expect(page.get_by_label("Link", exact=True)).to_have_value(re.compile("/s/"))
    keys.reach("Copy link")
    keys.press("Enter")
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert keys.count <= MOST_PRESSES_OF_FORMS
