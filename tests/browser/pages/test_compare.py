"""Comparing runs in a real browser, by keyboard alone; back, forward and reload keep what is shown."""

import re

import pytest
from playwright.sync_api import Page, expect

from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.models import Run, State
from tests.browser.steps import PASSWORD, ink_of, log_in, tab_to, travel
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db(transaction=True)
STEPS = [{"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024, 16384], "duration_seconds": 1}}]


@pytest.fixture
def runs(transactional_db: None) -> list[int]:
    """Return two finished runs, the second 10 % slower everywhere, and a user who may look at them."""
    make_user("ada", PASSWORD)
    return [finished(1.0), finished(0.9)]


def finished(factor: float, **facts: str) -> int:
    """Make a run of three sizes and five repetitions; both hosts tell these facts."""
    run = make_run(steps=STEPS, repetitions=5)
    for trial in run.trials.order_by("index"):
        value = factor * trial.params["message_size_bytes"] * 1e6 * (1 + trial.repetition / 1000)
        document = {"kind": trial.kind, "metrics": {"throughput_bps": value}, "source": facts, "sink": facts}
        assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    return run.pk


def test_runs_are_ticked_compared_turned_and_removed_by_keyboard_alone(page: Page, runs: list[int]) -> None:
    log_in(page)
    page.goto("/runs")
    first, second = runs
    page.get_by_label(f"Select run {second}").check()
    page.get_by_label("Label", exact=True).fill("slow")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row").filter(has_text="slow")).to_have_count(1)
    tab_to(page, f"Select run {second}")
    page.keyboard.press("Space")
    tab_to(page, f"Select run {first}")
    page.keyboard.press("Space")
    travel(page, lambda: page.keyboard.press("Enter"))
    expect(page).to_have_url(re.compile(rf"/compare\?runs={first},{second}$"))
    expect(page.get_by_text("−10.0 % worse").first).to_be_visible()
    passed = tab_to(page, f"Set as baseline Run {second}")
    assert {"Add a run…", "CSV", "JSON"} <= set(passed)
    travel(page, lambda: page.keyboard.press("Enter"))
    expect(page).to_have_url(re.compile(rf"/compare\?runs={second},{first}$"))
    expect(page.get_by_text("+11.1 % better").first).to_be_visible()
    tab_to(page, "Headline")
    travel(page, lambda: page.keyboard.press("Enter"))
    expect(page).to_have_url(re.compile(rf"\?runs={second},{first}&show=headline$"))
    assert "Table of metrics" in tab_to(page, "Table")
    page.keyboard.press("Enter")
    chart = page.get_by_role("region", name="Throughput by message size", exact=True)
    expect(chart.get_by_role("table").get_by_role("row")).to_have_count(1 + 2 * 3)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("i")
    legend = chart.locator(".legend button")
    expect(legend.first).to_have_attribute("aria-pressed", "false")
    expect(legend.last).to_have_attribute("aria-pressed", "true")
    tab_to(page, "How to read this")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Cliff's delta:")).to_be_visible()


def test_back_forward_and_reload_keep_runs_metrics_and_order(page: Page, runs: list[int]) -> None:
    log_in(page)
    page.goto(f"/compare?runs={runs[0]},{runs[1]}")
    travel(page, page.get_by_role("link", name="Plan order").click)
    expect(page).to_have_url(re.compile(r"&sort=plan$"))
    rows = page.locator(".compare-table tbody:last-child tr")
    in_plan = rows.all_inner_texts()
    page.reload()
    assert rows.all_inner_texts() == in_plan
    travel(page, page.go_back)
    expect(page.get_by_role("link", name="Worst first")).to_have_attribute("aria-current", "true")
    travel(page, page.go_forward)
    expect(page.get_by_role("link", name="Plan order")).to_have_attribute("aria-current", "true")
    assert rows.all_inner_texts() == in_plan
    assert min(ink_of(page)) > 1000


def test_a_fact_of_the_second_run_stands_below_its_figures_not_below_the_difference(
    page: Page, runs: list[int]
) -> None:
    pair = [finished(1.0, kernel="6.1.0"), finished(0.9, kernel="6.6.52")]
    log_in(page)
    page.goto(f"/compare?runs={pair[0]},{pair[1]}")
    figure = page.locator(
        ".compare-table tbody:last-child tr:first-child td:last-child .compare-cell > span:first-child"
    )
    ends = [box["x"] + box["width"] for each in (figure, page.get_by_text("6.6.52")) if (box := each.bounding_box())]
    assert len(ends) == 2
    assert abs(ends[0] - ends[1]) < 2
