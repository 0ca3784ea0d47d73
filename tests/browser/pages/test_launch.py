"""A plan launched with the keyboard alone, in a real browser; where the focus is can be seen at every stop."""

import re

from playwright.sync_api import Page, expect

from benchweb.runs.models import Run
from tests.browser import steps
from tests.factories import make_endpoint, make_pair, make_plan, make_user


def test_a_plan_is_launched_by_keyboard_alone(page: Page, transactional_db: None) -> None:
    make_user("ada", steps.PASSWORD)
    make_plan(name="sizes")
    names = (("alder", "birch"), ("cedar", "dogwood"))
    _, wanted = (make_pair(source=make_endpoint(host_name=a), sink=make_endpoint(host_name=b)) for a, b in names)
    steps.log_in(page)
    page.keyboard.press("g")
    steps.travel(page, lambda: page.keyboard.press("p"))
    expect(page.get_by_role("heading", level=1, name="Plans")).to_be_visible()
    steps.tab_to(page, "sizes")
    steps.travel(page, lambda: page.keyboard.press("Enter"))
    expect(page.get_by_role("heading", level=1, name="sizes")).to_be_visible()
    steps.tab_to(page, "Launch…")
    steps.travel(page, lambda: page.keyboard.press("Enter"))
    expect(page.get_by_role("heading", level=1, name="Launch sizes")).to_be_visible()
    steps.tab_to(page, "Filter pairs")
    page.keyboard.type("cedar")
    expect(page.locator("#launch-pairs tbody tr")).to_have_count(1)
    steps.tab_to(page, "cedar (host) → dogwood (host)")
    page.keyboard.press("Space")
    expect(page.locator("#launch-summary")).to_contain_text("1 run")
    # The list was put in anew, and the focus is where it was.
    assert steps.focused(page) == "cedar (host) → dogwood (host)"
    steps.tab_to(page, "Launch")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/runs/[0-9]+$"))
    assert [run.pair_id for run in Run.objects.all()] == [wanted.pk]


def test_a_zone_of_pairs_is_chosen_by_one_tick_and_the_list_stays_where_it_was(
    page: Page, transactional_db: None
) -> None:
    make_user("ada", steps.PASSWORD)
    plan = make_plan(name="sizes")
    for number in range(40):
        make_pair(environment="zone a" if number < 30 else "zone b")
    steps.log_in(page)
    page.goto(f"/plans/{plan.pk}/launch")
    page.get_by_label("Filter pairs").fill("zone a")
    expect(page.locator("#launch-pairs tbody tr")).to_have_count(30)
    page.get_by_label("Choose all shown").check()
    expect(page.locator("#launch-pairs")).to_contain_text("30 of 30 selected.")
    expect(page.locator("#launch-summary")).to_contain_text("30 runs")
    last = page.locator("#launch-pairs tbody input").last
    last.uncheck()
    expect(page.locator("#launch-pairs")).to_contain_text("29 of 30 selected.")
    expect(page.get_by_label("Choose all shown")).not_to_be_checked()
    assert page.locator(".long-choice").evaluate("list => list.scrollTop") > 0
    expect(last).to_be_in_viewport()
