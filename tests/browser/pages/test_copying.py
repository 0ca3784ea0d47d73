"""Cells copied from tables: numbers in the one unit of their column, times as ISO 8601, for a spreadsheet."""

import csv
import re
from io import StringIO
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.models import Run, State
from tests.browser.steps import PASSWORD, log_in
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db(transaction=True)
STEPS = [{"kind": "udp_stream", "params": {"message_size_bytes": [64, 1024, 16384], "duration_seconds": 1}}]
# What Ctrl-C gives of everything in the first element that fits.
COPIED = """selector => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(selector));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  const event = new ClipboardEvent("copy", {clipboardData: new DataTransfer(), bubbles: true, cancelable: true});
  document.dispatchEvent(event);
  return event.clipboardData.getData("text/plain");
}"""


@pytest.fixture
def run(transactional_db: None) -> Run:
    """Return a finished run whose trials are decades apart."""
    make_user("ada", PASSWORD)
    made = make_run(steps=STEPS)
    for trial, throughput in zip(made.trials.order_by("index"), (9e5, 45_600_000.0, 7e9), strict=True):
        metrics = {"throughput_bps": throughput, "send_throughput_bps": throughput}
        document = {"kind": trial.kind, "metrics": metrics}
        assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)
    Run.objects.filter(pk=made.pk).update(state=State.FINISHED)
    return made


def cells(copied: str) -> list[list[str]]:
    return [line.split("\t") for line in copied.split("\n")]


def test_a_charts_table_is_copied_in_one_unit_and_saved_alike_in_every_language(page: Page, run: Run) -> None:
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    chart = page.locator("#chart-udp_stream-throughput")
    chart.get_by_role("button", name="Table").click()
    shown = chart.get_by_role("table")
    assert shown.get_by_role("columnheader").nth(3).inner_text() == "Median (Gbit/s)"
    assert [row.split("\t")[3] for row in shown.locator("tbody").inner_text().splitlines()][:3] == [
        "0.000900",
        "0.0456",
        "7.00",
    ]
    head, *rows = cells(page.evaluate(COPIED, "#table-udp_stream-throughput"))
    assert head[1:4] == ["Message size [B]", "n", "Median [bit/s]"]
    assert [row[3] for row in rows][:3] == ["900000", "45600000", "7000000000"]
    for name, mark in (("CSV", ""), ("CSV for Excel", "\ufeff")):
        with page.expect_download() as saved:
            chart.get_by_role("button", name=name, exact=True).click()
        text = Path(saved.value.path()).read_bytes().decode()
        assert text.startswith(f"{mark}series,x [B],n,median [bit/s],low [bit/s]")
        ids = next(csv.DictReader(StringIO(text)))
        assert (ids["pair_id"], ids["sink_endpoint_id"]) == (str(run.pair_id), str(run.pair.sink_id))


def test_a_pages_table_is_copied_with_whole_numbers_and_iso_times(page: Page, run: Run) -> None:
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    head, *rows = cells(page.evaluate(COPIED, ".trial-cards"))
    column = next(place for place, name in enumerate(head) if name == "Headline [bit/s]")
    assert [row[column] for row in rows] == ["900000.0", "45600000.0", "7000000000.0"]
    page.goto("/runs")
    _, launched = cells(page.evaluate(COPIED, "table.table"))
    assert any(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*", cell) for cell in launched)


def test_a_part_of_one_cell_is_copied_as_it_stands(page: Page, run: Run) -> None:
    log_in(page)
    page.goto(f"/runs/{run.pk}")
    assert page.evaluate(COPIED, ".trial-cards tbody td") == ""


def test_a_charts_link_is_copied_where_the_browser_gives_no_clipboard(page: Page, run: Run) -> None:
    log_in(page)
    page.add_init_script(
        "navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'))"
    )
    page.goto(f"/runs/{run.pk}")
    chart = page.locator("#chart-udp_stream-throughput")
    chart.get_by_role("link", name="Link").dblclick()
    expect(chart.get_by_role("link", name="Link copied")).to_be_visible()
    expect(chart.get_by_role("link", name="Link", exact=True)).to_be_visible()
    assert page.url.endswith("#chart-udp_stream-throughput")
